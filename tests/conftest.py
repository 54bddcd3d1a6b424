"""What the whole suite shares: CPU levels, and Hypothesis without surprises."""

import hypothesis
import pytest

import xbcast

# The same examples on every run and machine, and no clock: machines here are shared.
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None)
hypothesis.settings.load_profile("suite")


@pytest.fixture
def use_level():
    """`use_level(name)` switches the inner loops; the level of before comes back at the end."""
    before = xbcast._core.cpu_level()
    yield xbcast._core.use_level
    xbcast._core.use_level(before)


@pytest.fixture(params=xbcast._core.cpu_levels())
def cpu_level(request, use_level):
    """Each level that this machine can run, in turn."""
    use_level(request.param)
    return request.param
