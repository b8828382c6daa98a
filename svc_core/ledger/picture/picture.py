"""A subject's records as one picture: valid time across, record time up, states as colours.

Rule 1: its bytes are a function of the set of records and the times asked for.
Rule 2: it stands alone: no script, no font, no image and no address in it is fetched.
Rule 3: it is for those, too, who cannot see it: a title, and a description of what is held.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.picture import ink, rows
from svc_core.ledger.picture.beliefs import beliefs, spans
from svc_core.ledger.picture.ink import box, fill, label, number, stroke
from svc_core.ledger.picture.plate import LEFT, RIGHT, WIDTH, Plate
from svc_core.ledger.picture.rows import Row
from svc_core.ledger.picture.scale import day_of
from svc_core.ledger.records import Record

BYTES_MAX: Final = 2 * 2**20
"""Bytes that no picture exceeds."""
_DESCRIBED_MAX: Final = 40
_NAMESPACE: Final = "http://www.w3.org/2000/svg"


def svg(
    records: Iterable[Record] | RecordSet,
    subject: str,
    *,
    record_time: str | None = None,
    size: int | None = None,
    valid_time: str | None = None,
) -> str:
    """The picture of what was recorded of `subject`, as an SVG document.

    `record_time` and `size` bound the records as they do a fold; `valid_time` is marked by a line.
    Times are the ledger's texts of 27 characters. Records of other subjects are passed over.
    """
    standing = Standing.of(records, subject, record_time=record_time, size=size)
    known_at = record_time or max([each.recorded_at for each in standing.records], default="")
    title = _title(standing, subject)
    if not standing.records:
        nothing = label(20, 76, "Nothing was recorded by then.", size=13, tone="quiet")
        return _document(title, "Nothing was recorded by then.", nothing, 100)
    found = beliefs(standing.records)
    plate = Plate(found, known_at, valid_time)
    body, bottom = plate.body(144)
    held = [row for group in plate.groups for row in group.rows if rows.is_held(row.belief)]
    left_out = _left_out(found.omitted, found.earlier)
    foot = label(20, bottom + 24, left_out, size=12, tone="quiet") if left_out else ""
    header = _header(subject, standing.records, known_at, valid_time)
    said = _described(held, subject, known_at)
    return _document(title, said, f"{header}{_legend()}{body}{foot}", bottom + 44)


def _title(standing: Standing, subject: str) -> str:
    """What the newest record in force calls the subject, or its identifier."""
    labels = [
        (each.payload or {}).get("label")
        for each in standing.records
        if each.kind == "subject" and each.id in standing.in_force
    ]
    texts = [each for each in labels if isinstance(each, str) and ink.plain(each)]
    return ink.shortened(texts[-1], 900, 24) if texts else subject


def _left_out(omitted: int, earlier: int) -> str:
    parts = []
    if omitted:
        parts.append(f"+{omitted} more statements, older than those shown")
    if earlier:
        parts.append(f"+{earlier} more record times, before those told apart")
    return " · ".join(parts)


def _document(title: str, said: str, content: str, height: float) -> str:
    return (
        f'<svg xmlns="{_NAMESPACE}" viewBox="0 0 {WIDTH} {number(height)}" width="{WIDTH}"'
        f' height="{number(height)}" role="img" aria-labelledby="svc-title svc-desc"'
        f' font-family="{ink.FONT}">'
        f'<title id="svc-title">{ink.escaped(title)}: what was believed when, and for when</title>'
        f'<desc id="svc-desc">{ink.escaped(said)}</desc>'
        f"{ink.style()}{ink.definitions()}"
        f"{box(0, 0, WIDTH, height, fill('paper'))}"
        f"{label(20, 38, title, size=24, font_weight='600')}{content}</svg>\n"
    )


def _described(held: list[Row], subject: str, known_at: str) -> str:
    """In words, what is held at the end of the record times."""
    lines = [
        f"Valid time runs from left to right, record time upwards, for {subject}"
        f" as recorded by {known_at}. Still held: "
    ]
    for row in held[:_DESCRIBED_MAX]:
        cell = row.belief.cells[-1]
        start, end = spans(cell.periods)[0][0], spans(cell.periods)[-1][1]
        what = row.belief.predicate or row.belief.record.kind
        period = rows.period(start and day_of(start), end and day_of(end))
        state = rows.state_words(cell.state)
        lines.append(f"{what} {ink.shortened(row.words, 400, 12)}, {state}, {period};")
    if len(held) > _DESCRIBED_MAX:
        lines.append(f"and {len(held) - _DESCRIBED_MAX} more.")
    return " ".join(lines)


def _header(
    subject: str, records: tuple[Record, ...], known_at: str, valid_time: str | None
) -> str:
    asked = f" · valid time {valid_time} marked" if valid_time else ""
    count = f"{len(records)} record{'s' if len(records) != 1 else ''}"
    words = f"{subject} · {count} · as known at {known_at}{asked}"
    return label(20, 62, words, size=12, tone="quiet")


# -- the legend --------------------------------------------------------------------------------


def _legend() -> str:
    return "".join([*_swatches(88), *_directions(120)])


def _swatches(y: float) -> Iterator[str]:
    x = 20.0
    for state in ink.STATES:
        words = rows.state_words(state)
        yield box(x, y, 26, 16, f'fill="url(#p-{state})" {stroke("grid")}')
        yield label(x + 33, y + 12.5, words, size=12)
        x += 33 + ink.width_of(words, 12) + 22
    yield box(x, y, 26, 16, f'fill="url(#p-verified)" {stroke("grid")}')
    yield box(x, y, 26, 16, 'fill="url(#p-contested)"')
    yield label(x + 33, y + 12.5, "contested", size=12)
    x += 33 + ink.width_of("contested", 12) + 22
    yield box(x, y + 4, 26, 12, f'fill="url(#p-unverified)" {stroke("grid")}')
    yield ink.path([f"M{number(x)} {number(y + 4)}h26"], f'{stroke("ink")} stroke-width="3"')
    yield label(x + 33, y + 12.5, "no longer held", size=12)
    x += 33 + ink.width_of("no longer held", 12) + 22
    yield box(x, y, 26, 16, f'fill="url(#p-unverified)" {stroke("grid")}')
    yield box(x + 8, y - 1, 19, 18, 'fill="url(#fade-out)"')
    yield label(x + 33, y + 12.5, "no bound", size=12)


def _directions(y: float) -> Iterator[str]:
    """Which way the two times run."""
    arrow = f'{stroke("quiet")} stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"'
    words = "valid time, brief spans widened"
    yield label(LEFT, y + 10, words, size=12, tone="quiet")
    x = LEFT + 12 + ink.width_of(words, 12)
    yield ink.path([f"M{number(x)} {number(y + 6)}h34m-5 -4l5 4l-5 4"], arrow)
    words = "record time, a step for each recording"
    yield label(RIGHT + 18, y + 10, words, size=12, tone="quiet")
    yield ink.path([f"M{number(RIGHT + 6)} {number(y + 12)}v-15m-4 5l4 -5l4 5"], arrow)
