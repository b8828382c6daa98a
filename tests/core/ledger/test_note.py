"""Signed notes: strictly read, and refused for every corruption."""

import json
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.log.note import (
    ED25519_COSIGNATURE,
    Ed25519Signer,
    NoteError,
    SignedNote,
    VerifierKey,
    open_note,
    parse_note,
    sign_note,
    signers,
)

VECTORS = json.loads(Path("tests/data/ledger/vectors.json").read_text("utf-8"))
SIGNED = VECTORS["checkpoints"]["8"]
COSIGNED = VECTORS["cosigned"]
SIGNER = Ed25519Signer.from_seed(bytes.fromhex(VECTORS["logKey"]["seed"]))
KEY = VerifierKey(VECTORS["origin"], SIGNER.public)
OTHER = Ed25519Signer.from_seed(bytes(32))
BODY, LINE = SIGNED[: SIGNED.index("—")], SIGNED[SIGNED.index("—") :]


# -- keys --------------------------------------------------------------------------------------


def test_a_key_is_that_of_the_vectors():
    expected = VECTORS["logKey"]
    assert SIGNER.public.hex() == expected["public"]
    assert KEY.id.hex() == expected["keyId"]
    assert KEY.vkey == expected["vkey"]
    assert VerifierKey.parse(KEY.vkey) == KEY
    witness = VerifierKey.parse(VECTORS["witnessKey"]["vkey"])
    assert (witness.name, witness.algorithm) == ("witness.example/w1", ED25519_COSIGNATURE)


def encoded(data):
    return b64encode(data).decode()


NO_KEYS = {
    "nothing": "",
    "no parts": "name",
    "no key": f"{KEY.name}+{KEY.id.hex()}+",
    "no name": KEY.vkey.removeprefix(KEY.name),
    "another name": KEY.vkey.replace("ledger.example", "ledger.sample"),
    "another key id": KEY.vkey.replace("+9f", "+8f"),
    "an upper case key id": KEY.vkey.replace("+9f3790ad+", "+9F3790AD+"),
    "a short key id": KEY.vkey.replace("+9f3790ad+", "+9f3790+"),
    "an unknown algorithm": "n+00000000+" + encoded(b"\x02" + SIGNER.public),
    "a short key": "n+00000000+" + encoded(b"\x01" + SIGNER.public[:-1]),
    "no padding": KEY.vkey + "=",
    "a line feed": KEY.vkey + "\n",
    "no ASCII": KEY.vkey + "é",
}


@pytest.mark.parametrize("vkey", NO_KEYS.values(), ids=NO_KEYS)
def test_what_is_no_key_is_refused(vkey):
    with pytest.raises(NoteError):
        VerifierKey.parse(vkey)


NAMES = [("a", True), ("日本/é", True), ("a\u200db", True), ("", False), ("a b", False)]
NAMES += [("a+b", False), ("a\u00a0b", False), ("a\u2003b", False), ("a\nb", False)]
NAMES += [("a\0b", False), ("a\u0085b", False), ("a\ud800b", False)]


@pytest.mark.parametrize(("name", "is_one"), NAMES)
def test_a_key_name_has_no_space_and_no_plus(name, is_one):
    if is_one:
        key = VerifierKey(name, SIGNER.public)
        assert VerifierKey.parse(key.vkey) == key
        assert open_note(sign_note("text\n", name, SIGNER), [key]).text == "text\n"
    else:
        with pytest.raises(NoteError):
            VerifierKey(name, SIGNER.public)


# -- notes -------------------------------------------------------------------------------------


def test_signing_gives_the_vector():
    assert sign_note(BODY[:-1], KEY.name, SIGNER) == SIGNED


@pytest.mark.parametrize("note", [SIGNED, COSIGNED])
def test_a_note_is_read_and_written_again(note):
    read = open_note(note, [KEY])
    assert str(read) == note
    assert signers(read, [KEY]) == (KEY,)


def test_the_text_of_a_note_may_hold_empty_lines():
    for text in ("\n", "one\n\ntwo\n\n\nthree\n", "ends\n\n"):
        assert open_note(sign_note(text, KEY.name, SIGNER), [KEY]).text == text


