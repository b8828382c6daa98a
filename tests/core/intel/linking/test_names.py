"""Names are compared without what does not tell one from another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import data
from svc_core.intel.linking.name_forms import is_ordinary, is_uncommon, labels, normal_name


@pytest.mark.parametrize("name", ["", "/DE/", "&", "the", "...", "Inc"])
def test_a_name_of_nothing_is_no_other_name(name: str) -> None:
    assert normal_name(name) in {"", "the", "inc"}


@given(st.text(max_size=60))
def test_a_normal_name_is_normal(name: str) -> None:
    assert normal_name(name) == " ".join(normal_name(name).split())
    assert normal_name(normal_name(name).upper()) in {
        normal_name(name),
        normal_name(normal_name(name)),
    }


def test_makers_are_written_in_one_word_too() -> None:
    assert labels("Palo Alto Networks Inc", "company") == ("palo alto networks", "paloaltonetworks")
    assert labels("Charming Example", "threatActor") == ("charming example",)
    assert labels("Jane Example", "person") == labels("", "company") == ()


def test_ordinary_words_are_told_from_names() -> None:
    assert all(map(is_ordinary, ["target", "progress", "apple", "nice", "the"]))
    assert not any(map(is_ordinary, ["fortinet", "gitlab", "nvidia", "okta"]))


def test_a_digit_or_a_capital_inside_is_uncommon() -> None:
    assert all(map(is_uncommon, ["LockBit", "APT28", "3M", "iPhone", "F5"]))
    assert not any(map(is_uncommon, ["Target", "TARGET", "2024", "O'Neil", "Mandiant"]))


def test_every_legal_form_is_written_as_names_are_compared() -> None:
    for line in data.table_lines("legal_forms.tsv"):
        place, countries, forms = line.split("\t")
        assert place in {"head", "tail", "joined"}
        assert all(len(item) == 2 and item.isupper() for item in countries.split("|"))
        for form in forms.split("|"):
            assert form == " ".join(word for word in form.lower().split() if word.isalnum())


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("ООО «Газ Пример»", "газ пример"),
        ("Пример, ПАО", "пример"),
        ("ТОВ Приклад", "приклад"),
        ("株式会社例製作所", "例製作所"),
        ("例子银行股份有限公司", "例子银行"),
        ("주식회사 예시", "예시"),
        ("株式会社", "株式会社"),
    ],
)
def test_legal_forms_are_known_in_their_own_script(name: str, bare: str) -> None:
    assert normal_name(name) == normal_name(bare)
    assert normal_name(name) != "" != normal_name(bare)
