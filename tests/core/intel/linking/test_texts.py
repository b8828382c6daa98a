"""Names in text: whom it mentions, and whom a word that many share does not mean."""

from datetime import date

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
