"""Draws the history of a subject as SVG: valid time across, record time upwards.

Rule 1: a shape says what the fold says at every point under it: the statement is in force, in this
        state, and contested where another value of a single-valued predicate is in force as well.
Rule 2: the bytes are a function of the set of records and of the times asked for.
Rule 3: it stands alone: no script, no font, no image and no address in it is fetched. Colours stand
        in attributes, for a policy may forbid styles; the style only adds the dark theme.
Rule 4: no text of a ledger becomes markup: it is escaped, without characters that XML forbids or
        that turn the direction of what follows.
Rule 5: it is read without colours, by the patterns of the states, and without eyes, by its
        description.
Rule 6: it is bounded, and what is left out is counted.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from html import escape
from itertools import accumulate, groupby, pairwise
from typing import Final, NamedTuple, TypeAlias

from attrs import frozen

from svc_core.ledger.fold.claims import value_text
from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.segments import NEVER, Periods, interval_union
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.fold.verification_states import State
from svc_core.ledger.predicates import is_single
from svc_core.ledger.records import STATEMENTS, Kind, SealedRecord

STEPS_MAX: Final = 48
"""Record times that are told apart, the newest: at 64 pixels a row more would be thinner than one
pixel each. What was believed before is shown as it was at the first of them."""
WORK_MAX: Final = 100_000
"""Records times record times that are looked at, half a second; of a subject with very many
records fewer record times are told apart."""
SHAPES_MAX: Final = 2_200
"""Rectangles of one picture; at some 700 bytes each it stays below two megabytes."""
ROWS_MAX: Final = 90
"""Statements that are drawn, the newest; about seven screens."""
ACTS_MAX: Final = 4
_MEMBERS: Final[Mapping[Kind, tuple[str, str]]] = {
    "subject": ("type", "label"),
    "designator": ("scheme", "value"),
    "observation": ("", "text"),
    "claim": ("predicate", "value"),
}
"""What names a row and what says what is stated, in the payload of each kind."""
_Scale: TypeAlias = Mapping[str, float]
"""Instants with their places."""
_Key: TypeAlias = tuple[int, str]
"""The `seq` and the id of a record."""
_Rivals: TypeAlias = Mapping[_Key, tuple[str, str]]
"""The predicate and the value of each claim that other values contest."""


def svg(
    records: Iterable[SealedRecord] | RecordSet,
    subject: str,
    *,
    record_time: str | None = None,
    size: int | None = None,
    valid_time: str | None = None,
) -> str:
    """Draw the records of `subject` as an SVG document.

    `record_time` and `size` bound the records as they do a fold; `valid_time` is marked by a line.
    Times are the ledger's texts of 27 characters. Records of other subjects are passed over.
    """
    standing = Standing.of(records, subject, record_time=record_time, size=size)
    times = sorted({record.recorded_at for record in standing.records})
    known_at = record_time or max(times, default="the beginning")
    moments = times[-max(min(STEPS_MAX, WORK_MAX // max(len(standing.records), 1)), 1) :]
    rows = _rows(standing.records, moments)
    title = _shorten(_title(standing, subject), 1_200, 24)
    subtitle = f"{subject} · {len(standing.records)} records · as known at {known_at}"
    suffix = f" · valid time {valid_time} marked" if valid_time else ""
    plot, height = _plot(rows, moments, valid_time)
    statements = sum(record.op in STATEMENTS for record in standing.records)
    counts = f"{len(rows)} of {statements} statements, {len(moments)} of {len(times)} record times"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}"'
        f' height="{height:g}" role="img" aria-labelledby="svc-title svc-desc" {_FONT}>'
        f'<title id="svc-title">{_escape(title)}: what was believed when, and for when</title>'
        f'<desc id="svc-desc">{_escape(_description(rows, subject, known_at))}</desc>'
        + _definitions()
        + _box(0, 0, WIDTH, height, _paint("background"))
        + _text(20, 38, title, 24, "text")
        + _text(20, 62, subtitle + suffix)
        + plot
        + _text(20, height - 20, counts if times else "Nothing was recorded by then.")
        + "</svg>\n"
    )


# -- what was believed ---------------------------------------------------------------------------


class Cell(NamedTuple):
    """One state of a statement between two record times, and the valid times at which it held.

    `contested` are those of them at which another value was held as well.
    """

    state: State
    periods: Periods
    contested: Periods
    since: str
    until: str | None = None


@frozen
class Lane:
    """One row of the picture: a statement, its states over time, the records that act on it."""

    record: SealedRecord
    name: str
    words: str
    cells: tuple[Cell, ...]
    acts: tuple[SealedRecord, ...]

    @property
    def current_periods(self) -> Periods:
        """The valid times at which the statement is in force at the newest record time."""
        return self.cells[-1].periods if self.cells and self.cells[-1].until is None else NEVER


def intervals(periods: Periods) -> list[tuple[str | None, str | None]]:
    """Return the intervals of a set of valid times, ascending; None is an open side."""
    bounds = [None, *periods.changes] if periods.starts_inside else list(periods.changes)
    ends = [*bounds, None] if len(bounds) % 2 else bounds
    return list(zip(ends[::2], ends[1::2], strict=True))


def _rows(records: Sequence[SealedRecord], moments: Sequence[str]) -> list[Lane]:
    """Return the rows of the newest statements for which there is room, by kind and name."""
    kinds = list(_MEMBERS)
    newest = [record for record in reversed(records) if record.op in STATEMENTS][:ROWS_MAX]
    rows, room = [], SHAPES_MAX
    for record, cells in zip(newest, _cells(records, newest, moments), strict=True):
        sets = [item for cell in cells for item in (cell.periods, cell.contested)]
        shapes = sum(len(intervals(item)) for item in sets)
        if shapes <= room:
            room -= shapes
            aims = {act.id for act in records if act.target == record.id} | {record.id}
            acts = tuple([act for act in records if act.target in aims])
            name = _shorten(row_name(record), _COLUMN, 12)
            rows.append(Lane(record, name, statement_words(record), cells, acts))
    return sorted(rows, key=lambda row: (kinds.index(row.record.kind), row.name, row.record.seq))


def _cells(
    records: Sequence[SealedRecord], statements: Sequence[SealedRecord], moments: Sequence[str]
) -> Iterator[tuple[Cell, ...]]:
    """Compute the cells of each statement over the record times `moments`."""
    cells_by_key: dict[_Key, list[Cell]] = {(row.seq, row.id): [] for row in statements}
    rivals = _rivals(records)
    for moment in moments:
        standing = Standing(tuple([record for record in records if record.recorded_at <= moment]))
        cells = {
            key: Cell(standing.verdicts(record).state, standing.validity(record), NEVER, moment)
            for record in standing.records
            if (key := (record.seq, record.id)) in cells_by_key or key in rivals
        }
        contests = _contests(rivals, cells)
        for key in cells_by_key.keys() & cells.keys():
            cell, (predicate, _) = cells[key], rivals.get(key, ("", ""))
            contest = NEVER if cell.state == "refuted" else contests.get(predicate, NEVER)
            overlap = interval_union([cell.periods, contest], at_least=2)
            cells_by_key[key].append(cell._replace(contested=overlap))
    return map(_merge, cells_by_key.values())


def _rivals(records: Iterable[SealedRecord]) -> _Rivals:
    return {
        (record.seq, record.id): (row_name(record), value)
        for record in records
        if record.kind == "claim" and record.op in STATEMENTS and is_single(row_name(record))
        if (value := value_text((record.payload or {}).get("value"))) is not None
    }


def _contests(rivals: _Rivals, cells: Mapping[_Key, Cell]) -> dict[str, Periods]:
    """Return, for each predicate, the valid times at which it has several values."""
    periods_by_rival: dict[tuple[str, str], list[Periods]] = {}
    for key, rival in rivals.items():
        if key in cells and cells[key].state != "refuted":
            periods_by_rival.setdefault(rival, []).append(cells[key].periods)
    values: dict[str, list[Periods]] = {}
    for (predicate, _), periods in periods_by_rival.items():
        values.setdefault(predicate, []).append(interval_union(periods))
    return {predicate: interval_union(sets, at_least=2) for predicate, sets in values.items()}


def _merge(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Merge equal neighbouring cells, set their ends, and drop empty ones."""
    distinct = [next(run) for _, run in groupby(cells, key=lambda cell: cell[:3])]
    ends = [*[cell.since for cell in distinct[1:]], None]
    runs = [cell._replace(until=end) for cell, end in zip(distinct, ends, strict=True)]
    return tuple([cell for cell in runs if cell.periods != NEVER])


