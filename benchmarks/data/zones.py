"""The countries that have one time zone, from the zone.tab of the IANA time zone database.

    python benchmarks/data/zones.py [/usr/share/zoneinfo/zone.tab]

Writes `svc_core/data/zones.tsv`. Exit code 1 when the table is not there.
"""

import sys
from collections import defaultdict
from pathlib import Path

OUT = Path(__file__).parents[2] / "svc_core" / "data" / "zones.tsv"


def main() -> int:
    """Read the table, keep the countries of one zone, write them by their codes."""
    table = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/zoneinfo/zone.tab")
    if not table.exists():
        print(f"{table} is not there: give the path of a zone.tab", file=sys.stderr)
        return 1
    zones = defaultdict(list)
    for line in table.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            code, _, zone, *_ = line.split("\t")
            zones[code].append(zone)
    rows = [f"{code}\t{names[0]}" for code, names in sorted(zones.items()) if len(names) == 1]
    OUT.write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(rows)} countries of one zone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
