"""References: finds whom a text or a vendor field names, before anybody looks up who that is.

A reference is the id derived from an entity's key, or `scheme:name` where only a name is given:
`vendor:` names a maker of products, `name:` stands in text, `firm:` in text with its legal form,
`ticker:` is a stock symbol that is marked as one: `$MSFT`, `NASDAQ:MSFT`, or in parentheses, where
an acronym stands too, so that the reference ends in the word before ("ticker:MSFT microsoft").
"""

import re
from collections.abc import Container, Iterator, Mapping
from datetime import date
from functools import lru_cache
from itertools import chain

from svc_core.base import ids
from svc_core.formats.cyber.cve_fields import CVE_ID
from svc_core.formats.designators.schemes import well_formed
from svc_core.intel.linking import aliases
from svc_core.intel.linking.name_forms import is_uncommon, normal_name
from svc_core.intel.linking.runs import CapitalRun, capital_runs, lower_words
from svc_core.text.words import fold_case

MENTIONS_MAX = 20
"""The most names that count as mentioned by one text: a text with more is a list, about nobody."""

_LONG = re.compile(r"\b(?:[A-Z0-9]{18}\d\d|[A-Z]{2}[A-Z0-9]{9}\d)\b")
_CVE = re.compile(r"\bCVE-\d{4}-\d{4,19}\b", re.IGNORECASE)
_MARKETS = {
    **dict.fromkeys(("nasdaq", "nasdaqgs", "nasdaqgm", "nasdaqcm", "nyse", "nyse american",
                     "nyse arca", "nysearca", "amex", "cboe", "otc", "otcqb", "otcqx"), ""),
    "lse": "XLON:", "lon": "XLON:", "tsx": "XTSE:", "tsxv": "XTSX:", "asx": "XASX:",
    "etr": "XETR:", "xetra": "XETR:", "fra": "XFRA:", "epa": "XPAR:", "six": "XSWX:",
    "swx": "XSWX:", "tyo": "XTKS:", "tse": "XTKS:", "hkex": "XHKG:", "hkg": "XHKG:",
    "sehk": "XHKG:", "nse": "XNSE:", "bse": "XBOM:", "sgx": "XSES:", "krx": "XKRX:",
}  # fmt: skip
"""How a ticker begins by its exchange: a symbol of the United States stands alone, as the SEC
writes it; elsewhere the ISO 10383 code of the market goes before it."""
_EXCHANGE = "|".join(sorted(_MARKETS, key=len, reverse=True))
_SYMBOL = re.compile(rf"\(\s*({_EXCHANGE})\s*:\s*([A-Z0-9.-]{{1,8}})\s*[);,]", re.IGNORECASE)
_BARE_SYMBOL = re.compile(rf"(?<![\w(])({_EXCHANGE.upper()}|Nasdaq):([A-Z][A-Z0-9.-]{{0,7}})(?!\w)")
_CASHTAG = re.compile(r"(?<![\w$])\$([A-Z]{1,5}(?:[.-][A-Z])?)(?![\w$])")
_LISTED = re.compile(r"\(([A-Z]{1,5}(?:[.-][A-Z])?)\)")
_BEFORE_MAX = 60  # letters in which a name stands before its symbol


def id_of(key: str) -> str:
    """The entity id derived from a key, which is `scheme:value` or a CVE id."""
    resource = "cve" if CVE_ID.fullmatch(key) else "entity"
    return ids.derived_id("ent", resource, "", key)


def is_entity_id(reference: str) -> bool:
    """Whether a reference is an entity id, and no name."""
    return ids.is_id("ent", reference)


def vendor_references(vendor: str, day: date | None = None) -> tuple[str, ...]:
    """The references that a vendor's name means on a day, the surest first; None is today.

    Empty where the name has no words.
    """
    name = normal_name(vendor)
    key = aliases.maker(vendor, day)
    if key is None:
        return (f"vendor:{name}",) if name else ()
    return (id_of(key), f"vendor:{name}") if key.startswith("cpe-vendor:") else (id_of(key),)


@lru_cache(maxsize=2_048)  # the rows of a search are often those of the one before
def text_references(text: str, day: date | None = None) -> Mapping[str, str]:
    """The references that a text mentions on a day, each with the name as it is written there.

    Its first line is a headline. At most `MENTIONS_MAX`, the surest first: numbers, symbols that
    are marked as such, names of the alias table, other names, symbols in parentheses.
    """
    mentions: dict[str, str] = {}
    for reference, name in chain(_numbers(text), _symbols(text), _names(text, day), _listed(text)):
        mentions.setdefault(reference, name)
        if len(mentions) == MENTIONS_MAX:
            break
    return mentions


def _numbers(text: str) -> Iterator[tuple[str, str]]:
    for match in _CVE.findall(text):
        yield id_of(match.upper()), match.upper()
    for match in _LONG.findall(text):
        for scheme in ("lei", "isin"):
            if well_formed(scheme, match):
                yield id_of(f"{scheme}:{match}"), match


def _symbols(text: str) -> Iterator[tuple[str, str]]:
    for exchange, symbol in chain(_SYMBOL.findall(text), _BARE_SYMBOL.findall(text)):
        market = _MARKETS[" ".join(exchange.casefold().split())]
        yield f"ticker:{market}{symbol.upper()}", symbol.upper()
    for symbol in _CASHTAG.findall(text):
        yield f"ticker:{symbol.replace('.', '-')}", symbol


def _listed(text: str) -> Iterator[tuple[str, str]]:
    for match in _LISTED.finditer(text):
        words = normal_name(text[max(0, match.start() - _BEFORE_MAX) : match.start()]).split()
        if words:
            yield f"ticker:{match[1].replace('.', '-')} {words[-1]}", match[1]


def _names(text: str, day: date | None) -> Iterator[tuple[str, str]]:
    spans, lower = list(capital_runs(text)), lower_words(text)
    pairs = [pair for run in spans for pair in _aliases(run, day, lower)]
    yield from pairs
    names = {name for _, name in pairs}
    for name in chain.from_iterable(run.readings() for run in spans):
        words = normal_name(name)
        if name in names or _CVE.fullmatch(name):
            continue
        if " " in words or is_uncommon(name):
            yield f"name:{words}", name
        elif " " in name and words:
            yield f"firm:{words}", name


def _aliases(run: CapitalRun, day: date | None, lower: Container[str]) -> Iterator[tuple[str, str]]:
    """The names of the alias table in a run of capitals, at each word the longest that fits."""
    start = 0
    while start < len(run.words):
        size = 1
        if fold_case(run.words[start]) in aliases.first_words():
            for count in range(min(aliases.WORDS_MAX, len(run.words) - start), 0, -1):
                name = run.part(start, start + count)
                is_sure = (
                    run.is_telling and count == len(run.words) and fold_case(name) not in lower
                )
                key = aliases.mention_owner(name, day, is_sure=is_sure)
                if key is not None:
                    yield id_of(key), name
                    size = count
                    break
        start += size
