"""The golden files beside what the public face says now: what differs, and writing them anew."""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path

FILES = Path(__file__).parent / "files"
COMMAND = "python -m tests.golden --write"
LINES_MAX = 40
"""Of all differences together: enough to see what changed; the rest is told by `git diff`."""


def kept(part: str, folder: Path = FILES) -> dict[str, str]:
    """The golden files of a part of the face, by their path below the folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in sorted((folder / part).rglob("*"))
        if path.is_file()
    }


def write(part: str, texts: Mapping[str, str], folder: Path = FILES) -> list[str]:
    """Make the golden files of a part be these; the names of those that are others now."""
    before = kept(part, folder)
    changed = sorted(name for name in {*before, *texts} if before.get(name) != texts.get(name))
    for name in changed:
        path = folder / name
        if name not in texts:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(texts[name].encode())
    return changed


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """A short unified diff with the way to accept it; empty where nothing differs."""
    lines: list[str] = []
    differing = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    for name in differing:
        if len(lines) < LINES_MAX:
            lines += _unified(name, before.get(name), after.get(name))
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


def _unified(name: str, before: str | None, after: str | None) -> Iterator[str]:
    if before is None or after is None:
        yield f"--- {name if after is None else 'nothing'}"
        yield f"+++ {name if before is None else 'nothing'}"
        return
    old, new = before.split("\n"), after.split("\n")
    start = _shared(old, new)
    # What is the same on both ends is no work for the comparison, which is a slow one.
    end = _shared(old[start:][::-1], new[start:][::-1])
    first = max(0, start - 3)
    for line in difflib.unified_diff(
        old[first : len(old) - max(0, end - 3)],
        new[first : len(new) - max(0, end - 3)],
        name,
        name,
        n=3,
        lineterm="",
    ):
        yield f"{line[:200]}"


def _shared(one: list[str], other: list[str]) -> int:
    """How many lines both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
