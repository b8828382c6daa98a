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
NOTE_TEXT = VECTORS["checkpoints"]["8"]
COSIGNED_TEXT = VECTORS["cosigned"]
SIGNER = Ed25519Signer.from_seed(bytes.fromhex(VECTORS["logKey"]["seed"]))
KEY = VerifierKey(VECTORS["origin"], SIGNER.public)
STRANGER = Ed25519Signer.from_seed(bytes(32))
BODY, LINE = NOTE_TEXT[: NOTE_TEXT.index("—")], NOTE_TEXT[NOTE_TEXT.index("—") :]


# -- keys --------------------------------------------------------------------------------------


def test_a_key_is_that_of_the_vectors():
    expected = VECTORS["logKey"]
    assert SIGNER.public.hex() == expected["public"]
    assert KEY.id.hex() == expected["keyId"]
    assert KEY.vkey == expected["vkey"]
    assert VerifierKey.parse(KEY.vkey) == KEY
    witness = VerifierKey.parse(VECTORS["witnessKey"]["vkey"])
    assert (witness.name, witness.algorithm) == ("witness.example/w1", ED25519_COSIGNATURE)


def base64(data):
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
    "an unknown algorithm": "n+00000000+" + base64(b"\x02" + SIGNER.public),
    "a short key": "n+00000000+" + base64(b"\x01" + SIGNER.public[:-1]),
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
    assert sign_note(BODY[:-1], KEY.name, SIGNER) == NOTE_TEXT


@pytest.mark.parametrize("note", [NOTE_TEXT, COSIGNED_TEXT])
def test_a_note_is_read_and_written_again(note):
    read = open_note(note, [KEY])
    assert str(read) == note
    assert signers(read, [KEY]) == (KEY,)


def test_the_text_of_a_note_may_hold_empty_lines():
    for text in ("\n", "one\n\ntwo\n\n\nthree\n", "ends\n\n"):
        assert open_note(sign_note(text, KEY.name, SIGNER), [KEY]).text == text


EXTRA_LINE = parse_note(sign_note(BODY[:-1], "other.example", STRANGER)).signatures[0].line
DAMAGES = {
    "nothing": "",
    "only a text": BODY,
    "no text": LINE,
    "no blank line and a signature": "x" + LINE,
    "no blank line": NOTE_TEXT.replace("\n\n", "\n"),
    "a blank line behind": NOTE_TEXT + "\n",
    "two blank lines behind": NOTE_TEXT + "\n\n",
    "no last line feed": NOTE_TEXT[:-1],
    "a carriage return": NOTE_TEXT.replace("\n", "\r\n"),
    "a tab in the text": NOTE_TEXT.replace("8\n", "8\t\n"),
    "a null": "\0" + NOTE_TEXT,
    "an escape": NOTE_TEXT.replace("\n8\n", "\n8\x1b\n"),
    "an unpaired surrogate": NOTE_TEXT.replace("\n8\n", "\n8\ud800\n"),
    "a hyphen for the dash": NOTE_TEXT.replace("—", "-"),
    "an en dash": NOTE_TEXT.replace("—", "–"),
    "no space behind the dash": NOTE_TEXT.replace("— ", "—"),
    "two spaces": NOTE_TEXT.replace("— ", "—  "),
    "a space behind": NOTE_TEXT[:-1] + " \n",
    "no name": BODY + "—  " + LINE.rpartition(" ")[2],
    "a plus in the name": NOTE_TEXT.replace("— ledger", "— led+ger"),
    "no signature": BODY + f"— {KEY.name}\n",
    "an empty signature": BODY + f"— {KEY.name} \n",
    "a key id alone": BODY + f"— {KEY.name} {base64(KEY.id)}\n",
    "no padding": NOTE_TEXT.replace("=\n", "\n").replace("E\n\n", "E=\n\n"),
    "a letter too many": NOTE_TEXT[:-1] + "A\n",
    "bits behind the last byte": NOTE_TEXT.replace("ZAo=\n", "ZAp=\n"),
    "URL-safe letters": NOTE_TEXT.replace("nzeQrSSGgy/C", "nzeQrSSGgy_C"),
    "garbage among the signatures": NOTE_TEXT + "garbage\n",
    "too many signatures": NOTE_TEXT + EXTRA_LINE * 64,
    "too many bytes": "x" * 262_144 + NOTE_TEXT,
}


