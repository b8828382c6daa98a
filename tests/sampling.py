"""How many examples Hypothesis makes: few by default, all of them in a soak and for coverage.

Both are the same tests. A test that takes more or fewer examples than others says how many with
`examples`, of which every profile takes its own share.
"""

from typing import Any

from hypothesis import HealthCheck, settings

SOAK_EXAMPLES = 100
GATE_EXAMPLES = 20
FEWEST = 5
GATE = "svc"
"""The profile that is taken where none is named."""

settings.register_profile(
    "soak", max_examples=SOAK_EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(GATE, settings.get_profile("soak"), max_examples=GATE_EXAMPLES)
# Coverage is measured with the same examples each time, and all: it fails for what was changed.
settings.register_profile("same", settings.get_profile("soak"), derandomize=True)


def examples(count: int, **options: Any) -> settings:
    """Settings of a test that takes as many examples in a soak, and a share of them otherwise."""
    share = count * settings().max_examples // SOAK_EXAMPLES
    return settings(max_examples=min(count, max(share, FEWEST)), **options)
