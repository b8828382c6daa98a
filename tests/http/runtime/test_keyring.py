"""The keyring of the master secrets: what opens what, and which secrets cannot stand together."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract import cursor
from svc_core.contract.cursor import CursorError
from svc_http.service.secret import KeyIdCollision, key_id, keyring, with_secret
from svc_http.settings import Settings, SettingsError, load
from svc_http.settings_text import SECRETS_MAX

OLD, NEW, NEXT = "0123456789abcdef" * 4, "fedcba9876543210" * 4, "89abcdef01234567" * 4
BINDING = cursor.binding("wsp_a", "listProfiles", {}, "desc")
NONCE = bytes(12)


def twin(of: str) -> str:
    """Another strong secret with the same key id."""
    candidates = (f"{number:064x}"[::-1] + "xyz" for number in itertools.count(0x123456789ABCDEF))
    return next(secret for secret in candidates if key_id(secret) == key_id(of))


@given(st.text(), st.text())
def test_a_secret_has_one_id_wherever_it_stands(first, second):
    assert 0 <= key_id(first) <= 255
    if key_id(first) == key_id(second) and first != second:
        return
    assert keyring(first).current == keyring(first, [second]).current == key_id(first)
    assert set(keyring(second, [first]).keys) == set(keyring(first, [second]).keys)


def test_the_id_of_a_key_is_for_ever():
    # Kept cursors name it: another derivation would end every walk that is under way.
    assert (key_id(OLD), key_id(NEW), key_id("")) == (118, 94, 227)


def test_an_earlier_secret_opens_what_it_sealed_and_the_present_one_seals():
    before = cursor.seal(keyring(OLD), [7, "prf_a"], BINDING, NONCE)
    ring = keyring(NEW, [OLD])
    assert cursor.unseal(ring, before, BINDING) == [7, "prf_a"]
    after = cursor.seal(ring, [8, "prf_b"], BINDING, NONCE)
    assert cursor.unseal(keyring(NEW), after, BINDING) == [8, "prf_b"]
    for foreign, token in ((keyring(OLD), after), (keyring(NEW), before), (keyring(NEXT), before)):
        with pytest.raises(CursorError):
            cursor.unseal(foreign, token, BINDING)


def test_a_secret_that_is_listed_twice_is_one():
    assert len(keyring(NEW, [OLD, NEW, OLD]).keys) == 2


def test_two_secrets_of_one_key_id_cannot_stand_together():
    twin_secret = twin(OLD)
    for current, previous in ((OLD, [twin_secret]), (NEW, [OLD, twin_secret])):
        with pytest.raises(KeyIdCollision):
            keyring(current, previous)
    with pytest.raises(SettingsError, match="share a key id") as error:
        with_secret(Settings(secret=OLD, secret_previous=(twin_secret,)))
    line = str(error.value)
    assert "\n" not in line
    assert OLD not in line
    assert twin_secret not in line
    fresh = line.rpartition("SVC_SECRET=")[2]
    assert with_secret(Settings(secret=fresh)).secret == fresh


@pytest.mark.parametrize("text", [f"{OLD},{NEW}", f" {OLD} , {NEW},", f"{OLD}\n{NEW}\n"])
def test_earlier_secrets_are_a_list_in_the_environment_or_a_file(text, tmp_path):
    file = tmp_path / "previous"
    file.write_text(text)
    for environ in ({"SVC_SECRET_PREVIOUS": text}, {"SVC_SECRET_PREVIOUS_FILE": str(file)}):
        settings = load({"SVC_SECRET": NEXT, **environ})
        assert settings.secret_previous == (OLD, NEW)
        assert OLD not in repr(settings)
        assert with_secret(settings) == settings


def test_no_earlier_secret_is_no_fault():
    assert load({"SVC_SECRET_PREVIOUS": ""}).secret_previous == ()


def test_too_many_earlier_secrets_are_a_slip():
    text = ",".join([OLD] * (SECRETS_MAX + 1))
    with pytest.raises(SettingsError, match="'secret_previous' lists 9 secrets, more than 8"):
        load({"SVC_SECRET_PREVIOUS": text})


def test_a_piece_of_a_secret_is_refused_without_showing_it():
    with pytest.raises(SettingsError, match="a secret of 12 characters") as error:
        with_secret(load({"SVC_SECRET": OLD, "SVC_SECRET_PREVIOUS": f"{NEW},abcdefghijkl"}))
    assert "abcdefghijkl" not in str(error.value)
