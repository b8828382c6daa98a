"""Witnesses: cosignatures of both kinds, and policies over them."""

import json
from pathlib import Path

import pytest

from svc_core.ledger.log import cosignature, note
from svc_core.ledger.log.checkpoint import Checkpoint
from svc_core.ledger.log.cosignature import (
    cosigners,
)
from svc_core.ledger.log.note import (
    ED25519_COSIGNATURE,
    ML_DSA_44_COSIGNATURE,
    Ed25519Signer,
    NoteError,
    VerifierKey,
)
from svc_core.ledger.log.policy import Policy, PolicyError

VECTORS = json.loads(Path("tests/data/ledger/vectors.json").read_text("utf-8"))
NOTE_TEXT, COSIGNED_TEXT = VECTORS["checkpoints"]["8"], VECTORS["cosigned"]
LOG = VerifierKey.parse(VECTORS["logKey"]["vkey"])
LOG_SIGNER = Ed25519Signer.from_seed(bytes.fromhex(VECTORS["logKey"]["seed"]))
WITNESS = VerifierKey.parse(VECTORS["witnessKey"]["vkey"])
WITNESS_SIGNER = Ed25519Signer.from_seed(bytes.fromhex(VECTORS["witnessKey"]["seed"]))
TIME = 1_770_112_800
ML_DSA = VerifierKey(
    "witness.example/pq", bytes.fromhex(VECTORS["mldsa44"]["public"]), ML_DSA_44_COSIGNATURE
)
ML_DSA_LINE = VECTORS["mldsa44"]["line"]
needs_ml_dsa = pytest.mark.skipif(
    cosignature._mldsa is None, reason="the installed cryptography has no ML-DSA"
)


def line_of(key, data):
    return f"— {key.name} {note.to_base64(key.id + data)}\n"


# -- cosignatures ------------------------------------------------------------------------------


def cosign(text, name, signer, time):
    """The line by which a witness says that it saw a checkpoint (C2SP tlog-cosignature)."""
    key = VerifierKey(name, signer.public, ED25519_COSIGNATURE)
    message = f"cosignature/v1\ntime {time}\n{note.parse_note(text).text}".encode()
    return line_of(key, time.to_bytes(8, "big") + signer.sign(message))


def test_a_cosignature_is_that_of_the_vectors():
    assert NOTE_TEXT + cosign(NOTE_TEXT, WITNESS.name, WITNESS_SIGNER, TIME) == COSIGNED_TEXT
    assert cosigners(note.parse_note(COSIGNED_TEXT), [LOG, WITNESS]) == {WITNESS: TIME}


def test_the_latest_time_of_a_witness_counts():
    lines = "".join(cosign(NOTE_TEXT, WITNESS.name, WITNESS_SIGNER, time) for time in (7, 9, 8))
    assert cosigners(note.parse_note(NOTE_TEXT + lines), [WITNESS]) == {WITNESS: 9}


def test_unknown_witnesses_are_ignored():
    stranger = cosign(NOTE_TEXT, "stranger.example", LOG_SIGNER, TIME)
    assert cosigners(note.parse_note(NOTE_TEXT + stranger), [WITNESS]) == {}


@pytest.mark.parametrize("time", [0, 1, 2**63 - 1])
def test_every_time_since_1970_that_eight_bytes_hold_is_told(time):
    text = NOTE_TEXT + cosign(NOTE_TEXT, WITNESS.name, WITNESS_SIGNER, time)
    assert cosigners(note.parse_note(text), [WITNESS]) == {WITNESS: time}


def test_only_checkpoints_are_cosigned():
    poem = note.sign_note("trafitto\n", LOG.name, LOG_SIGNER)
    with pytest.raises(NoteError):
        cosigners(note.parse_note(poem), [])


