"""Names in text: whom it mentions, and whom a word that many share does not mean."""

from datetime import date

import pytest

from svc_core.intel.linking.references import MENTIONS_MAX, id_of, text_references

DAY = date(2024, 6, 1)
MICROSOFT, APPLE = id_of("cik:0000789019"), id_of("cik:0000320193")
TARGET, META = id_of("cik:0000027419"), id_of("cik:0001326801")

MENTIONS = [
    ("Microsoft's cloud was down", MICROSOFT, "Microsoft"),
    ("Outage at AT&T", id_of("cik:0000732717"), "AT&T"),
    ("AT&T Outage Hits Millions Of Customers", id_of("cik:0000732717"), "AT&T"),
    ("Bank of America and Procter & Gamble rose", id_of("cik:0000070858"), "Bank of America"),
    ("It said Apple was told", APPLE, "Apple"),
    ("Apple Inc. was told", APPLE, "Apple Inc"),
    ("Shares of Target Corp. fell", "firm:target", "Target Corp"),
    ("Shares of Block, Inc. fell", id_of("cik:0001512673"), "Block Inc"),
    ("It named Meta as the buyer", META, "Meta"),
    ("Contoso Software (NASDAQ: CTSO) fell", "ticker:CTSO", "CTSO"),
    ("Contoso (NYSE American: CT.A) fell", "ticker:CT.A", "CT.A"),
    ("Miner Example (LSE: AAL) fell", "ticker:XLON:AAL", "AAL"),
    ("A flaw, cve-2024-12345, is used", id_of("CVE-2024-12345"), "CVE-2024-12345"),
    ("Its bond US0378331005 fell", id_of("isin:US0378331005"), "US0378331005"),
    ("LEI 969500A1YF1XUYYXS284 lapsed", id_of("lei:969500A1YF1XUYYXS284"), "969500A1YF1XUYYXS284"),
    ("On Monday Contoso Software fell", "name:contoso software", "Contoso Software"),
    ("Contoso Software Says Data Was Stolen", "name:contoso software", "Contoso Software"),
    ("Rival Contoso Software fell and was sold by its owner", "name:contoso software",
     "Contoso Software"),
    ("Contoso Ltd fell", "firm:contoso", "Contoso Ltd"),
    ("It blamed LockBit for it", "name:lockbit", "LockBit"),
    ("The National Security Agency said so", "name:national security agency",
     "National Security Agency"),
    ("It is at the Port of Rotterdam now", "name:port of rotterdam", "Port of Rotterdam"),
]  # fmt: skip
LEFT_OUT = [
    ("Apple harvest falls in Poland", APPLE),
    ("The apple crop is small, and Apple is no company here. An Apple is a fruit, apple", APPLE),
    ("Target prices fall", TARGET),
    ("Analysts cut the Target price", TARGET),
    ("Visa Rules Change For Students From Abroad", id_of("cik:0001403161")),
    ("Meta Says So, Analysts Cut Estimates", META),
    ("Its bond US0378331006 fell", id_of("isin:US0378331006")),
    ("Delta Electronics opens a plant", id_of("cik:0000027904")),
    ("Progress on talks", id_of("cik:0000876167")),
]


@pytest.mark.parametrize(("text", "reference", "name"), MENTIONS)
def test_whom_a_text_mentions(text: str, reference: str, name: str) -> None:
    assert text_references(text, DAY).get(reference) == name


@pytest.mark.parametrize(("text", "reference"), LEFT_OUT)
def test_a_shared_word_is_nobody(text: str, reference: str) -> None:
    assert reference not in text_references(text, DAY)


def test_a_name_is_its_owner_of_the_day() -> None:
    before, after = date(2023, 11, 21), date(2023, 11, 22)
    assert id_of("cik:0001124610") in text_references("A flaw in VMware tools", before)
    assert id_of("cik:0001730168") in text_references("A flaw in VMware tools", after)


def test_a_name_that_the_table_knows_is_told_once() -> None:
    assert text_references("It said Block, Inc. and Microsoft fell") == {
        id_of("cik:0001512673"): "Block Inc",
        MICROSOFT: "Microsoft",
    }


def test_mentions_are_bounded() -> None:
    text = " ".join(f"a flaw CVE-2024-{number}" for number in range(10_000, 10_100))
    assert len(text_references(text)) == MENTIONS_MAX
    assert text_references("") == {}