# -- words ---------------------------------------------------------------------------------------


def row_name(record: SealedRecord) -> str:
    """Return the name of a row: the predicate of a claim, the scheme of a designator."""
    name = (record.payload or {}).get(_MEMBERS[record.kind][0])
    return name if isinstance(name, str) else record.kind


def statement_words(record: SealedRecord) -> str:
    """Return the content of a statement, shortened to the column."""
    if record.payload is None:
        return "(erased)"
    value = record.payload.get(_MEMBERS[record.kind][1])
    words = value if isinstance(value, str) else value_text(value) or "?"
    return _shorten(words, _COLUMN, 13)


def _title(standing: Standing, subject: str) -> str:
    """Return the label by the newest record in force, or else the subject's identifier."""
    labels = [
        (record.payload or {}).get("label")
        for record in reversed(standing.records)
        if record.kind == "subject" and record.id in standing.in_force
    ]
    return next((label for label in labels if isinstance(label, str) and _plain(label)), subject)


def _description(rows: Sequence[Lane], subject: str, known_at: str) -> str:
    """Describe in words what is in force at the newest record time."""
    sentences = [
        f"{row.name} {row.words}, {row.cells[-1].state}, "
        + " and ".join(_period(*interval) for interval in intervals(row.current_periods))
        for row in rows
        if row.current_periods != NEVER
    ]
    return (
        f"Valid time runs from left to right, record time upwards, for {subject} as known at"
        f" {known_at}. Still held: {'; '.join(sentences) or 'nothing'}."
    )


