"""Canonical JSON against the rfc8785 package, in one run, on records without floats.

Prints one row a case: name, microseconds per call, ratio, goal, PASS or FAIL; exits 3 on a miss.
The ratio is of the best rounds on the same value, taken in turns, so that the load of the machine
weighs on both alike.
"""

import sys
from functools import partial
from timeit import repeat

import rfc8785
from outcome import close_run, is_quick

from svc_core.base import canonical

RECORD = {
    "id": "clm_5324293a932331f26a740074",
    "kind": "claim",
    "subject": "sbj_0123456789abcdef01234567",
    "target": None,
    "recordedAt": "2026-01-31T08:30:00.123456Z",
    "validFrom": "2026-01-01T00:00:00Z",
    "seq": 123456,
    "author": "key_0123456789abcdef01234567",
    "payload": {
        "predicate": "headquartered_in",
        "value": {"subject": "sbj_89abcdef0123456701234567"},
        "confidence": 80,
        "evidence": ["obs_0011223344556677889900aa", "obs_aa99887766554433221100ff"],
        "note": "Office of record, per filing",
        "open": True,
    },
}

CASES = [
    # name, value, goal: at least so many times as fast as the peer
    ("record, ASCII", RECORD, 4.0),
    ("record, Latin", {**RECORD, "author": "Zürich"}, 3.0),
    ("500 records", [RECORD] * 500, 4.0),
    # A character beyond U+FFFF takes the exact path; it must not be slower than the peer's by much.
    ("record, emoji", {**RECORD, "author": "\U0001f600"}, 0.7),
]


def microseconds(ours, peer, rounds, seconds):
    """The best time of each, measured in turns so that a burst of load meets both."""
    number = max(1, int(seconds / min(repeat(peer, number=1, repeat=3))))
    times = [
        [repeat(call, number=number, repeat=1)[0] / number * 1e6 for call in (ours, peer)]
        for _ in range(rounds)
    ]
    return map(min, zip(*times, strict=True))


def main() -> int:
    rounds, seconds = (7, 0.01) if is_quick() else (21, 0.05)
    ratios = {}
    print(f"{'case':<16}{'ours us':>12}{'rfc8785 us':>12}{'ratio':>8}{'goal':>8}")
    for name, value, goal in CASES:
        assert canonical.dumps(value) == rfc8785.dumps(value)
        calls = partial(canonical.dumps, value), partial(rfc8785.dumps, value)
        ours, peer = microseconds(*calls, rounds, seconds)
        ratios[name] = peer / ours
        print(f"{name:<16}{ours:>12.2f}{peer:>12.2f}{peer / ours:>8.2f}{goal:>8.1f}")
    figure = ", ".join(f"{ratio:.1f} ({name})" for name, ratio in ratios.items())
    return close_run(all(ratios[name] >= goal for name, _, goal in CASES), figure)


if __name__ == "__main__":
    sys.exit(main())