BLOB = note.parse_note(COSIGNED_TEXT).signatures_of(WITNESS)[0].blob
FALSE = {
    "another time": bytes(8) + BLOB[8:],
    "a time of 2^63": (2**63).to_bytes(8, "big") + BLOB[8:],
    "another signature": BLOB[:-1] + bytes([BLOB[-1] ^ 1]),
    "no signature": BLOB[:8],
    "half a time": BLOB[:4],
    "no time": BLOB[8:],
    "the log's own": note.parse_note(NOTE_TEXT).signatures[0].blob,
}


@pytest.mark.parametrize("blob", FALSE.values(), ids=FALSE)
def test_a_false_cosignature_refuses_the_note(blob):
    with pytest.raises(NoteError):
        cosigners(note.parse_note(COSIGNED_TEXT + line_of(WITNESS, blob)), [WITNESS])


def test_a_cosignature_is_of_one_checkpoint():
    mutant = COSIGNED_TEXT.replace("\n8\n", "\n9\n")
    with pytest.raises(NoteError):
        cosigners(note.parse_note(mutant), [WITNESS])


def test_the_message_for_ml_dsa_is_that_of_the_vectors():
    checkpoint = Checkpoint.parse(note.parse_note(NOTE_TEXT).text)
    message = cosignature._ml_dsa_message(ML_DSA.name, checkpoint, TIME)
    assert message.hex() == VECTORS["mldsa44"]["message"]


@needs_ml_dsa
def test_a_cosignature_by_ml_dsa_verifies():
    note_ = note.parse_note(COSIGNED_TEXT + ML_DSA_LINE)
    assert cosigners(note_, [WITNESS, ML_DSA]) == {WITNESS: TIME, ML_DSA: TIME}


@needs_ml_dsa
def test_a_false_cosignature_by_ml_dsa_refuses_the_note():
    blob = note.parse_note(NOTE_TEXT + ML_DSA_LINE).signatures_of(ML_DSA)[0].blob
    for mutant in (bytes(8) + blob[8:], blob[:-1] + bytes([blob[-1] ^ 1]), blob[:-1]):
        with pytest.raises(NoteError, match=r"^A cosignature by a known key is false\.$"):
            cosigners(note.parse_note(NOTE_TEXT + line_of(ML_DSA, mutant)), [ML_DSA])


@needs_ml_dsa
def test_ml_dsa_cosigns_short_names_only():
    long = VerifierKey("w" * 256, ML_DSA.public, ML_DSA_44_COSIGNATURE)
    with pytest.raises(NoteError, match=r"^ML-DSA-44 cosigns names of at most 255 bytes\.$"):
        cosigners(note.parse_note(NOTE_TEXT + line_of(long, bytes(2428))), [long])


def test_without_ml_dsa_its_lines_are_those_of_an_unknown_key(monkeypatch):
    monkeypatch.setattr(cosignature, "_mldsa", None)
    note_ = note.parse_note(COSIGNED_TEXT + ML_DSA_LINE)
    assert cosigners(note_, [WITNESS, ML_DSA]) == {WITNESS: TIME}


# -- policies ----------------------------------------------------------------------------------


def key_of(number):
    return Ed25519Signer.from_seed(bytes([number]) * 32)


def witness(name, number):
    return VerifierKey(f"w.example/{name}", key_of(number).public, ED25519_COSIGNATURE)


X1, X2, X3 = (witness(f"x{number}", number) for number in (1, 2, 3))
Y1, Y2, Y3 = (witness(f"y{number}", number + 3) for number in (1, 2, 3))
WITNESSES = {"X1": X1, "X2": X2, "X3": X3, "Y1": Y1, "Y2": Y2, "Y3": Y3}
SEEDS = dict(zip(WITNESSES, range(1, 7), strict=True))
# The example of the format, with keys.
EXAMPLE = f"""\
log {LOG.vkey}

witness X1 {X1.vkey}
witness X2 {X2.vkey} https://x2.example/
witness X3 {X3.vkey}
group X-witnesses 2 X1 X2 X3

witness Y1 {Y1.vkey}
 witness\tY2  {Y2.vkey}\t
witness Y3 {Y3.vkey}
  # a comment — with a dash
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
"""

