"""`svc ledger export` and `svc ledger import`: write a ledger to a file, and read one from it."""

import sys
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from svc_core.ledger.append.erasure import LogPart
from svc_core.operation.host import Progress, ProgressListener
from svc_http.run.cli import show
from svc_http.run.cli.exit_codes import UsageError
from svc_http.run.cli.files import STREAM, spooled, write_whole
from svc_http.run.cli.operation_calls import call
from svc_http.run.cli.options import COMMON, Common, Workspace
from svc_http.run.cli.show import bar
from svc_http.run.control.channel import OperationRefused


def export_command(
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
    from_size: Annotated[
        int, Parameter(help="Leave out this many records, the oldest: what follows is a part.")
    ] = 0,
    checkpoint: Annotated[
        Path | None, Parameter(help="Where to write the signed checkpoint of what is exported.")
    ] = None,
    workspace: Workspace = None,
    common: Common = COMMON,
) -> None:
    """Write the sealed lines to a file.

    They are written byte for byte, so that anyone can verify them; the file appears whole or not at
    all. With --json the lines go to FILE and the counts to stdout.
    """
    if common.json and file == STREAM:
        raise UsageError("--json prints one value, so the lines need a FILE")
    part = LogPart(from_size)
    with bar("ledger export") as tell:
        pages = _pages(common, workspace, size, part, tell)
        if file == STREAM:
            sys.stdout.flush()
            for page in pages:
                sys.stdout.buffer.write(page)
        else:
            write_whole(Path(file), pages)
    # The head of exactly what was written, also where the ledger grew in the meantime.
    head = call(common, "getLedgerHead", body={"size": part.size}, account=workspace)
    if checkpoint is not None:
        write_whole(checkpoint, [head["checkpoint"].encode()])
    warnings = [
        f"Records without content that were erased after --size: {len(part.erased)}. Nothing in "
        "the part says so, so verifying it finds PAYLOAD_MISSING; verify an export of the whole "
        "ledger."
    ][: len(part.erased)]
    if file == STREAM:
        sys.stderr.write("".join(f"{line}\n" for line in warnings))
    elif common.json:
        summary = {name: head[name] for name in ("ledger", "size", "rootHash", "vkey")}
        show.as_json({"file": file, "from": from_size, **summary, "erasedLater": len(part.erased)})
    else:
        option = f" --checkpoint {checkpoint}" if checkpoint else ""
        next_step = f"Verify it: svc ledger verify {file}{option} --key {head['vkey']}"
        if from_size:
            next_step = f"Import it where the {from_size} records before it are: svc ledger import"
        count = part.size - from_size
        show.print_lines(
            f"Exported {count} records of {head['ledger']} to {file}.", next_step, *warnings
        )


def _pages(
    common: Common, workspace: str | None, size: int | None, part: LogPart, tell: ProgressListener
) -> Iterator[bytes]:
    """Pages of lines, taken into `part`.

    Without a size the ledger is read to its end as it is when that is reached, so that whatever
    was erased in the meantime comes with the record that erases it.
    """
    body = {} if size is None else {"size": size}
    while True:
        page = call(common, "readLines", body={**body, "start": part.size}, account=workspace)
        lines = b64decode(page["lines"])
        part.take(lines.split(b"\n")[:-1])
        yield lines
        if part.size >= page["size"]:
            return
        tell(Progress(part.size, page["size"], "records"))


def import_command(
    file: Annotated[str, Parameter(help="The export, plain or gzip; - is stdin.")],
    *,
    workspace: Workspace = None,
    common: Common = COMMON,
) -> None:
    """Import an export as the ledger of a workspace, under its own identifier.

    The ledger of the workspace must be empty, be the beginning of the export, or end where a part
    of an export begins. Everything is verified strictly before anything is stored. To continue an
    import that was interrupted, repeat it.
    """
    with spooled(file) as path:
        if not path.is_file():
            why = "is not a file" if path.exists() else "is not there"
            raise UsageError(f"{file} {why}")
        try:
            body = {"path": str(path.absolute())}
            reply = call(common, "importLedger", body=body, account=workspace)
        except OperationRefused as refusal:
            detail = str(refusal).removeprefix("/path: ").replace("verify FILE", f"verify {file}")
            raise refusal.saying(detail) from refusal
    if common.json:
        show.as_json(reply)
        return
    show.print_lines(
        f"Imported {reply['imported']} records of {reply['ledger']}, which now has {reply['size']}."
    )
    if reply["alsoIn"]:
        show.print_lines(
            f"{', '.join(reply['alsoIn'])} has the same ledger. What is appended to one is not in "
            "the other; each signs its checkpoints under a name of its own (svc ledger key)."
        )
