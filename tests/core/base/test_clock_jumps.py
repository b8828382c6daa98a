"""A clock that was set, seen beside one that nobody sets."""

import pytest

from svc_core.base.clock_jumps import JUMP_SECONDS, ClockJumps

HOUR, YEAR = 3_600.0, 31_536_000.0


@pytest.mark.parametrize("jump", [-HOUR, HOUR, -YEAR, YEAR, JUMP_SECONDS, -JUMP_SECONDS])
def test_a_jump_is_seen_once_and_added_up(jump: float) -> None:
    clock = ClockJumps()
    assert [clock.look(1e9 + second, second) for second in (0.0, 1.0, 9.0)] == [0, 0, 0]
    assert clock.look(1e9 + 10.0 + jump, 10.0) == pytest.approx(jump)
    assert clock.look(1e9 + 11.0 + jump, 11.0) == 0
    assert (clock.jumped, clock.at) == (pytest.approx(jump), 1e9 + 10.0 + jump)
    clock.look(1e9 + 12.0, 12.0)
    assert clock.jumped == pytest.approx(0)


def test_what_a_clock_gains_slowly_is_no_jump() -> None:
    clock = ClockJumps()
    assert {clock.look(1e9 + 1.5 * second, second) for second in range(100)} == {0}
    assert clock.jumped == 0
