"""Witness policies: which logs and how many witnesses must sign a checkpoint (C2SP tlog-policy).

Rule 1: a policy is data: keys by name, groups with a threshold, and the one quorum.
Rule 2: lines refer to earlier ones only, and each name is a member once, so that no witness counts
        twice and no group holds itself.
Rule 3: names are octets, compared as such; nothing is normalised.
"""

import re
from collections.abc import Collection, Mapping
from typing import Final, NamedTuple, Self

from attrs import frozen

from svc_core.ledger.log.checkpoint import Checkpoint
from svc_core.ledger.log.cosignature import cosigners
from svc_core.ledger.log.note import (
    ED25519,
    ED25519_COSIGNATURE,
    ML_DSA_44_COSIGNATURE,
    NoteError,
    SignedNote,
    VerifierKey,
    parse_note,
    signers,
)

POLICY_BYTES_MAX: Final = 262_144
"""Room for 32 logs and 32 witnesses with keys of 1,312 bytes, twice over."""
NONE: Final = "none"

_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")
_THRESHOLD = re.compile(r"[1-9][0-9]{0,4}")


class PolicyError(ValueError):
    """A text is not a valid policy, or a checkpoint does not satisfy the policy."""


class Group(NamedTuple):
    """A set of witnesses or groups, of which `threshold` must cosign a checkpoint."""

    threshold: int
    members: tuple[str, ...]


class WitnessedCheckpoint(NamedTuple):
    """A checkpoint that satisfies a policy, with the Unix time of each witness's cosignature."""

    checkpoint: Checkpoint
    times: Mapping[str, int]


@frozen
class Policy:
    """The trusted logs, the witnesses by name, the groups in order of definition, the quorum."""

    logs: tuple[VerifierKey, ...]
    witnesses: Mapping[str, VerifierKey]
    groups: Mapping[str, Group]
    quorum: str

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """Parse a policy file.

        Raises:
            PolicyError: the file is invalid; the message names the line.
        """
        reader = _Reader()
        for number, words in enumerate(_lines(text), 1):
            try:
                reader.read(words)
            except (PolicyError, NoteError) as error:
                raise PolicyError(f"line {number}: {error}") from error
        if reader.quorum is None:
            raise PolicyError("A policy has a quorum line.")
        return cls(tuple(reader.logs), reader.witnesses, reader.groups, reader.quorum)

    def is_met_by(self, witnesses: Collection[str]) -> bool:
        """Whether cosignatures by these witnesses satisfy the quorum."""
        satisfied_names = {NONE} | (set(witnesses) & self.witnesses.keys())
        for name, group in self.groups.items():
            if len(satisfied_names.intersection(group.members)) >= group.threshold:
                satisfied_names.add(name)
        return self.quorum in satisfied_names

    def judge(self, note_text: str) -> WitnessedCheckpoint:
        """Return the checkpoint in a note, after checking that log and quorum signed it.

        Raises:
            PolicyError: no log of the policy has signed it, or too few witnesses have.
            NoteError: it holds no checkpoint, or a signature by a known key is false.
        """
        note = parse_note(note_text)
        checkpoint = Checkpoint.parse(note.text)
        if not self._is_logged(note, checkpoint):
            raise PolicyError("No log of the policy has signed the checkpoint.")
        names = {key: name for name, key in self.witnesses.items()}
        times = {names[key]: time for key, time in cosigners(note, names).items()}
        if not self.is_met_by(times):
            raise PolicyError("Fewer witnesses have cosigned than the quorum demands.")
        return WitnessedCheckpoint(checkpoint, times)

    def _is_logged(self, note: SignedNote, checkpoint: Checkpoint) -> bool:
        # A key's name must be the origin, or one log could sign for another.
        keys = [key for key in self.logs if key.name == checkpoint.origin]
        return bool(signers(note, keys) or cosigners(note, keys))


def _lines(text: bytes) -> list[list[str]]:
    if len(text) > POLICY_BYTES_MAX:
        raise PolicyError(f"A policy has at most {POLICY_BYTES_MAX} bytes.")
    if _FORBIDDEN.search(text):
        raise PolicyError("A policy holds no control character but tab and line feed.")
    if not text.endswith(b"\n"):
        raise PolicyError("Each line of a policy ends with a line feed.")
    rows = text[:-1].decode("utf-8", "surrogateescape").split("\n")
    return [[word for word in re.split("[ \t]+", row) if word] for row in rows]


class _Reader:
    """The definitions of a policy file, collected line by line."""

    def __init__(self) -> None:
        self.logs: list[VerifierKey] = []
        self.witnesses: dict[str, VerifierKey] = {}
        self.groups: dict[str, Group] = {}
        self.quorum: str | None = None
        self._members: set[str] = set()

    def read(self, words: list[str]) -> None:
        match words:
            case []:
                pass
            case [word, *_] if word.startswith("#"):
                pass
            case ["log", vkey] | ["log", vkey, _]:
                key = _key(vkey, ED25519)
                _refuse_twin(key, self.logs)
                self.logs.append(key)
            case ["witness", name, vkey] | ["witness", name, vkey, _]:
                key = _key(vkey, ED25519_COSIGNATURE)
                _refuse_twin(key, self.witnesses.values())
                self._refuse_taken(name)
                self.witnesses[name] = key
            case ["group", name, count, member, *members]:
                self._group(name, count, (member, *members))
            case ["quorum", name]:
                self._set_quorum(name)
            case [("log" | "witness" | "group" | "quorum") as word, *_]:
                raise PolicyError(f"A {word} line has another number of words.")
            case _:
                raise PolicyError("A line defines a log, a witness, a group or the quorum.")

    def _group(self, name: str, count: str, members: tuple[str, ...]) -> None:
        self._refuse_taken(name)
        for member in members:
            if not self._is_defined(member):
                raise PolicyError("A member of a group is defined on an earlier line.")
            if member in self._members:
                raise PolicyError("A name is a member once.")
            self._members.add(member)
        self.groups[name] = Group(_threshold(count, len(members)), members)

    def _set_quorum(self, name: str) -> None:
        if self.quorum is not None:
            raise PolicyError("A policy has one quorum line.")
        if name != NONE and not self._is_defined(name):
            raise PolicyError("The quorum is defined on an earlier line.")
        self.quorum = name

    def _is_defined(self, name: str) -> bool:
        return name in self.witnesses or name in self.groups

    def _refuse_taken(self, name: str) -> None:
        if name == NONE or self._is_defined(name):
            raise PolicyError("A name is defined once.")


def _key(vkey: str, algorithm: int) -> VerifierKey:
    key = VerifierKey.parse(vkey)
    if key.algorithm not in (algorithm, ML_DSA_44_COSIGNATURE):
        raise PolicyError("The key is of an algorithm for another purpose.")
    return key


def _refuse_twin(key: VerifierKey, keys: Collection[VerifierKey]) -> None:
    # "Two vkeys are considered duplicate if they wrap the same underlying public key".
    if any(key.public == earlier.public for earlier in keys):
        raise PolicyError("The public key stands on an earlier line.")


def _threshold(count: str, members: int) -> int:
    if count in ("all", "any"):
        return members if count == "all" else 1
    if not _THRESHOLD.fullmatch(count) or int(count) > members:
        raise PolicyError("A threshold is all, any, or a number from 1 to that of the members.")
    return int(count)