QUORUMS = [
    ("", False),
    ("X1 X2", False),
    ("X1 X2 Y3", True),
    ("X1 Y1 Y2 Y3", False),
    ("X1 X2 X3 Y1 Y2 Y3", True),
    ("X2 X3 Y2", True),
    ("X-and-Y", False),
    ("none Z1", False),
]


@pytest.mark.parametrize(("names", "is_met"), QUORUMS)
def test_a_quorum_is_met_by_enough_witnesses(names, is_met):
    assert Policy.parse(EXAMPLE.encode()).is_met_by(names.split()) is is_met


def cosigned_by(names):
    lines = [cosign(NOTE_TEXT, WITNESSES[name].name, key_of(SEEDS[name]), TIME) for name in names]
    return NOTE_TEXT + "".join(lines)


def test_a_checkpoint_is_judged_by_its_signatures():
    policy = Policy.parse(EXAMPLE.encode())
    verdict = policy.judge(cosigned_by(["X3", "X1", "Y2"]))
    assert verdict.checkpoint == Checkpoint.parse(note.parse_note(NOTE_TEXT).text)
    assert verdict.times == {"X1": TIME, "X3": TIME, "Y2": TIME}
    for names in ([], ["X1", "X2", "X3"], ["X1", "Y1"]):
        with pytest.raises(PolicyError, match="quorum"):
            policy.judge(cosigned_by(names))


def test_without_a_quorum_the_log_must_still_have_signed():
    policy = Policy.parse(f"log {LOG.vkey}\nquorum none\n".encode())
    assert policy.judge(NOTE_TEXT).times == {}
    text = note.parse_note(NOTE_TEXT).text
    stranger = note.sign_note(text, "stranger.example", LOG_SIGNER)
    with pytest.raises(PolicyError, match="log"):
        policy.judge(stranger)


def test_a_log_of_the_policy_does_not_sign_for_another():
    checkpoint = Checkpoint("other.example/log", 1, bytes(32))
    foreign = note.sign_note(checkpoint.text, LOG.name, LOG_SIGNER)
    with pytest.raises(PolicyError, match="log"):
        Policy.parse(f"log {LOG.vkey}\nquorum none\n".encode()).judge(foreign)


@needs_ml_dsa
def test_a_witness_may_use_ml_dsa():
    policy = Policy.parse(f"log {LOG.vkey}\nwitness pq {ML_DSA.vkey}\nquorum pq\n".encode())
    assert policy.judge(NOTE_TEXT + ML_DSA_LINE).times == {"pq": TIME}


@needs_ml_dsa
def test_a_log_may_sign_by_ml_dsa():
    private = cosignature._mldsa.MLDSA44PrivateKey.from_seed_bytes(bytes(32))
    public = private.public_key().public_bytes_raw()
    key = VerifierKey(LOG.name, public, ML_DSA_44_COSIGNATURE)
    checkpoint = Checkpoint.parse(note.parse_note(NOTE_TEXT).text)
    signature = private.sign(cosignature._ml_dsa_message(LOG.name, checkpoint, TIME))
    line = line_of(key, TIME.to_bytes(8, "big") + signature)
    policy = Policy.parse(f"log {key.vkey}\nquorum none\n".encode())
    assert policy.judge(f"{checkpoint.text}\n{line}").checkpoint == checkpoint


