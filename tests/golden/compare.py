"""The golden files beside what the public face says now: what differs, and writing them anew."""

import difflib
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

FILES = Path(__file__).parent / "files"
COMMAND = "python -m tests.golden --write"
LINES_MAX = 40
"""Of all differences together: enough to see what changed; the rest is told by `git diff`."""

LINE_MAX = 200
"""Characters of a line that are shown."""

_HUNK = re.compile(r"^@@ -(\d+).* @@$")


def stored(part: str, folder: Path = FILES) -> dict[str, str]:
    """The golden files of a part of the face, by their path below the folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    }


def write(part: str, texts: Mapping[str, str], folder: Path = FILES) -> list[str]:
    """Make the golden files of a part be these; the names of those that are others now."""
    before = stored(part, folder)
    names = sorted(name for name in {*before, *texts} if before.get(name) != texts.get(name))
    for name in names:
        path = folder / name
        if name not in texts:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(texts[name].encode())
    return names


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """A short unified diff with the way to accept it; empty where nothing differs."""
    lines: list[str] = []
    differing = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    for name in differing:
        if len(lines) < LINES_MAX:
            lines += _unified_diff(name, before.get(name), after.get(name))
    if not lines:
        return ""
    left_out = ["..."] if len(lines) > LINES_MAX else []
    names = ", ".join(differing[:10]) + (", ..." if len(differing) > 10 else "")
    return "\n".join(
        (
            f"the public face is not what its golden files say ({len(differing)}: {names})",
            "",
            *lines[:LINES_MAX],
            *left_out,
            "",
            f"If that is meant: {COMMAND}, and commit what git diff shows.",
        )
    )


def _unified_diff(name: str, before: str | None, after: str | None) -> Iterator[str]:
    if before is None or after is None:
        yield f"--- {name if after is None else 'nothing'}"
        yield f"+++ {name if before is None else 'nothing'}"
        return
    old, new = before.split("\n"), after.split("\n")
    start = _shared_count(old, new)
    # What is the same on both ends is no work for the comparison, which is a slow one.
    end = _shared_count(old[start:][::-1], new[start:][::-1])
    first = max(0, start - 3)
    parts = (lines[first : len(lines) - max(0, end - 3)] for lines in (old, new))
    lines = list(difflib.unified_diff(*parts, name, name, n=3, lineterm=""))
    # Lines are counted from the top of the file, not of the part that was compared.
    lines = [_HUNK.sub(lambda at: f"@@ line {first + int(at[1])} @@", line) for line in lines]
    for _, run in groupby(lines, lambda line: line[:1] in {"-", "+"}):
        lines_of_run = list(run)
        removals = [line for line in lines_of_run if line.startswith("-")]
        additions = [line for line in lines_of_run if line.startswith("+")]
        counterparts = dict(zip(removals, additions, strict=False)) | dict(
            zip(additions, removals, strict=False)
        )
        yield from (_clip(line, counterparts.get(line, "")) for line in lines_of_run)


def _clip(line: str, counterpart: str) -> str:
    """A line that is not too long to read; one that stands for another, from where they part."""
    if len(line) <= LINE_MAX:
        return line
    shared = _shared_count(list(line[1:]), list(counterpart[1:]))
    start = max(1, shared - LINE_MAX // 4) if shared else 1
    end = start + LINE_MAX
    return f"{line[:1]}{'...' * (start > 1)}{line[start:end]}{'...' * (end < len(line))}"


def _shared_count(left: list[str], right: list[str]) -> int:
    """How many entries both begin with."""
    pairs = zip(left, right, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
