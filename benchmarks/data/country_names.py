"""Makes `svc_core/data/country_names.tsv`: what countries and their people are called.

    python benchmarks/data/country_names.py countries.json

`countries.json` is that of github.com/mledoze/countries (Open Database License 1.0).
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import wordfreq

from svc_core.text.words import fold_case

NAME_MIN = 4  # letters: "Fas" and "Tai" are words elsewhere
OUT = Path(__file__).parents[2] / "svc_core" / "data" / "country_names.tsv"
SHORT_SHARE_MIN = 1e-4  # of English words: "US" and "UK", but not "SA" or "CR"


def names(country: dict[str, Any]) -> Iterator[str]:
    """Its common name, in its own languages and others, its people, and its initials."""
    name = country["name"]
    formal = [name["official"], *country["altSpellings"]]
    forms_ = [name["common"], *formal, *(long.partition(" of ")[2] for long in formal)]
    forms_ += [native["common"] for native in name["native"].values()]
    forms_ += [abroad["common"] for abroad in country["translations"].values()]
    forms_ += [people for forms in country["demonyms"].values() for people in forms.values()]
    for form in forms_:
        key = fold_case(form)
        if len(key) >= NAME_MIN or (key and not key.isascii()):
            yield form
    spelt = {name["common"], *formal}
    initials = {"".join(re.findall(r"\b[A-Z]", long)) for long in spelt if " " in long}
    for short in {country["cca3"], country["cioc"], *country["altSpellings"]} & initials:
        if len(short) > 2 or wordfreq.word_frequency(short.lower(), "en") >= SHORT_SHARE_MIN:
            yield short


def main() -> None:
    countries = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    rows = [
        f"{country['cca2']}\t{'|'.join(sorted(set(names(country))))}"
        for country in countries
        if country["independent"] or country["unMember"]
    ]
    text = "# Names of countries and their people: a code (ISO 3166), a tab, names between bars.\n"
    OUT.write_text(text + "\n".join(sorted(rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
