"""Codes of languages and currencies, from Unicode CLDR.

    python benchmarks/data/codes.py

Writes `svc_core/data/languages.tsv` and `svc_core/data/currencies.txt`. Needs the package `babel`.
"""

from pathlib import Path

from babel.core import get_global
from babel.numbers import list_currencies

TABLES = Path(__file__).parents[2] / "svc_core" / "data"
OFFSHORE = {"CNH"}  # the renminbi abroad is a code of CLDR alone
WIDTH = 20  # codes in one line


def main() -> None:
    """Write the shortest code of each language (BCP 47), and the codes that are of money."""
    shortest = get_global("language_aliases")
    languages = sorted((k, v) for k, v in shortest.items() if (len(k), len(v)) == (3, 2))
    rows = ["# ISO 639-2 and 639-3 codes of languages that have a code of two letters."]
    rows += [f"{three}\t{two}" for three, two in languages]
    (TABLES / "languages.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    # What begins with two X stands for no currency.
    money = sorted(c for c in list_currencies() - OFFSHORE if not c.startswith("XX"))
    rows = ["# ISO 4217: currencies of today and of once."]
    rows += [" ".join(money[at : at + WIDTH]) for at in range(0, len(money), WIDTH)]
    (TABLES / "currencies.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(languages)} languages, {len(money)} currencies")


if __name__ == "__main__":
    main()
