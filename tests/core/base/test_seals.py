"""Secrets at rest open where they were sealed, and nowhere else."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base.seals import Keyring, SealError, lock, needs_new_seal, unlock

OLD = Keyring({1: b"o" * 32}, 1)
RING = Keyring({1: b"o" * 32, 2: b"n" * 32}, 2)
NEW = Keyring({2: b"n" * 32}, 2)
NONCE = b"n" * 12


@given(st.binary(max_size=200), st.text(max_size=40), st.binary(min_size=12, max_size=12))
def test_what_was_locked_is_unlocked_in_its_place(secret, place, nonce):
    text = lock(OLD, secret, place, nonce)
    assert unlock(OLD, text, place) == secret
    assert unlock(RING, text, place) == secret
    with pytest.raises(SealError):
        unlock(OLD, text, place + "x")


def test_a_rotated_ring_tells_which_secrets_need_a_new_seal():
    text = lock(OLD, b"secret", "here", NONCE)
    assert needs_new_seal(RING, text)
    again = lock(RING, unlock(RING, text, "here"), "here", NONCE)
    assert not needs_new_seal(RING, again)
    assert unlock(NEW, again, "here") == b"secret"
    with pytest.raises(SealError):
        unlock(NEW, text, "here")


@given(st.integers(min_value=0), st.integers(1, 255))
def test_an_altered_secret_does_not_open(at, flip):
    text = lock(OLD, b"secret", "here", NONCE)
    data = bytearray(urlsafe_b64decode(text[3:]))
    data[at % len(data)] ^= flip
    with pytest.raises(SealError):
        unlock(OLD, "v1." + urlsafe_b64encode(bytes(data)).decode(), "here")


@pytest.mark.parametrize("text", ["", "v1.", "v2.AAAA", "v1.AAAA", "v1.é", "v1.A", "plain"])
def test_what_is_no_sealed_secret_is_refused(text):
    with pytest.raises(SealError):
        unlock(OLD, text, "here")


def test_what_a_cursor_key_sealed_is_no_secret():
    ciphertext = OLD.cipher(1).encrypt(NONCE, b"secret", b"\x01here")
    with pytest.raises(SealError):
        unlock(OLD, "v1." + urlsafe_b64encode(b"\x01" + NONCE + ciphertext).decode(), "here")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: Keyring({}, 0), "no key 0"),
        (lambda: Keyring({1: bytes(32)}, 2), "no key 2"),
        (lambda: Keyring({256: bytes(32)}, 256), "from 0 to 255"),
        (lambda: Keyring({-1: bytes(32)}, -1), "from 0 to 255"),
        (lambda: Keyring({0: bytes(31)}, 0), "fewer than 32 bytes"),
    ],
)
def test_a_weak_ring_is_refused(make, reason):
    with pytest.raises(SealError, match=reason):
        make()


def test_a_nonce_has_twelve_bytes():
    with pytest.raises(SealError, match="12 random bytes"):
        lock(OLD, b"secret", "here", b"short")
