"""Registers strategies with Hypothesis for the classes of values that stores handle.

Hypothesis finds a strategy by class, so `st.from_type(Note)` works. It cannot find one for an
`Annotated` text with a pattern; `from_annotation` of this kit makes those.
"""

from hypothesis import strategies as st

from svc_core.contract.answer import Answer
from svc_core.operation.ports import FeedPosition, Position
from svc_core.testing import strategies
from svc_core.testing.sample import Note


def register() -> None:
    """Registers the strategies; Hypothesis calls it through its entry point."""
    st.register_type_strategy(Answer, strategies.answers)
    st.register_type_strategy(Note, st.text(min_size=1, max_size=3).flatmap(strategies.notes))
    st.register_type_strategy(
        Position, st.builds(Position, st.integers(-(2**63), 2**63 - 1), st.text(max_size=5))
    )
    st.register_type_strategy(
        FeedPosition, st.builds(FeedPosition, st.integers(0, 2**53), st.integers(0, 2**53))
    )