def _act(act: SealedRecord, acts: Iterable[SealedRecord]) -> str:
    """Describe a record that acts on a statement, or on one of the `acts` on it."""
    aims = "".join(f" of {earlier.op}" for earlier in acts if earlier.id == act.target)
    state = f" {(act.payload or {}).get('state', '')}" if act.op == "verify" else ""
    return f"{_date_text(act.recorded_at)[:19]} {act.op}{aims}{state} · {act.author}"


def _period(start: str | None, end: str | None) -> str:
    first = "no beginning" if start is None else _date_text(start)
    return f"from {first} to {'no end' if end is None else _date_text(end)}"


def _date_text(instant: str) -> str:
    """An instant in UTC, without a time that is midnight and a fraction that is none."""
    day, _, time = instant[:26].removesuffix(".000000").partition("T")
    return day if time == "00:00:00" else f"{day} {time}"


# XML 1.0, 2.2, and the characters that order what follows from right to left (UAX 9).
_FORBIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+"
)


def _plain(text: str) -> str:
    """The text on one line, without characters that XML forbids or that turn its direction."""
    return " ".join(_FORBIDDEN.sub(" ", text).split())


def _escape(text: str) -> str:
    """The text as it stands in XML."""
    return escape(_plain(text))


def _shorten(text: str, width: float, size: float) -> str:
    """Cut a text to a width in pixels at a font size, with an ellipsis."""
    text = _plain(text[:2_000])
    ends = list(accumulate([size * _advance(character) for character in text], initial=0))
    cut = text[: sum(end <= width - size for end in ends) - 1].rstrip()
    return text if ends[-1] <= width else f"{cut}…"


def _advance(character: str) -> float:
    """Estimate the width of a character in units of the font size, rather too wide."""
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in " .,:;'-|ijl()[]":
        return 0.36
    return 0.9 if character.isupper() or character in "mw@%&<>=+#~—…" else 0.6


# -- the drawing ---------------------------------------------------------------------------------

