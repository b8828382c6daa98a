"""Passkeys of people (Web Authentication, Level 3): registered, and signed in with.

Rule 1: a challenge is sealed by this service for one purpose and five minutes, so that asking for
        one stores nothing; its digest is stored once it is answered, so that it does only once.
Rule 2: a passkey is of one host name, so it is offered under https or on this machine alone, and
        not where the address is a number.
"""

import json
from base64 import urlsafe_b64decode
from ipaddress import ip_address
from typing import Final, Protocol
from urllib.parse import urlsplit

import attrs
from attrs import field, frozen

from svc_core.access.one_use_links import LIFETIMES, LINKS, store_link
from svc_core.access.people import CREDENTIALS, PASSKEYS_MAX, Credential, Passkey
from svc_core.access.person_sessions import token_digest
from svc_core.base.instants import micros
from svc_core.base.seals import NONCE_BYTES
from svc_core.contract import cursor, problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import CallContext
from svc_core.operation.context import Context, scan_values
from svc_core.operation.host import Host

ANSWER_MAX = 16_384
"""Characters of what an authenticator answers; an attestation has a few thousand."""


@frozen
class PasskeyHolder:
    """A person as authenticators show them: an opaque id, and the handle."""

    id: str
    handle: str


@frozen
class PasskeyAnswer:
    """What a browser answers to a challenge, as JSON (`PublicKeyCredential.toJSON`).

    `name` is what its person calls the passkey.
    """

    text: str = field(repr=False)
    name: str = "passkey"


class PasskeyJudge(Protocol):
    """The judge of passkeys (Web Authentication), which the extra `passkeys` brings.

    `origin` is the address of the service. What is refused is a `ValueError`.
    """

    def registration_options(self, origin: str, holder: PasskeyHolder, challenge: bytes) -> str:
        """What a browser makes a passkey by, as JSON."""

    def sign_in_options(self, origin: str, challenge: bytes) -> str:
        """What a browser signs in by, with any passkey that it has of this service, as JSON."""

    def judge_registration(
        self, origin: str, answer: str, challenge: bytes
    ) -> tuple[str, str, int]:
        """The id, the public key (both base64url) and the sign count of a new passkey.

        Raises:
            ValueError: the answer is no good.
        """

    def judge_sign_in(self, origin: str, answer: str, challenge: bytes, passkey: Passkey) -> int:
        """The new sign count of the passkey that answered.

        Raises:
            ValueError: the answer is no good.
        """


def offers_passkeys(host: Host) -> bool:
    """Whether passkeys can be used at the address of this host."""
    address = urlsplit(host.origin)
    name = address.hostname or ""
    return PasskeyJudge in host.providers and (
        name == "localhost" or (address.scheme == "https" and not _is_number(name))
    )


