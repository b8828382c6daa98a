"""Names in text: whom it mentions, and whom a word that many share does not mean."""

from datetime import date

import pytest

from svc_core.intel.linking.references import MENTIONS_MAX, id_of, text_references

DAY = date(2024, 6, 1)
MICROSOFT = id_of("cik:0000789019")


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


SYMBOLS = [
    ("Shares of Quill (NASDAQ: QLSY) rose.", {"ticker:QLSY"}),
    ("Shares of Quill (nyse american:qlsy, TSX: QL) rose.", {"ticker:QLSY"}),
    ("Buy NASDAQ:QLSY and LSE:BT.A!", {"ticker:QLSY", "ticker:XLON:BT.A"}),
    ("Nasdaq:QLD is sold", {"ticker:QLD"}),
    ("$QLSY up, $BRK.B down", {"ticker:QLSY", "ticker:BRK-B"}),
    ("Quillard Systems, Inc. (QLSY) rose.", {"ticker:QLSY systems"}),
    ("Class B of Berkshire (BRK.B)", {"ticker:BRK-B berkshire"}),
    ("The World Health Organization (WHO) warns", {"ticker:WHO organization"}),
    ("(QLSY) and () and ( QLSY ) stand alone", set()),
    ("QLSY rose; the IT of AI; US$B, $5B, $QLSYX9, $qlsy, A$QL$", set()),
    ("NASDAQ: Stocks fall, EPA: NEW RULES, six: NINE, NASDAQ:Stocks, xNYSE:AB", set()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "references"), SYMBOLS)
def test_a_symbol_is_one_only_where_it_is_marked(text: str, references: set[str]) -> None:
    found = {ref for ref in text_references(text) if ref.startswith("ticker:")}
    assert found == references