WIDTH: Final = 1312
_LEFT, _RIGHT = 336.0, 976.0
"""Where the plot begins and ends."""
_MARGIN: Final = 40.0
"""What lies before the first and after the last bound: an open side runs into it and fades."""
_COLUMN: Final = 300.0
"""Pixels for words on both sides of it."""
_ROW, _GAP = 64.0, 12.0
_NEWEST: Final = 11.0
"""Pixels above the newest record time: what is believed now is seen, however late it came."""
_STRETCH: Final = 8.0
"""Pixels that a stretch of valid time has at least, while there are few: an instant is seen."""
_FONT: Final = 'font-family="system-ui, Segoe UI, Roboto, Helvetica, Arial, sans-serif"'
THEME: Final[Mapping[str, tuple[str, str]]] = {
    "background": ("#ffffff", "#0f1318"),
    "lane": ("#f3f5f8", "#181e25"),
    "text": ("#1c2128", "#e8edf2"),
    "muted": ("#57606a", "#a3aeb9"),
}
"""The colours of all but the states, by light and by dark."""
PATTERNS: Final[Mapping[str, tuple[str, str]]] = {
    "verified": ("#2481c4", ""),
    "corroborated": ("#6fbdee", "M0 4h8"),
    "unverified": ("#98a3b0", "M1.5 2h1M5.5 6h1"),
    "under_review": ("#ebc93f", "M4 0v8"),
    "disputed": ("#cc79a7", "M4 0v8M0 4h8"),
    "refuted": ("#dd6a15", "M1 1l6 6M7 1l-6 6"),
    "contested": ("none", "M0 4L4 0H8L0 8zM8 4v4H4z"),
}
"""What each state is filled with: a colour (after Okabe and Ito, whose palette all kinds of colour
vision tell apart) and what is drawn on a tile of 8 pixels; `contested` lies over a state."""


def _definitions() -> str:
    """Return the dark theme, the patterns of the states, and the gradient for open sides."""
    dark = "".join(f".{n}{{fill:{dark};stop-color:{dark}}}" for n, (_, dark) in THEME.items())
    patterns = "".join(
        f'<pattern id="svc-{name}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="{colour}"/><path d="{path}" fill-opacity=".35"'
        ' stroke="#000" stroke-opacity=".45" stroke-width="1.2"/></pattern>'
        for name, (colour, path) in PATTERNS.items()
    )
    edge = _MARGIN / (_RIGHT - _LEFT)
    stops = "".join(
        f'<stop offset="{x:g}" stop-opacity="{opacity}" class="background" stop-color="#ffffff"/>'
        for x, opacity in ((0, 1), (edge, 0), (1 - edge, 0), (1, 1))
    )
    return (
        f"<style>@media (prefers-color-scheme:dark){{{dark}}}</style>"
        f'<defs>{patterns}<linearGradient id="svc-fade">{stops}</linearGradient></defs>'
    )


def _paint(name: str) -> str:
    return f'class="{name}" fill="{THEME[name][0]}"'


def _box(x: float, y: float, width: float, height: float, paint: str, *, title: str = "") -> str:
    place = f'x="{x:.7g}" y="{y:.7g}" width="{width:.7g}" height="{height:.7g}"'
    return f"<rect {place} {paint}>{title}</rect>"


def _text(x: float, y: float, words: str, size: int = 12, tone: str = "muted") -> str:
    place = f'x="{x:.7g}" y="{y:.7g}" font-size="{size}"'
    return f"<text {place} {_paint(tone)}>{_escape(words)}</text>"


def _days(instant: str) -> float:
    """Days from the first of the calendar to an instant of a head.

    It never raises for what the grammar of a head lets pass, so the 31st of February counts on.
    """
    year, month, day = max(int(instant[:4]), 1), int(instant[5:7]), int(instant[8:10])
    seconds = int(instant[11:13]) * 3600 + int(instant[14:16]) * 60 + float(instant[17:26])
    return date(year, month, 1).toordinal() + day - 1 + seconds / 86_400


def positions(instants: Iterable[str]) -> dict[str, float]:
    """Return the x positions of bounds of valid time: to scale, with a minimum distance."""
    points = sorted(set(instants))
    if len(points) < 2:
        return dict.fromkeys(points, (_LEFT + _RIGHT) / 2)
    stretches = [max(_days(later) - _days(earlier), 0) for earlier, later in pairwise(points)]
    total, count = sum(stretches) or 1, len(stretches)
    length = _RIGHT - _LEFT - 2 * _MARGIN
    share = min(_STRETCH * count / length, 0.3)
    widths = [length * (share / count + (1 - share) * stretch / total) for stretch in stretches]
    return dict(zip(points, accumulate(widths, initial=_LEFT + _MARGIN), strict=True))


