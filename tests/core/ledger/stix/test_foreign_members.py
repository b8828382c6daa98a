"""What another program sealed is exported, too, whatever types its members have."""

from typing import Any

import pytest


@pytest.mark.parametrize("strange", [None, [], {}, 1, True, [["organization"]], {"type": "tool"}])
def test_members_of_a_strange_type_are_passed_over(tale: Any, strange: Any) -> None:
    subject = tale.subject(strange, strange, description=strange)
    place = tale.subject("location", "Zug")
    for about in (subject, place):
        tale.add("claim", subject=about, predicate=strange, value="CH")
        tale.add("claim", subject=about, predicate="seat", value=strange, source=strange)
        tale.add("claim", subject=about, predicate="malicious", value={"scheme": strange})
        tale.add("designator", subject=about, scheme=strange, value=strange)
        tale.add("observation", subject=about, text=strange, source=strange, observedAt=strange)
        claim = tale.add("claim", subject=about, predicate="owner", value="x", confidence=strange)
        tale.add("claim", "verify", subject=about, target=claim, state=strange, method=strange)

    for about in (subject, place):
        objects = tale.objects(about)
        (item_,) = [item for item in objects if item.get("name") in {about, "Zug"}]
        assert item_["type"] == "identity"
