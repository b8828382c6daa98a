"""`svc ledger`: what is recorded of subjects, and the sealed log behind it."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from svc_http.cli import show
from svc_http.cli.options import Common, Workspace
from svc_http.cli.reach import call

app = App(
    name="ledger",
    help="The ledger: sealed records about subjects, folded at two times, verifiable by anyone.",
)

_HERE = "svc_http.cli"
for _name, _target, _help in (
    (
        "append",
        "appends:append",
        "Append records from a file or stdin.\n\n"
        "A hundred are appended at a time, all of them or none. The same input may be given again, "
        "even if it has grown since: what was already appended is skipped. Each object has the "
        "members of POST /ledger/records.",
    ),
    (
        "fold",
        "folds:fold",
        "Show a subject as known at one time, for what held at another.\n\n"
        "Contradictory claims stand side by side, ranked by their verification. The size at the "
        "end repeats the answer exactly.",
    ),
    ("history", "folds:history", "List the records about a subject."),
    ("picture", "renditions:picture", "Draw what was believed about a subject, and when."),
    ("stix", "renditions:stix", "Export a subject as a STIX 2.1 bundle."),
    (
        "export",
        "transfer:export",
        "Write the sealed lines to a file.\n\n"
        "Byte for byte, so that anyone can verify them; the file is there whole or not at all. "
        "With --json the lines go to FILE and the counts to stdout.",
    ),
    (
        "import",
        "transfer:import_",
        "Import an export as the ledger of a workspace.\n\n"
        "The workspace's ledger must be empty, or be the beginning of what is imported. Everything "
        "is verified strictly before anything is stored; all of it is stored, or nothing.",
    ),
    (
        "verify",
        "verify:verify",
        "Verify an export; needs no server and no database.\n\n"
        "It exits with 0 when the file is sound, 1 when it is not and 2 when it could not be read, "
        "and names the first line that is wrong and what was done to it.",
    ),
):
    app.command(f"{_HERE}.{_target}", name=_name, help=_help)

Author = Annotated[str | None, Parameter(help="Who it is recorded for: a key_... or usr_...")]
Size = Annotated[int | None, Parameter(help="As of this many records. Default: all.")]
ValidFrom = Annotated[str | None, Parameter(help="RFC 3339: when it begins to hold.")]
ValidTo = Annotated[str | None, Parameter(help="RFC 3339: when it no longer holds.")]
RECEIPT_STEP = "Keep the receipt: it proves any later cut or rewriting of the ledger."


@app.command(name="open")
def open_(
    *,
    type_: Annotated[
        str, Parameter(name="--type", help="organization, person, vessel, topic, ... or other.")
    ],
    label: Annotated[str, Parameter(help="Display name.")],
    description: Annotated[str | None, Parameter(help="A description in words.")] = None,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    workspace: Workspace = None,
    author: Author = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Open a subject and print its id."""
    given = {
        "type": type_,
        "label": label,
        "description": description,
        "validFrom": valid_from,
        "validTo": valid_to,
    }
    subject = {name: value for name, value in given.items() if value is not None}
    asked = {"subject": subject, "workspace": workspace, "author": author}
    made: Any = call(common, "ledger open", asked)
    if common.json:
        show.as_json(made)
        return
    show.members({"id": made["id"], "label": label, "type": type_, "seq": made["seq"]})
    show.lines("", f"Add records about it: svc ledger append FILE, with subject {made['id']}")


@app.command
def subjects(
    *,
    designator: Annotated[
        str | None, Parameter(help="Only those that ever had this one: SCHEME:VALUE.")
    ] = None,
    limit: Annotated[int, Parameter(help="Show at most this many.")] = 100,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """List subjects, newest first."""
    asked = {"designator": designator, "limit": limit, "workspace": workspace}
    found: Any = call(common, "ledger subjects", asked)
    if common.json:
        show.as_json(found)
        return
    empty = "No subjects yet. Open one: svc ledger open --type TYPE --label LABEL"
    show.table(found, ("id", "type", "label", "openedAt", "author"), empty)


@app.command
def key(
    *,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Print the key that verifies the ledger's checkpoints (a C2SP vkey)."""
    found: Any = call(common, "ledger checkpoint", {"workspace": workspace})
    if common.json:
        origin = found["vkey"].partition("+")[0]
        show.as_json({"ledger": found["ledger"], "origin": origin, "vkey": found["vkey"]})
        return
    show.lines(found["vkey"])


@app.command
def checkpoint(
    *,
    size: Size = None,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Print the ledger's signed checkpoint. Kept elsewhere, it exposes any later tampering."""
    found: Any = call(common, "ledger checkpoint", {"size": size, "workspace": workspace})
    if common.json:
        show.as_json(found)
        return
    show.lines(found["checkpoint"].removesuffix("\n"))


@app.command
def prove(
    record_id: Annotated[str, Parameter(help="The id of the record.")],
    *,
    size: Size = None,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Print a record's receipt (tlog-proof), the proof that it is in the signed ledger."""
    asked = {"recordId": record_id, "size": size, "workspace": workspace}
    found: Any = call(common, "ledger prove", asked)
    if common.json:
        show.as_json(found)
        return
    show.lines(found["receipt"].removesuffix("\n"))


@app.command
def erase(
    record_id: Annotated[str, Parameter(help="The id of the record.")],
    *,
    reason: Annotated[str, Parameter(help="Why, in words that repeat nothing of the content.")],
    legal_basis: Annotated[str | None, Parameter(help="The law or order that demands it.")] = None,
    workspace: Workspace = None,
    author: Author = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Erase the content of a record for good, where allow_erasure allows it.

    The record stays in the log without its content, and everything still verifies. Backups and
    exports that were made before keep what they held.
    """
    asked = {
        "recordId": record_id,
        "reason": reason,
        "legalBasis": legal_basis,
        "workspace": workspace,
        "author": author,
    }
    made: Any = call(common, "ledger erase", asked)
    if common.json:
        show.as_json(made)
        return
    show.lines(f"Erased the content of {record_id}; {made['id']} says so, as number {made['seq']}.")
