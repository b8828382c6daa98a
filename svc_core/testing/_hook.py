"""What Hypothesis learns of this library when both are installed.

Hypothesis takes a strategy for a class, not for an `Annotated` text, so texts with a pattern are
made by `conforming.conforming`; the values that stores handle are known by their class.
"""

from hypothesis import strategies as st

from svc_core.contract.answer import Answer
from svc_core.operation.ports import FeedPosition, Position
from svc_core.testing import strategies
from svc_core.testing.sample import Note


def register() -> None:
    """Teach `from_type` the values of stores. Called by Hypothesis itself."""
    st.register_type_strategy(Answer, strategies.answers)
    st.register_type_strategy(Note, st.text(min_size=1, max_size=3).flatmap(strategies.notes))
    st.register_type_strategy(
        Position, st.builds(Position, st.integers(-(2**63), 2**63 - 1), st.text(max_size=5))
    )
    st.register_type_strategy(
        FeedPosition, st.builds(FeedPosition, st.integers(0, 2**53), st.integers(0, 2**53))
    )
