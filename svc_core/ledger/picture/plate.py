"""The drawing itself: header, legend, axes, and a row for each statement.

Rule 1: all rows share both scales: valid time across, record time up.
Rule 2: an open bound runs into the margin of the plot and fades there.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from attrs import frozen

from svc_core.ledger.picture import ink, rows
from svc_core.ledger.picture.beliefs import Belief, Beliefs, Cell, spans
from svc_core.ledger.picture.ink import box, fill, label, number, stroke
from svc_core.ledger.picture.rows import Group, Row
from svc_core.ledger.picture.scale import DAY, Scale, microseconds, moment, ticks

WIDTH: Final = 1240
LEFT, RIGHT = 304.0, 944.0
"""Where the plot begins and ends."""
MARGIN: Final = 40.0
"""What lies before the first and after the last bound, on both sides of the plot."""
ROW: Final = 64.0
_NEWEST: Final = 11.0
"""Pixels above the newest record time: what is believed now is seen, however late it came."""
_STRETCH: Final = 8.0
"""Pixels that a stretch of valid time has at least, while there are few: an instant is seen."""
_GAP: Final = 12.0
_EVENTS_MAX: Final = 4
_EVENT_STEP: Final = 15.0
_AXIS_GAP: Final = 8.0
_BOLD: Final = 1.2
"""How much wider bold text is."""


@frozen(slots=False)
class Plate:
    """What is drawn, and the two scales; `record_time` is the upper end of the record times."""

    beliefs: Beliefs
    record_time: str
    valid_time: str | None

    @cached_property
    def groups(self) -> list[Group]:
        """The rows."""
        return rows.groups(self.beliefs)

    # -- scales ------------------------------------------------------------------------------------

    @cached_property
    def across(self) -> Scale:
        """Valid time, between the margins."""
        shown = [row.belief for group in self.groups for row in group.rows]
        bounds = {at for each in shown for cell in each.cells for at in cell.periods.changes} | (
            {self.valid_time} if self.valid_time else set()
        )
        points = [microseconds(at) for at in bounds]
        if not points:
            return Scale((0,), ((LEFT + RIGHT) / 2,))
        if len(points) == 1:
            return Scale(tuple(points), ((LEFT + RIGHT) / 2,))
        length = RIGHT - LEFT - 2 * MARGIN
        share = min(_STRETCH * (len(points) - 1) / length, 0.3)
        return Scale.over(points, LEFT + MARGIN, length, share)

    @cached_property
    def upwards(self) -> Scale:
        """Record time, from the foot of a row (0) up to its head (-64)."""
        points = [microseconds(at) for at in self.beliefs.moments]
        recorded = Scale.over(points, 0, -(ROW - _NEWEST), 0.8)
        end = max(microseconds(self.record_time), points[-1] + 1)
        return Scale((*recorded.points, end), (*recorded.positions, -ROW))

    def x(self, at: str | None, *, end: bool = False) -> float:
        """Where a bound of valid time is drawn; None is an open side."""
        if at is None:
            return RIGHT if end else LEFT
        return self.across.at(microseconds(at))

    def y(self, at: str | None) -> float:
        """How far above the foot of a row (less than 0) a record time is; None is its head."""
        return -ROW if at is None else self.upwards.at(microseconds(at))

    @cached_property
    def is_within_a_day(self) -> bool:
        """Whether all record times that are told apart lie within a day."""
        first, last = self.beliefs.moments[0], self.beliefs.moments[-1]
        return microseconds(last) - microseconds(first) < DAY

    # -- rows --------------------------------------------------------------------------------------

    def body(self, top: float) -> tuple[str, float]:
        """The axis and all rows from `top` down, and where they end."""
        parts: list[str] = []
        y, kind = top, ""
        for group in self.groups:
            if group.kind != kind:
                kind, y = group.kind, y + 14
                parts.append(label(20, y + 14, rows.TITLES[kind], size=16, font_weight="600"))
                parts += self._axis(y + 18)
                y += 30
            if group.title:
                parts.append(self._heading(group, y + 12))
                y += 22
            for row in group.rows:
                parts.append(self._row(row, y + ROW))
                y += ROW + _GAP
            if group.omitted:
                parts.append(label(20, y + 8, f"+{group.omitted} more", size=12, tone="quiet"))
                y += 22
        return "".join(parts), y

    def _heading(self, group: Group, y: float) -> str:
        title = ink.shortened(group.title, 250, 13)
        at = 24 + ink.width_of(title, 13) * _BOLD
        note = label(at + 8, y, group.note, size=11, tone="quiet") if group.note else ""
        return label(20, y, title, size=13, font_weight="600") + note

    def _axis(self, y: float) -> Iterator[str]:
        """Round valid times with their labels, as many as have room."""
        points = self.across.points
        free = LEFT
        for at, words in ticks(points[0], points[-1]) if len(points) > 1 else []:
            x, half = self.across.at(at), ink.width_of(words, 11) / 2
            if x - half >= free and x + half <= RIGHT:
                free = x + half + _AXIS_GAP
                yield label(x, y - 4, words, size=11, tone="quiet", text_anchor="middle")
                yield ink.path([f"M{number(x)} {number(y)}v5"], stroke("quiet"))

    def _row(self, row: Row, foot: float) -> str:
        belief = row.belief
        words = (
            f'<svg x="20" y="{number(foot - ROW)}" width="272" height="{number(ROW)}">'
            + label(0, 24, ink.shortened(row.words, 268, 13), size=13)
            + label(0, 42, ink.shortened(row.detail, 268, 11), size=11, tone="quiet")
            + "</svg>"
        )
        lane = box(LEFT, foot - ROW, RIGHT - LEFT, ROW, fill("lane"))
        grid = ink.path(
            [f"M{number(x)} {number(foot - ROW)}v{number(ROW)}" for x in self._tick_places],
            f'{stroke("grid")} stroke-width="1"',
        )
        shapes = "".join(shape for cell in belief.cells for shape in self._cell(row, cell, foot))
        caps = "".join(self._caps(belief.cells, foot))
        return (
            f'<g data-record="{belief.record.id}">{words}{lane}{grid}{shapes}{self._fades(foot)}'
            f"{caps}{self._asked(foot)}{''.join(self._events(belief, foot))}</g>"
        )

    @cached_property
    def _tick_places(self) -> list[float]:
        points = self.across.points
        found = ticks(points[0], points[-1]) if len(points) > 1 else []
        return [self.across.at(at) for at, _ in found]

    def _cell(self, row: Row, cell: Cell, foot: float) -> Iterator[str]:
        head, low = foot + self.y(cell.until), foot + self.y(cell.since)
        for start, end in spans(cell.periods):
            x, width = self.x(start), self.x(end, end=True) - self.x(start)
            facts = _facts(cell, start, end)
            paint = (
                f'fill="url(#p-{cell.state})" {stroke("paper")} stroke-width=".75"'
                f' data-state="{cell.state}"{facts}'
            )
            told = f"<title>{ink.escaped(self._told(row, cell, start, end))}</title>"
            yield box(x, head, width, low - head, paint, inner=told)
        for start, end in spans(cell.contested):
            x, width = self.x(start), self.x(end, end=True) - self.x(start)
            paint = (
                'fill="url(#p-contested)" pointer-events="none"'
                f' data-contested="true"{_facts(cell, start, end)}'
            )
            yield box(x, head, width, low - head, paint)

    def _told(self, row: Row, cell: Cell, start: str | None, end: str | None) -> str:
        title = row.belief.predicate or row.belief.record.kind
        return (
            f"{title}: {ink.shortened(row.words, 300, 12)} · {rows.state_words(cell.state)}"
            f" · valid {rows.period(start, end)}"
            f" · believed {cell.since} to {cell.until or 'now'}"
        )

    def _caps(self, cells: Sequence[Cell], foot: float) -> Iterator[str]:
        """A bar where belief ended in record time."""
        for cell in cells:
            y = foot + self.y(cell.until)
            for start, end in spans(cell.ended):
                x1, x2 = self.x(start), self.x(end, end=True)
                paint = f'{stroke("ink")} stroke-width="3" stroke-linecap="butt"'
                yield ink.path([f"M{number(x1)} {number(y)}H{number(x2)}"], paint)

    def _fades(self, foot: float) -> str:
        y = foot - ROW
        return "".join(
            box(x, y, MARGIN - 4, ROW, f'fill="url(#{name})" pointer-events="none"')
            for x, name in ((LEFT, "fade-in"), (RIGHT - MARGIN + 4, "fade-out"))
        )

    def _asked(self, foot: float) -> str:
        if self.valid_time is None:
            return ""
        line = f"M{number(self.x(self.valid_time))} {number(foot - ROW - 3)}v{number(ROW + 6)}"
        return ink.path([line], f'{stroke("ink")} stroke-width="1.5" stroke-dasharray="4 3"')

    def _events(self, belief: Belief, foot: float) -> Iterator[str]:
        """When it was recorded and what was done to it, each beside its record time."""
        acts = [belief.record, *belief.acts]
        told = acts if len(acts) <= _EVENTS_MAX else [acts[0], *acts[1 - _EVENTS_MAX :]]
        places = _apart([foot + self.y(self._shown(each)) for each in told], foot)
        for act, y in zip(told, places, strict=True):
            at = foot + self.y(self._shown(act))
            line = f"M{number(RIGHT)} {number(at)}L{number(RIGHT + 10)} {number(y)}h4"
            yield ink.path([line], stroke("quiet"))
            when = moment(act.recorded_at, within_a_day=self.is_within_a_day)
            what = rows.act_of(act, belief)
            who = "" if act is belief.record else f" · {act.author}"
            more = f" (+{len(acts) - len(told)})" if act is belief.record and acts != told else ""
            words = ink.shortened(f"{when}  {what}{who}{more}", 258, 11)
            yield label(RIGHT + 18, y + 4, words, size=11, tone="quiet")

    def _shown(self, act: object) -> str:
        recorded_at: str = act.recorded_at  # type: ignore[attr-defined]
        return min(max(recorded_at, self.beliefs.moments[0]), self.beliefs.moments[-1])


def _apart(wanted: Iterable[float], foot: float) -> list[float]:
    """The wanted heights, lowest first, moved so that lines of text do not touch."""
    found: list[float] = []
    for y in wanted:
        found.append(min(y, found[-1] - _EVENT_STEP) if found else min(y, foot - 5))
    # What was pushed out at the top pushes everything back down.
    top = foot - ROW + 7
    for index in range(len(found) - 1, -1, -1):
        found[index] = max(found[index], top)
        top = found[index] + _EVENT_STEP
    return found


def _facts(cell: Cell, start: str | None, end: str | None) -> str:
    """What a shape stands for, for programs: null bounds have no attribute."""
    facts = {"from": start, "to": end, "since": cell.since, "until": cell.until}
    return "".join(f' data-{name}="{at}"' for name, at in facts.items() if at is not None)
