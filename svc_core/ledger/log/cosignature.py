"""Verifies cosignatures: witnesses' signatures over a checkpoint (C2SP tlog-cosignature).

Rule 1: a cosignature states a time. Ed25519 signs it with the checkpoint's text, ML-DSA-44 with
        its size and root; both are lines of the same note.
Rule 2: ML-DSA-44 is verified where the installed cryptography can; elsewhere such a line counts as
        one by an unknown key, which is to be ignored.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

from svc_core.ledger.log.checkpoint import Checkpoint
from svc_core.ledger.log.note import (
    ED25519_COSIGNATURE,
    ML_DSA_44_COSIGNATURE,
    NoteError,
    Signature,
    SignedNote,
    VerifierKey,
    verify_ed25519,
)

TIME_MAX: Final = 2**63 - 1
_TIME_BYTES: Final = 8
_NAME_BYTES_MAX: Final = 255
_MODULE: Final = "cryptography.hazmat.primitives.asymmetric.mldsa"

_mldsa: Any = import_module(_MODULE) if find_spec(_MODULE) else None


def cosigners(note: SignedNote, keys: Iterable[VerifierKey]) -> dict[VerifierKey, int]:
    """Return the keys that cosigned the checkpoint, each with its latest time (Unix seconds).

    Raises:
        NoteError: the note holds no checkpoint, or a cosignature by one of `keys` is false.
    """
    checkpoint = Checkpoint.parse(note.text)
    times: dict[VerifierKey, int] = {}
    for key in keys:
        if not _can_verify(key):
            continue
        for signature in note.signatures_of(key):
            time = _verified_time(key, signature, note.text, checkpoint)
            times[key] = max(time, times.get(key, 0))
    return times


def _can_verify(key: VerifierKey) -> bool:
    if key.algorithm == ML_DSA_44_COSIGNATURE:
        return _mldsa is not None
    return key.algorithm == ED25519_COSIGNATURE


def _verified_time(
    key: VerifierKey, signature: Signature, text: str, checkpoint: Checkpoint
) -> int:
    time = int.from_bytes(signature.blob[:_TIME_BYTES], "big")
    rest = signature.blob[_TIME_BYTES:]
    if time > TIME_MAX:
        raise NoteError("A cosignature's time is from 0 to 2^63-1.")
    if key.algorithm == ED25519_COSIGNATURE:
        verify_ed25519(key.public, rest, _ed25519_message(text, time))
    else:
        _verify_ml_dsa(key.public, rest, _ml_dsa_message(key.name, checkpoint, time))
    return time


def _ed25519_message(text: str, time: int) -> bytes:
    return f"cosignature/v1\ntime {time}\n{text}".encode()


def _ml_dsa_message(name: str, checkpoint: Checkpoint, time: int) -> bytes:
    return b"".join(
        (
            b"subtree/v1\n\0",
            _short(name),
            time.to_bytes(_TIME_BYTES, "big"),
            _short(checkpoint.origin),
            bytes(_TIME_BYTES),
            checkpoint.size.to_bytes(_TIME_BYTES, "big"),
            checkpoint.root,
        )
    )


def _short(text: str) -> bytes:
    data = text.encode()
    if len(data) > _NAME_BYTES_MAX:
        raise NoteError(f"ML-DSA-44 cosigns names of at most {_NAME_BYTES_MAX} bytes.")
    return bytes([len(data)]) + data


def _verify_ml_dsa(public: bytes, signature: bytes, message: bytes) -> None:
    try:
        _mldsa.MLDSA44PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        raise NoteError("A cosignature by a known key is false.") from None
