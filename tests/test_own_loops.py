"""Calls on dtypes that have loops never leave our plan for NumPy's ufunc."""

import warnings

import numpy as np
import pytest

import xbcast
from grids import NATIVE
from oracle import OP


@pytest.mark.parametrize("name", OP)
def test_native_dtypes_stay_here(name):
    handed = set()
    for dtype1 in NATIVE:
        for dtype2 in NATIVE:
            operands = np.ones(3, dtype1), np.ones(3, dtype2)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    getattr(np, OP[name].numpy or "add")(*operands)
                    explanation = xbcast.explain(getattr(xbcast, name), *operands)
                except TypeError:
                    continue
            if explanation.handed_to_numpy:
                handed.add((dtype1, dtype2))
    assert not handed
