"""Is the wheel given as argument small, stripped, and free of what does not belong in it?"""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LARGEST = 5 * 2**20
EXPECTED = re.compile(
    r"xbcast/(\w+\.py|\w+\.pyi|py\.typed|\w+\.[\w-]+\.so)"
    r"|xbcast-[\w.]+\.dist-info/(METADATA|RECORD|WHEEL|entry_points\.txt|licenses/LICENSE)"
)


def faults(wheel):
    """Yield what is wrong, in words."""
    if wheel.stat().st_size > LARGEST:
        yield f"{wheel.stat().st_size} bytes, more than {LARGEST}"
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = archive.namelist()
        yield from (f"stray file {name}" for name in names if not EXPECTED.fullmatch(name))
        modules = [name for name in names if name.endswith(".so")]
        if not modules:
            yield "no compiled module"
        for name in modules:
            sections = subprocess.run(
                ["readelf", "--wide", "--sections", archive.extract(name, folder)],
                check=True, capture_output=True, text=True,
            ).stdout  # fmt: skip
            if ".debug_" in sections or ".symtab" in sections:
                yield f"{name} is not stripped"


def main():
    wheel = Path(sys.argv[1])
    found = list(faults(wheel))
    for fault in found:
        print(f"{wheel.name}: {fault}", file=sys.stderr)
    print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.2f} MiB")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
