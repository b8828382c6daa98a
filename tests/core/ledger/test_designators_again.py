"""A normalised designator stays what it is, however it was first written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.designators import SCHEMES, normalise
from svc_core.problem import Problem


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("X:@@Ä", "x:ä"),
        ("mastodon:@Gargron@mastodon.social", "mastodon:gargron@mastodon.social"),
        ("github:octocat", "github:octocat"),
    ],
)
def test_a_handle_has_no_leading_at_signs(sent: str, kept: str) -> None:
    assert normalise("handle", sent) == kept == normalise("handle", kept)


def test_at_signs_alone_are_no_handle() -> None:
    with pytest.raises(Problem) as refused:
        normalise("handle", "x:@@")
    assert "must be platform:name" in refused.value.detail


@given(
    scheme=st.sampled_from(sorted(SCHEMES)),
    before=st.text("@.:/ %xX-", max_size=3),
    after=st.text("@.:/ %xX-Ä\u0308İ。", max_size=4),
)
def test_normalising_twice_is_normalising_once(scheme: str, before: str, after: str) -> None:
    example = SCHEMES[scheme].example
    head, colon, tail = example.partition(":")
    for sent in (f"{before}{example}{after}", f"{head}{colon}{before}{tail}{after}"):
        try:
            kept = normalise(scheme, sent)
        except Problem:
            continue
        assert normalise(scheme, kept) == kept