W1, W2 = f"witness A {X1.vkey}\n", f"witness B {X2.vkey}\n"
ALIAS = VerifierKey("other.example", X1.public, ED25519_COSIGNATURE).vkey
NO_POLICIES = {
    "nothing": "",
    "no quorum": W1,
    "two quorums": f"{W1}quorum A\nquorum A\n",
    "no last line feed": f"{W1}quorum A",
    "an undefined quorum": f"{W1}quorum B\n",
    "a quorum defined later": f"quorum A\n{W1}",
    "two words of quorum": f"{W1}quorum A A\n",
    "an unknown word": f"{W1}quorums A\n",
    "a log without a key": f"{W1}quorum A\nlog\n",
    "a log of a witness key": f"log {X1.vkey}\nquorum none\n",
    "a witness of a log key": f"witness A {LOG.vkey}\nquorum none\n",
    "a log twice": f"log {LOG.vkey}\nlog {LOG.vkey} https://log.example\nquorum none\n",
    "a witness without a key": "witness A\nquorum none\n",
    "a witness twice": f"{W1}witness B {ALIAS}\nquorum A\n",
    "a name twice": f"{W1}witness A {X2.vkey}\nquorum A\n",
    "the name none": f"witness none {X1.vkey}\nquorum none\n",
    "a bad key": "witness A vkey\nquorum A\n",
    "a group of nothing": f"{W1}group G any\nquorum G\n",
    "a group of a stranger": f"{W1}group G any A C\nquorum G\n",
    "a group of itself": f"{W1}group G any A G\nquorum G\n",
    "a group of none": f"{W1}group G any A none\nquorum G\n",
    "a group called as a witness": f"{W1}{W2}group A any B\nquorum A\n",
    "a member twice": f"{W1}{W2}group G all A A\nquorum G\n",
    "a member of two groups": f"{W1}{W2}group G any A\ngroup H any A B\nquorum H\n",
    "a threshold of zero": f"{W1}group G 0 A\nquorum G\n",
    "a threshold too high": f"{W1}group G 2 A\nquorum G\n",
    "a threshold with a zero": f"{W1}{W2}group G 01 A B\nquorum G\n",
    "a threshold in words": f"{W1}{W2}group G most A B\nquorum G\n",
    "a threshold in other digits": f"{W1}{W2}group G ٢ A B\nquorum G\n",
    "a carriage return": f"{W1}quorum A\r\n",
    "a delete": f"{W1}#\x7f\nquorum A\n",
    "another white space": f"{W1}quorum\u00a0A\n",
    "too much": "#" * 262_144 + "\nquorum none\n",
}


@pytest.mark.parametrize("text", NO_POLICIES.values(), ids=NO_POLICIES)
def test_what_is_no_policy_is_refused(text):
    with pytest.raises(PolicyError):
        Policy.parse(text.encode())


def test_a_fault_is_named_by_its_line():
    with pytest.raises(PolicyError, match="line 3: "):
        Policy.parse(f"{W1}\nwitness B vkey\nquorum A\n".encode())


def test_a_policy_may_fill_its_bytes():
    text = f"{W1}\nquorum A\n"
    longest = "#" * (262_144 - len(text) - 1) + "\n" + text
    assert Policy.parse(longest.encode()).is_met_by(["A"])
    with pytest.raises(PolicyError, match="at most 262144 bytes"):
        Policy.parse(b"#" + longest.encode())
    with pytest.raises(PolicyError, match="line feed"):
        Policy.parse(longest[:-1].encode())


def test_names_are_octets():
    text = b"witness \xff %b\nwitness K %b\nwitness \xe2\x84\xaa %b\ngroup G 2 \xff K\nquorum G\n"
    keys = (key.vkey.encode() for key in (X1, X2, X3))
    policy = Policy.parse(text % tuple(keys))
    assert policy.is_met_by(["K", "\udcff"])
    assert not policy.is_met_by(["\u212a", "\udcff"])


def test_thirty_two_of_each_are_read():
    keys = [key_of(number + 100).public for number in range(64)]
    logs = [VerifierKey(f"l{at}", key).vkey for at, key in enumerate(keys[:32])]
    seen = [VerifierKey(f"w{at}", key, 4).vkey for at, key in enumerate(keys[32:])]
    lines = [f"log {vkey}" for vkey in logs]
    lines += [f"witness w{at} {vkey}" for at, vkey in enumerate(seen)]
    lines += [f"group g{at} all w{at}" for at in range(31)]
    lines += ["group all all w31 " + " ".join(f"g{at}" for at in range(31)), "quorum all", ""]
    policy = Policy.parse("\n".join(lines).encode())
    names = [f"w{at}" for at in range(32)]
    assert policy.is_met_by(names)
    assert not policy.is_met_by(names[1:])