def test_a_note_may_fill_its_bytes_and_its_signatures():
    lines = LINE * 64
    longest = "é" + "x" * (262_144 - len(("é\n\n" + lines).encode())) + "\n\n" + lines
    assert len(parse_note(longest).signatures) == 64
    for longer in ("x" + longest, longest.replace("é", "éé"), "é\n\n" + lines + LINE):
        with pytest.raises(NoteError, match="at most"):
            parse_note(longer)


@pytest.mark.parametrize("note", DAMAGES.values(), ids=DAMAGES)
def test_a_note_that_is_malformed_is_refused(note):
    assert note not in (NOTE_TEXT, COSIGNED_TEXT)
    with pytest.raises(NoteError):
        parse_note(note)


def test_sixteen_large_signatures_are_read():
    line = f"— other.example {base64(bytes(5000))}\n"
    assert len(open_note(NOTE_TEXT + line * 16, [KEY]).signatures) == 17


def test_signatures_by_unknown_keys_are_ignored():
    assert open_note(NOTE_TEXT + EXTRA_LINE, [KEY]).text == BODY[:-1]
    # One with the name alone, one with the key id alone.
    same_name = f"— {KEY.name} {base64(b'none' + bytes(64))}\n"
    same_id = f"— other.example {base64(KEY.id + bytes(64))}\n"
    assert open_note(NOTE_TEXT + same_name + same_id, [KEY]).text == BODY[:-1]
    for line in (same_name, same_id, EXTRA_LINE):
        with pytest.raises(NoteError, match="no signature by a known key"):
            open_note(BODY + line, [KEY])


def test_one_false_signature_by_a_known_key_refuses_the_note():
    false = f"— {KEY.name} {base64(KEY.id + bytes(64))}\n"
    short = f"— {KEY.name} {base64(KEY.id + bytes(63))}\n"
    for line in (false, short):
        for note in (NOTE_TEXT + line, BODY + line + LINE, BODY + line):
            with pytest.raises(NoteError, match="is false"):
                open_note(note, [KEY])


def test_another_text_is_not_signed():
    for mutant in (NOTE_TEXT.replace("\n8\n", "\n9\n"), NOTE_TEXT.replace("\n8\n", "\n8\n\n")):
        with pytest.raises(NoteError, match="is false"):
            open_note(mutant, [KEY])


def test_a_cosigner_key_signs_no_notes():
    witness = VerifierKey.parse(VECTORS["witnessKey"]["vkey"])
    with pytest.raises(NoteError, match="no signature by a known key"):
        open_note(COSIGNED_TEXT, [witness])
    assert signers(parse_note(COSIGNED_TEXT), [witness, KEY]) == (KEY,)


@pytest.mark.parametrize("text", ["", "no line feed", "a tab\t\n", "a surrogate \udfff\n"])
def test_what_no_note_can_hold_is_not_signed(text):
    with pytest.raises(NoteError):
        sign_note(text, KEY.name, SIGNER)


@given(st.integers(0, len(NOTE_TEXT.encode()) - 1), st.integers(1, 255))
def test_a_note_is_refused_when_any_byte_is_altered(at, flip):
    data = NOTE_TEXT.encode()
    mutant = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
    with pytest.raises(ValueError, match=r"."):
        open_note(mutant.decode(), [KEY])


@given(st.text(st.characters(exclude_categories=["Cs"]).filter(lambda c: c == "\n" or c >= " ")))
def test_every_legal_text_can_be_signed_and_opened(text):
    note = sign_note(text + "\n", KEY.name, SIGNER)
    assert open_note(note, [KEY]) == SignedNote(text + "\n", parse_note(note).signatures)


def test_a_signer_does_not_show_its_private_key():
    assert VECTORS["logKey"]["seed"] not in repr(SIGNER)
    with pytest.raises(ValueError, match=r"."):
        Ed25519Signer.from_seed(b"short")
