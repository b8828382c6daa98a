"""Builds what all SEC parsers share: companies, listings, and the URLs of filings."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from svc_core.formats.designators.schemes import well_formed
from svc_core.formats.model import Record
from svc_core.formats.reading import entity_keys as parties
from svc_core.formats.reading.entity_keys import ranked_keys
from svc_core.formats.reading.values import country_named, moment, require, text_member

_ARCHIVES = "https://www.sec.gov/Archives/edgar/data"
_COMPANY = "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK="

_MICS = {"Nasdaq": "XNAS", "NYSE": "XNYS", "OTC": "OTCM", "CBOE": "BATS"}
"""Market codes (ISO 10383) by the names of exchanges in EDGAR."""

# EDGAR's codes of states are those of the post; those of other countries are its own, with a digit.
_STATES = """
    AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM
    NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY AS GU MP PR VI
"""


def require_cik(value: object) -> str:
    """Returns a CIK that must be well formed, in ten digits.

    Raises:
        RecordRefused: it is not.
    """
    return require(well_formed("cik", value), "a CIK")


def filer(
    number: str,
    members: dict[str, Any],
    exchanges: Mapping[str, object] | None = None,
    lei: object = None,
) -> Record:
    """The record of a company that files with the SEC, by its LEI where it is known.

    `exchanges` are the tickers, each with the name of its exchange.
    """
    tickers = [("ticker", ticker) for ticker in exchanges or ()]
    names, page = ranked_keys([("lei", lei), ("cik", number), *tickers]), _COMPANY + number
    listings = None if exchanges is None else [_listing(*pair) for pair in exchanges.items()]
    row = {"type": "company", **members, "listings": listings}
    return parties.entity(names, row, provider="sec", record_id=number, url=page)


def _listing(ticker: str, exchange: object) -> dict[str, Any]:
    name = text_member(exchange)
    return {"ticker": ticker, "exchangeName": name, "mic": _MICS.get(name or "")}


def filing_page(number: str, accession: str, document: str | None = None) -> str:
    """The URL of a document of a filing, or of the index of the filing."""
    folder = f"{_ARCHIVES}/{int(number)}/{accession.replace('-', '')}"
    return f"{folder}/{document or accession + '-index.htm'}"


def latest(moments: Iterable[object]) -> datetime | None:
    """The latest instant of these texts; None where none of them names an instant."""
    return max(filter(None, map(moment, {str(item) for item in moments})), default=None)


def jurisdiction(code: object, name: object) -> str | None:
    """The ISO 3166 code of a place in EDGAR: a state of the US by code, or a country by name."""
    state = str(code or "").strip().upper()
    return f"US-{state}" if state in _STATES.split() else country_named(name)
