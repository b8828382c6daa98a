import pytest

from svc_core import data
from svc_core.access.passwords import (
    FRESH_BYTES,
    UNKNOWN_PHC,
    check_password,
    derive_password,
    fresh_password,
    verify_password,
)
from svc_core.contract.problem import Problem

NAMES = ("Ann Lee", "ann@example.org", "Harbour Watch")

PASSWORDS = [
    ("four wild horses ran", None),
    ("vier wilde Pferde 🐎🐎", None),
    ("7$2!9@4#8%x1", None),
    ("correct-horse-and-tea", None),
    ("elevenchars", "must have 12 to 256 characters"),
    ("x" * 257, "must have 12 to 256 characters"),
    ("password1234", "is one that many people take"),
    ("PassWord!!!!", "is one that many people take"),
    ("P@ssw0rd2026", "is one that many people take"),
    ("2026-letmein-2026", "is one that many people take"),
    ("iloveyouiloveyou", "is one that many people take"),
    ("summer2026welcome", "is one that many people take"),
    ("483920571639", "is one that many people take"),
    ("aaaaaaaaaaaa", "is one that many people take"),
    ("abababababab!", "is one that many people take"),
    ("correcthorsebatterystaple", "is one that many people take"),
    ("here is ann lee again", "must not hold the name 'Ann Lee'"),
    ("4-A.N.N.L.E.E-4-ever", "must not hold the name 'Ann Lee'"),
    ("at harbourwatch daily", "must not hold the name 'Harbour Watch'"),
    ("ANN@example.org dog", "must not hold the name 'ann@example.org'"),
    ("behold the svc tower", "must not hold the name 'svc'"),
]


@pytest.mark.parametrize(("password", "reason"), PASSWORDS)
def test_which_passwords_are_refused_and_what_to_do(password: str, reason: str | None) -> None:
    if reason is None:
        check_password(password, NAMES)
        return
    with pytest.raises(Problem) as refusal:
        check_password(password, NAMES)
    step = "take four or five words that do not belong together"
    assert refusal.value.type.code == "VALIDATION_FAILED"
    assert refusal.value.detail == f"/password: {reason}: {step}"


def test_short_names_forbid_nothing() -> None:
    check_password("a quiet box of jam", ("Bo", ""))


def test_what_fits_in_many_ways_is_judged_at_once() -> None:
    # Tried in every way, these would take until the end of the world.
    for word in ("yourpassword", "supersuperman", "abcdefabc"):
        check_password((word * 30)[:250] + "zw vx", ())


def test_the_usual_words_are_as_they_are_compared() -> None:
    words = data.table_lines("usual_passwords.txt")
    assert words == sorted(set(words))
    assert all(word.isalpha() and word == word.casefold() for word in words)


def test_a_hash_is_verified_by_the_password_alone() -> None:
    phc = derive_password("four wild horses ran", b"s" * 16)
    assert phc.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert phc != derive_password("four wild horses ran", b"t" * 16)
    assert verify_password("four wild horses ran", phc)
    assert not verify_password("four wild horses ran ", phc)
    assert not verify_password("\ud800", phc)


def test_one_password_typed_on_two_keyboards_is_one() -> None:
    assert verify_password(
        "cafe\u0301 au lait 4", derive_password("caf\u00e9 au lait 4", b"s" * 16)
    )


def test_an_unknown_handle_is_verified_by_the_same_parameters() -> None:
    phc = derive_password("four wild horses ran", b"s" * 16)
    assert UNKNOWN_PHC.split("$")[:4] == phc.split("$")[:4]
    assert list(map(len, UNKNOWN_PHC.split("$"))) == list(map(len, phc.split("$")))
    assert not verify_password("four wild horses ran", UNKNOWN_PHC)


def test_a_fresh_password_may_be_set() -> None:
    password = fresh_password(bytes(range(0, 240, 20)))
    assert len(password) == FRESH_BYTES * 2 + 5
    check_password(password, NAMES)