def _is_number(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def registration_options(ctx: CallContext, holder: PasskeyHolder) -> str:
    """What the browser of a person makes a passkey by.

    Raises:
        Problem: SERVICE_UNAVAILABLE, where passkeys are not offered.
    """
    return _judge(ctx).registration_options(ctx.host.origin, holder, _challenge(ctx, holder.id))


def sign_in_options(ctx: CallContext) -> str:
    """What a browser signs in by with a passkey.

    Raises:
        Problem: SERVICE_UNAVAILABLE, where passkeys are not offered.
    """
    return _judge(ctx).sign_in_options(ctx.host.origin, _challenge(ctx, _SIGN_IN))


async def register_passkey(
    ctx: Context, credential: Credential, answer: PasskeyAnswer, subject: str
) -> Credential:
    """The credential with a new passkey; `subject` is the id of the holder that was asked.

    Raises:
        Problem: VALIDATION_FAILED where the answer is no good, RESOURCE_CONFLICT where the passkey
            is another person's, or one too many.
    """
    if len(credential.passkeys) >= PASSKEYS_MAX:
        raise problem.conflict(
            f"A person has at most {PASSKEYS_MAX} passkeys.", "Remove one first."
        )
    try:
        challenge = await _use_challenge(ctx, answer.text, subject)
        judge = _judge(ctx).judge_registration
        id_, key, count = judge(ctx.host.origin, answer.text, challenge)
    except ValueError as refusal:
        raise Problem(
            problem.VALIDATION_FAILED,
            f"/answer: {refusal}",
            resolution="Open the page again and make the passkey anew.",
        ) from refusal
    if await _holder(ctx, id_) is not None:
        raise Problem(problem.RESOURCE_CONFLICT, "This passkey is registered already.")
    passkey = Passkey(id_, key, count, answer.name, ctx.now)
    after = attrs.evolve(credential, passkeys=(*credential.passkeys, passkey))
    await ctx.save(CREDENTIALS, after.id, after)
    return after


async def judge_passkey(ctx: Context, answer: str) -> str:
    """The id of the person whose passkey signed the answer to `sign_in_options`.

    Raises:
        Problem: SIGN_IN_FAILED.
    """
    try:
        challenge = await _use_challenge(ctx, answer, _SIGN_IN)
        id_ = str(json.loads(answer)["id"])
        credential = await _holder(ctx, id_)
        if credential is None:
            raise ValueError("nobody has this passkey")
        [passkey] = (row for row in credential.passkeys if row.id == id_)
        count = _judge(ctx).judge_sign_in(ctx.host.origin, answer, challenge, passkey)
    except (ValueError, TypeError, KeyError) as refusal:
        raise Problem(
            problem.SIGN_IN_FAILED,
            "The passkey was not recognised.",
            resolution="Open the page again, or sign in with the password.",
        ) from refusal
    rows = tuple(
        attrs.evolve(row, sign_count=count) if row.id == id_ else row for row in credential.passkeys
    )
    await ctx.save(CREDENTIALS, credential.id, attrs.evolve(credential, passkeys=rows))
    return credential.id


_SIGN_IN: Final = "sign-in"
"""The subject of challenges that anybody may answer."""


def _judge(ctx: CallContext) -> PasskeyJudge:
    if not offers_passkeys(ctx.host):
        detail = "Passkeys need https or localhost, a host name, and the extra `passkeys`."
        cure = "Use a password, or install the extra on the server, as `svc doctor` tells."
        raise Problem(problem.SERVICE_UNAVAILABLE, detail, resolution=cure)
    return ctx.borrow(PasskeyJudge)


async def _holder(ctx: Context, passkey_id: str) -> Credential | None:
    rows = await scan_values(ctx, CREDENTIALS, where={"passkey": (passkey_id,)}, limit=1)
    return rows[0] if rows else None


def _binding(subject: str) -> bytes:
    return cursor.binding("", "passkey", {"subject": subject}, "")


def _challenge(ctx: CallContext, subject: str) -> bytes:
    expiry = micros(ctx.now + LIFETIMES["passkey"])
    nonce = ctx.ids.random(NONCE_BYTES)
    return cursor.seal(ctx.keyring, expiry, _binding(subject), nonce).encode()


async def _use_challenge(ctx: Context, answer: str, subject: str) -> bytes:
    """The challenge that an answer is to, which is used up with it.

    Raises:
        ValueError: it is none of ours for this subject, its time is over, or it was used.
    """
    challenge = _challenge_in(answer)
    expiry = cursor.unseal(ctx.keyring, challenge, _binding(subject))
    if expiry <= micros(ctx.now) or await ctx.find(LINKS, token_digest(challenge)) is not None:
        raise ValueError("its time is over, or it was used")
    await store_link(ctx, challenge, "passkey")
    return challenge.encode()


def _challenge_in(answer: str) -> str:
    """The challenge in the client data of an answer (Web Authentication, 5.8.1)."""
    try:
        if len(answer) > ANSWER_MAX:
            raise ValueError("it is too long")
        client_data = json.loads(_from_base64url(json.loads(answer)["response"]["clientDataJSON"]))
        return _from_base64url(client_data["challenge"]).decode("ascii")
    except (ValueError, TypeError, KeyError, RecursionError) as fault:
        raise ValueError("is not what a browser answers") from fault


def _from_base64url(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
