"""Credentials of people: what a person signs in with, beside their row as a user (D20).

Rule 1: a person signs in by a handle, unique in the installation and compared without case or form.
Rule 2: of a password only its hash is stored; of a passkey its public key.
Rule 3: what a person may do in a workspace says their membership, read anew at each request.
"""

import string
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import Final

from attrs import field, frozen

from svc_core.access.model import MEMBERS, Membership
from svc_core.contract import problem
from svc_core.operation.context import Context, scan_values
from svc_core.operation.ports import Collection
from svc_core.wire import InputFault

HANDLE_MIN = 2
HANDLE_MAX = 64
"""A mail address may be a handle; of a hundred addresses fewer than one is longer."""
SIGNS: Final = frozenset(string.digits + "._-@+")
"""What a handle may have beside letters of one script: those of two can look like one."""
RESERVED: Final = frozenset({"operator", "svc"})
"""Names by which the audit log and the pages mean the service itself."""
PASSKEYS_MAX = 20
"""Passkeys of one person: a few devices and their spares."""
MEMBERSHIPS_MAX = 100
"""Workspaces of one person that are read at each request."""


@frozen
class Passkey:
    """A public key of one device; `id` and `public_key` are base64url, as browsers send them."""

    id: str
    public_key: str
    sign_count: int
    name: str
    created_at: datetime


@frozen(kw_only=True)
class Credential:
    """What one person signs in with; stored under the id of the user.

    `password` is a PHC string, None for who has no password. An operator is one of the
    installation: with a membership it gives them what belongs to no workspace.
    """

    id: str
    handle: str
    created_at: datetime
    is_operator: bool = False
    password: str | None = field(default=None, repr=False)
    password_changed_at: datetime | None = None
    passkeys: tuple[Passkey, ...] = ()


def fold_handle(handle: str) -> str:
    """The form in which handles are compared: without case, and one for equal looks (NFKC)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", handle).casefold())


CREDENTIALS: Collection[Credential] = Collection(
    name="credentials",
    model=Credential,
    prefix="",
    scope="system",
    keys={"handle": lambda credential: fold_handle(credential.handle)},
    facets={"passkey": lambda credential: [passkey.id for passkey in credential.passkeys]},
)


def handle_faults(handle: str) -> Iterable[InputFault]:
    """What is wrong with a new handle."""
    letters = set(fold_handle(handle)) - SIGNS
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    if not _is_word(handle):
        size = f"{HANDLE_MIN} to {HANDLE_MAX}"
        yield InputFault("/handle", f"must be {size} printable characters without spaces")
    elif len(scripts) > 1 or any(unicodedata.category(letter)[0] not in "LM" for letter in letters):
        yield InputFault("/handle", "must have letters of one script, digits and . _ - @ + alone")
    elif fold_handle(handle) in RESERVED:
        yield InputFault("/handle", "is a name of the service itself; choose another")


def _is_word(handle: str) -> bool:
    is_word = handle.isprintable() and not any(map(str.isspace, handle))
    return is_word and len(handle) >= HANDLE_MIN and len(fold_handle(handle)) <= HANDLE_MAX


async def find_credential(ctx: Context, handle: str) -> Credential | None:
    """The credential with this handle, however it is written."""
    if not _is_word(handle):
        return None
    rows = await scan_values(ctx, CREDENTIALS, where={"handle": (fold_handle(handle),)}, limit=1)
    return rows[0] if rows else None


async def is_unclaimed(ctx: Context) -> bool:
    """Whether nobody can sign in yet, so that the first one who does becomes the operator."""
    return not await scan_values(ctx, CREDENTIALS, limit=1)


async def memberships_of(ctx: Context, user_id: str) -> tuple[Membership, ...]:
    """The memberships of a person."""
    where = {"user_id": (user_id,)}
    return tuple(await scan_values(ctx, MEMBERS, where=where, limit=MEMBERSHIPS_MAX))


def role_version(credential: Credential, memberships: Iterable[Membership]) -> str:
    """A digest that changes with every role of a person, and with nothing else."""
    roles = sorted(f"{member.workspace_id} {member.role}" for member in memberships)
    return sha256("\n".join([str(credential.is_operator), *roles]).encode()).hexdigest()[:16]


async def create_credential(
    ctx: Context, user_id: str, handle: str, *, is_operator: bool = False
) -> Credential:
    """The credential of a person who has none yet; how they sign in is added to it.

    Raises:
        Problem: VALIDATION_FAILED, or RESOURCE_CONFLICT when the handle or the person has one.
    """
    problem.refuse(list(handle_faults(handle)))
    if await find_credential(ctx, handle) is not None:
        raise problem.conflict(
            "/handle: another person signs in by it",
            "Choose another handle, or sign in first and follow the link then.",
        )
    credential = Credential(id=user_id, handle=handle, created_at=ctx.now, is_operator=is_operator)
    await ctx.create(CREDENTIALS, user_id, credential)
    return credential
