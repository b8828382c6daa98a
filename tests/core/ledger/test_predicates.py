"""The registry says how often a predicate holds at once and what its values look like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger import predicates
from svc_core.ledger.predicates import PREDICATES, is_single, predicate_edge, value_faults

SUBJECT = {"subject": "sbj_a9b3c182b699604db136482f"}
MONEY = {"amount": "12.50", "currency": "USD"}
QUANTITY = {"quantity": "3.2", "unit": "MW"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.sampled_from(["subject", "amount"]), inner)
    ),
    max_leaves=6,
)


def test_the_built_in_predicates_have_their_cardinality():
    single = """legalName legalForm status jurisdiction headquarters inceptionDate
        dissolutionDate birthDate riskRating"""
    multiple = """owner subsidiary officer nationality sanctionedBy uses targets exploits
        attributedTo locatedIn sameAs"""
    assert {name for name in PREDICATES if is_single(name)} == set(single.split())
    assert set(multiple.split()) <= {name for name in PREDICATES if not is_single(name)}
    assert not is_single("shoeSize")


def test_every_predicate_is_described():
    for name, predicate in PREDICATES.items():
        assert name == predicate.name
        assert predicate.doc.endswith(".")


@pytest.mark.parametrize(
    ("predicate", "value"),
    [
        ("legalName", "Pier 7 AG"),
        ("inceptionDate", "1998-02-28"),
        ("birthDate", "2000-02-29"),
        ("riskRating", "high"),
        ("riskRating", 3),
        ("headquarters", {"city": "Zug", "country": "CH"}),
        ("headquarters", {}),
        ("headquarters", "Zug"),
        ("headquarters", SUBJECT),
        ("owner", SUBJECT),
        ("owner", "Jo Doe"),
        ("sameAs", SUBJECT),
        ("revenue", MONEY),
        ("revenue", {"amount": "-0.000000000000000001", "currency": "USDC"}),
        ("employees", 0),
        ("capacity", QUANTITY),
        ("capacity", {"quantity": "1000000", "unit": "°"}),
        ("employees", 1.0),
        ("shoeSize", 43.5),
        ("shoeSize", [None]),
        ("shoeSize", {"subject": 1}),
        ("shoeSize", False),
    ],
)
def test_values_of_the_type_pass(predicate, value):
    assert value_faults(predicate, value) == ()


@pytest.mark.parametrize(
    ("predicate", "value", "pointers"),
    [
        ("capacity", 7, ["/value"]),
        ("capacity", {"quantity": "٣", "unit": " MW"}, ["/value/quantity", "/value/unit"]),
        ("capacity", {**QUANTITY, "a/b": 1}, ["/value/a~1b"]),
        ("legalName", 7, ["/value"]),
        ("legalName", " ", ["/value"]),
        ("legalName", "x" * 2001, ["/value"]),
        ("inceptionDate", "1998", ["/value"]),
        ("inceptionDate", "1998-02-30", ["/value"]),
        ("inceptionDate", 1998, ["/value"]),
        ("employees", True, ["/value"]),
        ("employees", 1.5, ["/value"]),
        ("riskRating", None, ["/value"]),
        ("sameAs", "Jo", ["/value"]),
        ("sameAs", {"subject": "sbj_1"}, ["/value/subject"]),
        ("owner", {"subject": None}, ["/value/subject"]),
        ("headquarters", {"subject": 1}, ["/value/subject"]),
        ("headquarters", 7, ["/value"]),
        ("revenue", 12.5, ["/value"]),
        (
            "revenue",
            {"amount": 12.5, "unit": "USD"},
            ["/value/amount", "/value/currency", "/value/unit"],
        ),
        ("revenue", {"amount": "012", "currency": "usd"}, ["/value/amount", "/value/currency"]),
        ("shoeSize", None, ["/value"]),
    ],
)
def test_all_that_is_wrong_is_told_by_pointer(predicate, value, pointers):
    assert [fault.place for fault in value_faults(predicate, value)] == pointers


def test_pointers_begin_where_the_value_stands():
    assert value_faults("sameAs", {}, "/3/value")[0].place == "/3/value/subject"


@given(st.sampled_from([*PREDICATES, "shoeSize"]), JSON)
def test_any_value_passes_or_is_told_why_not(predicate, value):
    for fault in value_faults(predicate, value):
        assert fault.place.startswith("/value")
        assert fault.reason


@given(JSON)
def test_an_edge_is_exactly_a_subject(value):
    target = predicate_edge(value)
    assert (target is None) == bool(value_faults("sameAs", value))
    assert target is None or value == {"subject": target}


def test_an_edge_names_the_other_subject():
    assert predicate_edge(SUBJECT) == SUBJECT["subject"]
    assert predicate_edge({**SUBJECT, "share": "0.5"}) is None
    assert predicate_edge("Jo") is None
    assert predicates.VERSION == 1
