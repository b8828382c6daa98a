"""Codes of languages and currencies, from Unicode CLDR.

    python benchmarks/data/codes.py

Writes `svc_core/data/languages.tsv`, `svc_core/data/currencies.txt`, and what people call those of
today in four languages: `svc_core/data/code_names.tsv`. Needs the package `babel`.
"""

from pathlib import Path

from babel import Locale
from babel.core import get_global
from babel.numbers import get_currency_name, get_territory_currencies, list_currencies

TABLES = Path(__file__).parents[2] / "svc_core" / "data"
LOCALES = ("en", "de", "fr", "es")
LARGE = ["USD", "EUR", "GBP", "JPY", "CHF", "CNY", "UAH", "INR", "RUB", "PLN"]
"""Currencies that are meant where their noun stands alone ("rubles")."""
WRITTEN = {*LARGE, *["CAD", "AUD", "SEK", "NOK", "MXN", "BRL", "KRW"]}
"""Currencies whose code people write as a word; others are words of their own ("try", "all")."""
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
    lands = [land for land in Locale("en").territories if len(land) == 2 and land.isalpha()]
    tender = {code for land in lands for code in get_territory_currencies(land)} & {*money}
    rows = ["# Names of currencies (ISO 4217) and languages (ISO 639-1) of today, between bars."]
    for code in sorted(tender):
        names = [get_currency_name(code, count, name) for name in LOCALES for count in (1, 2)]
        if code in LARGE:  # Romance languages begin with the noun, Germanic ones end with it
            nouns = [
                name.split()[-1 if at < len(names) / 2 else 0] for at, name in enumerate(names)
            ]
            names += [noun.rpartition("-")[2] for noun in nouns]
        names += [code] * (code in WRITTEN)
        rows.append(f"currency\t{code}\t{'|'.join(dict.fromkeys(names))}")
    for code in sorted({two for _, two in languages}):
        names = (Locale(name).languages.get(code) for name in LOCALES)
        if plain := dict.fromkeys(name for name in names if name and "(" not in name):
            rows.append(f"language\t{code}\t{'|'.join(plain)}")
    (TABLES / "code_names.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    print(f"{len(languages)} languages, {len(money)} currencies")


if __name__ == "__main__":
    main()
