"""Did asv measure something of every benchmark? The argument is its folder of results.

asv ends well when it found nothing to run, and then nothing was checked.
"""

import json
import math
import sys
from pathlib import Path


def main():
    measured = {}
    for path in Path(sys.argv[1]).glob("*/*.json"):
        if path.name == "machine.json":
            continue
        content = json.loads(path.read_text())
        for name, columns in content["results"].items():
            values = dict(zip(content["result_columns"], columns, strict=False))["result"] or []
            # None is a failure, NaN a combination that does not exist.
            measured[name] = [x for x in values if isinstance(x, int | float) and math.isfinite(x)]
            if None in values:
                measured[name] = []
    empty = sorted(name for name, values in measured.items() if not values)
    for name in empty:
        print(f"no result, or a failure: {name}", file=sys.stderr)
    total = sum(map(len, measured.values()))
    print(f"asv: {len(measured)} benchmarks, {total} measurements")
    return 1 if empty or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