ADDED = parse_note(sign_note(BODY[:-1], "other.example", OTHER)).signatures[0].line
MALFORMED = {
    "nothing": "",
    "only a text": BODY,
    "no text": LINE,
    "no blank line and a signature": "x" + LINE,
    "no blank line": SIGNED.replace("\n\n", "\n"),
    "a blank line behind": SIGNED + "\n",
    "two blank lines behind": SIGNED + "\n\n",
    "no last line feed": SIGNED[:-1],
    "a carriage return": SIGNED.replace("\n", "\r\n"),
    "a tab in the text": SIGNED.replace("8\n", "8\t\n"),
    "a null": "\0" + SIGNED,
    "an escape": SIGNED.replace("\n8\n", "\n8\x1b\n"),
    "an unpaired surrogate": SIGNED.replace("\n8\n", "\n8\ud800\n"),
    "a hyphen for the dash": SIGNED.replace("—", "-"),
    "an en dash": SIGNED.replace("—", "–"),
    "no space behind the dash": SIGNED.replace("— ", "—"),
    "two spaces": SIGNED.replace("— ", "—  "),
    "a space behind": SIGNED[:-1] + " \n",
    "no name": BODY + "—  " + LINE.rpartition(" ")[2],
    "a plus in the name": SIGNED.replace("— ledger", "— led+ger"),
    "no signature": BODY + f"— {KEY.name}\n",
    "an empty signature": BODY + f"— {KEY.name} \n",
    "a key id alone": BODY + f"— {KEY.name} {encoded(KEY.id)}\n",
    "no padding": SIGNED.replace("=\n", "\n").replace("E\n\n", "E=\n\n"),
    "a letter too many": SIGNED[:-1] + "A\n",
    "bits behind the last byte": SIGNED.replace("ZAo=\n", "ZAp=\n"),
    "URL-safe letters": SIGNED.replace("nzeQrSSGgy/C", "nzeQrSSGgy_C"),
    "garbage among the signatures": SIGNED + "garbage\n",
    "too many signatures": SIGNED + ADDED * 64,
    "too many bytes": "x" * 262_144 + SIGNED,
}


def test_a_note_may_fill_its_bytes_and_its_signatures():
    lines = LINE * 64
    longest = "é" + "x" * (262_144 - len(("é\n\n" + lines).encode())) + "\n\n" + lines
    assert len(parse_note(longest).signatures) == 64
    for longer in ("x" + longest, longest.replace("é", "éé"), "é\n\n" + lines + LINE):
        with pytest.raises(NoteError, match="at most"):
            parse_note(longer)


@pytest.mark.parametrize("note", MALFORMED.values(), ids=MALFORMED)
def test_a_note_that_is_malformed_is_refused(note):
    assert note not in (SIGNED, COSIGNED)
    with pytest.raises(NoteError):
        parse_note(note)


def test_sixteen_large_signatures_are_read():
    line = f"— other.example {encoded(bytes(5000))}\n"
    assert len(open_note(SIGNED + line * 16, [KEY]).signatures) == 17


def test_signatures_by_unknown_keys_are_ignored():
    assert open_note(SIGNED + ADDED, [KEY]).text == BODY[:-1]
    # One with the name alone, one with the key id alone.
    named = f"— {KEY.name} {encoded(b'none' + bytes(64))}\n"
    numbered = f"— other.example {encoded(KEY.id + bytes(64))}\n"
    assert open_note(SIGNED + named + numbered, [KEY]).text == BODY[:-1]
    for line in (named, numbered, ADDED):
        with pytest.raises(NoteError, match="no signature by a known key"):
            open_note(BODY + line, [KEY])


def test_one_false_signature_by_a_known_key_refuses_the_note():
    false = f"— {KEY.name} {encoded(KEY.id + bytes(64))}\n"
    short = f"— {KEY.name} {encoded(KEY.id + bytes(63))}\n"
    for line in (false, short):
        for note in (SIGNED + line, BODY + line + LINE, BODY + line):
            with pytest.raises(NoteError, match="is false"):
                open_note(note, [KEY])


def test_another_text_is_not_signed():
    for altered in (SIGNED.replace("\n8\n", "\n9\n"), SIGNED.replace("\n8\n", "\n8\n\n")):
        with pytest.raises(NoteError, match="is false"):
            open_note(altered, [KEY])


def test_a_cosigner_key_signs_no_notes():
    witness = VerifierKey.parse(VECTORS["witnessKey"]["vkey"])
    with pytest.raises(NoteError, match="no signature by a known key"):
        open_note(COSIGNED, [witness])
    assert signers(parse_note(COSIGNED), [witness, KEY]) == (KEY,)


@pytest.mark.parametrize("text", ["", "no line feed", "a tab\t\n", "a surrogate \udfff\n"])
def test_what_no_note_can_hold_is_not_signed(text):
    with pytest.raises(NoteError):
        sign_note(text, KEY.name, SIGNER)


@given(st.integers(0, len(SIGNED.encode()) - 1), st.integers(1, 255))
def test_a_note_is_refused_when_any_byte_is_altered(at, flip):
    data = SIGNED.encode()
    altered = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
    with pytest.raises(ValueError, match=r"."):
        open_note(altered.decode(), [KEY])


@given(st.text(st.characters(exclude_categories=["Cs"]).filter(lambda c: c == "\n" or c >= " ")))
def test_every_legal_text_can_be_signed_and_opened(text):
    note = sign_note(text + "\n", KEY.name, SIGNER)
    assert open_note(note, [KEY]) == SignedNote(text + "\n", parse_note(note).signatures)


def test_a_signer_does_not_show_its_private_key():
    assert VECTORS["logKey"]["seed"] not in repr(SIGNER)
    with pytest.raises(ValueError, match=r"."):
        Ed25519Signer.from_seed(b"short")