def _plot(
    rows: Sequence[Lane], moments: Sequence[str], valid_time: str | None
) -> tuple[str, float]:
    """Draw the legend and all rows over their common scales; return the SVG and its height."""
    sets = [item for row in rows for cell in row.cells for item in (cell.periods, cell.contested)]
    marks = [] if valid_time is None else [valid_time]
    across = positions([*marks, *[bound for periods in sets for bound in periods.changes]])
    step = (_ROW - _NEWEST) / max(len(moments) - 1, 1)
    above = {moment: place * step for place, moment in enumerate(moments)}
    parts, y = list(_legend()), 124.0
    for kind, members in groupby(rows, key=lambda row: row.record.kind):
        parts += [_text(20, y + 30, kind.capitalize(), 16, "text"), *_axis(across, y + 30)]
        y += 40
        for row in members:
            parts += [
                f'<g data-record="{row.record.id}">',
                _box(_LEFT, y, _RIGHT - _LEFT, _ROW, _paint("lane")),
                *_shapes(row, y + _ROW, across, above),
                _box(_LEFT, y, _RIGHT - _LEFT, _ROW, 'fill="url(#svc-fade)" pointer-events="none"'),
                *[_box(across[mark] - 1, y, 2, _ROW, _paint("text")) for mark in marks],
                *_words(row, y),
                "</g>",
            ]
            y += _ROW + _GAP
    return "".join(parts), y + 40


def _legend() -> Iterator[str]:
    """Draw the meaning of the patterns, and the direction of the two axes."""
    for place, name in enumerate(PATTERNS):
        yield _box(20 + 126 * place, 80, 26, 16, f'fill="url(#svc-{name})"')
        yield _text(53 + 126 * place, 92, name, 12, "text")
    yield _text(_LEFT, 122, "valid time → (brief spans widened, what has no bound fades)")
    yield _text(_RIGHT + 16, 122, "record time ↑ (a step for each)")


def _axis(across: _Scale, y: float) -> Iterator[str]:
    """Draw labels for those bounds of valid time that have room."""
    free = 0.0
    for bound, x in across.items():
        half = len(_date_text(bound)) * 11 * _advance("0") / 2
        if x - half >= free:
            free = x + half + 8
            yield _text(x - half, y, _date_text(bound), 11)
            yield _box(x - 0.5, y + 4, 1, 6, _paint("muted"))


def _shapes(row: Lane, foot: float, across: _Scale, above: _Scale) -> Iterator[str]:
    """Draw the cells of a row, and contested periods over them."""
    for cell in row.cells:
        head = foot - (_ROW if cell.until is None else above[cell.until])
        height = foot - above[cell.since] - head
        for name, periods in ((cell.state, cell.periods), ("contested", cell.contested)):
            for start, end in intervals(periods):
                left = _LEFT if start is None else across[start]
                right = _RIGHT if end is None else across[end]
                facts = {"from": start, "to": end, "since": cell.since, "until": cell.until}
                data = "".join(f' data-{fact}="{time}"' for fact, time in facts.items() if time)
                paint = f'fill="url(#svc-{name})" data-state="{name}"{data}'
                label = f"{row.name}: {row.words} · {name} · valid {_period(start, end)}"
                until = _date_text(cell.until) if cell.until else "now"
                belief = f"believed {_date_text(cell.since)} to {until}"
                title = f"<title>{_escape(f'{label} · {belief}')}</title>"
                yield _box(left, head, right - left, height, paint, title=title)


def _words(row: Lane, y: float) -> Iterator[str]:
    """Draw name, content and author of a row, and the newest records that act on it."""
    acts = [row.record, *row.acts][::-1]
    confidence = (row.record.payload or {}).get("confidence")
    certainty = f" · {confidence} %" if isinstance(confidence, int) else ""
    detail = f"{row.record.author}{certainty} · {len(acts)} record{'s' if len(acts) > 1 else ''}"
    yield _text(20, y + 15, row.name)
    yield _text(20, y + 35, row.words, 13, "text")
    yield _text(20, y + 54, _shorten(detail, _COLUMN, 11), 11)
    for place, act in enumerate(acts[:ACTS_MAX]):
        words = _shorten(_act(act, row.acts), _COLUMN, 11)
        yield _text(_RIGHT + 16, y + 12 + 15 * place, words, 11)
