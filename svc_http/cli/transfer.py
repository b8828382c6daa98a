"""`svc ledger export` and `svc ledger import`: sealed lines out of a ledger, and into one."""

import gzip
import os
import sys
from base64 import b64decode
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Annotated, Any

from cyclopts import Parameter

from svc_core.ledger.append.erasure import Part
from svc_http.cli import show
from svc_http.cli.failures import Refusal, Usage
from svc_http.cli.options import Common, Workspace
from svc_http.cli.reach import call
from svc_http.cli.show import Bar
from svc_http.cli.streams import STREAM, named
from svc_http.commands.progress import Progress

BAR_FROM = 10_000
"""Records from which on a bar is worth showing: fewer are there at once."""


def export(
    file: Annotated[
        str,
        Parameter(
            show_default=False,
            help="The file to write, gzipped if it ends in .gz. Default: stdout, as is -.",
        ),
    ] = STREAM,
    *,
    size: Annotated[
        int | None, Parameter(help="Export only this many records, the oldest.")
    ] = None,
    checkpoint: Annotated[
        Path | None, Parameter(help="Where to write the signed checkpoint of what is exported.")
    ] = None,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Export the sealed lines, byte for byte: a file that anyone can verify."""
    if common.json and file == STREAM:
        raise Usage("--json prints one value, so the lines need a FILE")
    exported = _Pages(common, workspace, size)
    with Bar("ledger export") as bar:
        pages = exported.read(bar)
        if file == STREAM:
            sys.stdout.flush()
            for page in pages:
                sys.stdout.buffer.write(page)
        else:
            write_whole(Path(file), pages)
    # The head of exactly what was written, also where the ledger grew in the meantime.
    asked = {"workspace": workspace, "size": exported.size}
    head: Any = call(common, "ledger checkpoint", asked)
    if checkpoint is not None:
        write_whole(checkpoint, [head["checkpoint"].encode()])
    later = len(exported.part.erased)
    if file == STREAM:
        sys.stderr.write("".join(f"{line}\n" for line in _erased_later(later)))
        return
    if common.json:
        shown = {name: head[name] for name in ("ledger", "size", "rootHash", "vkey")}
        show.as_json({"file": file, **shown, "erasedLater": later})
        return
    kept = f" --checkpoint {checkpoint}" if checkpoint else ""
    show.lines(f"Exported {head['size']} records of {head['ledger']} to {file}.")
    show.lines(f"Verify it: svc ledger verify {file}{kept} --key {head['vkey']}")
    show.lines(*_erased_later(later))


def _erased_later(count: int) -> Iterator[str]:
    if count:
        yield (
            f"Records without content that were erased after --size: {count}. Nothing in the part "
            "says so, so verifying it finds PAYLOAD_MISSING; verify an export of the whole ledger."
        )


class _Pages:
    """Pages of lines; `size` is how many records they hold once all were read, `part` which.

    Without a size the ledger is read to its end as it is when that is reached, so that whatever
    was erased in the meantime comes with the record that erases it.
    """

    def __init__(self, common: Common, workspace: str | None, size: int | None) -> None:
        self.size = 0
        self.part = Part()
        self._common = common
        self._asked: dict[str, Any] = {"workspace": workspace, "size": size}

    def read(self, bar: Bar) -> Iterator[bytes]:
        """The pages, from the first record on."""
        while True:
            asked = self._asked | {"start": self.size}
            page: Any = call(self._common, "ledger export", asked)
            lines = b64decode(page["lines"])
            self.part.take(lines.split(b"\n"))
            yield lines
            self.size = page["next"]
            if self.size >= page["size"]:
                return
            if page["size"] >= BAR_FROM:
                bar.tell(Progress(self.size, page["size"], "records"))


def write_whole(path: Path, pages: Iterable[bytes]) -> None:
    """Write a file whole or not at all; one whose name ends in .gz is packed.

    Raises:
        Usage: it cannot be written.
    """
    fresh = path.with_name(f"{path.name}.new")
    try:
        with fresh.open("wb") as raw:
            with _packed(raw, path) as target:
                for page in pages:
                    target.write(page)
            raw.flush()
            os.fsync(raw.fileno())
        fresh.replace(path)
    except OSError as refused:
        raise Usage(f"{path} cannot be written: {refused.strerror}") from refused
    finally:
        fresh.unlink(missing_ok=True)


def _packed(raw: IO[bytes], path: Path) -> IO[bytes]:
    if path.suffix != ".gz":
        return os.fdopen(os.dup(raw.fileno()), "wb")
    # Without a time or a name, so that the same lines make the same file.
    return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)  # type: ignore[return-value]


def import_(
    file: Annotated[str, Parameter(help="The export, plain or gzip; - is stdin.")],
    *,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Import an export as the ledger of a workspace, byte for byte, under its own identifier."""
    with named(file) as path:
        if not path.is_file():
            raise Usage(f"there is no file {file}")
        asked = {"path": str(path.absolute()), "workspace": workspace}
        try:
            done: Any = call(common, "ledger import", asked)
        except Refusal as refused:
            raise _said(refused, file) from refused
    if common.json:
        show.as_json(done)
        return
    show.lines(
        f"Imported {done['imported']} records of {done['ledger']}, which now has {done['size']}."
    )
    if done["alsoIn"]:
        show.lines(
            f"{', '.join(done['alsoIn'])} goes on as the same ledger. Append to one of them only: "
            "two logs that part are signed under one name, and neither can be trusted then."
        )


def _said(refused: Refusal, file: str) -> Refusal:
    detail = str(refused.problem["detail"]).removeprefix("/path: ")
    detail = detail.replace("svc ledger verify FILE", f"svc ledger verify {file}")
    return Refusal({**refused.problem, "detail": detail}, as_json=refused.as_json)
