"""A cursor opens only where it was given out; a watermark says where it is from."""

import re
from base64 import urlsafe_b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base.seals import Keyring
from svc_core.contract import cursor
from svc_core.contract.cursor import CursorError, Watermark, WatermarkError

OLD, NEW = b"o" * 32, b"n" * 32
RING = Keyring({1: OLD}, 1)
NONCE = bytes(range(12))
BINDING = cursor.binding("wsp_a", "listReports", {"profileId": ["prf_1"], "start": None}, "desc")
POSITION = [1_700_000_000_000_000, "rpt_5324293a932331f26a740074"]
TOKEN = cursor.seal(RING, POSITION, BINDING, NONCE)

# Small enough for 512 characters even when every character is escaped to twelve.
NUMBERS = st.integers(-(2**63), 2**63 - 1)
POSITIONS = st.lists(st.none() | NUMBERS | st.text(max_size=6), max_size=4)
NONCES = st.binary(min_size=12, max_size=12)
NAMES = st.text(max_size=5)
FILTERS = st.dictionaries(NAMES, st.none() | NAMES | st.integers() | st.lists(NAMES))


@given(POSITIONS, st.binary(max_size=40), NONCES)
def test_a_cursor_gives_its_position_back(position, digest, nonce):
    token = cursor.seal(RING, position, digest, nonce)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,512}", token)
    assert cursor.unseal(RING, token, digest) == position


def test_a_cursor_given_out_by_an_earlier_release_still_opens():
    token = (
        "AQEAAQIDBAUGBwgJCguxcLgyPhGCFT0w6jVd9gbgm_MXgGeYbvWOFVWX"
        "vjcJ0VOKi5RTqTNN87hY5H78jlAy9dKF0Nd6NvfsUDcqJrN3jA"
    )
    assert token == TOKEN
    assert cursor.unseal(RING, token, BINDING) == POSITION


def test_the_position_cannot_be_read_from_the_cursor():
    assert POSITION[1].encode() not in cursor._from_text(TOKEN)


@given(st.integers(0, len(TOKEN) - 1), st.characters(codec="utf-8"))
def test_no_altered_character_is_accepted(index, character):
    forgery = TOKEN[:index] + character + TOKEN[index + 1 :]
    if forgery == TOKEN:
        assert cursor.unseal(RING, forgery, BINDING) == POSITION
    else:
        with pytest.raises(CursorError, match="cannot be opened"):
            cursor.unseal(RING, forgery, BINDING)


def test_no_altered_bit_is_accepted():
    data = cursor._from_text(TOKEN)
    for index in range(8 * len(data)):
        forgery = bytearray(data)
        forgery[index // 8] ^= 1 << index % 8
        with pytest.raises(CursorError, match="cannot be opened"):
            cursor.unseal(RING, cursor._to_text(bytes(forgery)), BINDING)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "AQ",
        "AQE",
        TOKEN[:-1],
        TOKEN[:20],
        TOKEN[1:],
        TOKEN + "A",
        TOKEN + "=",
        TOKEN + "==",
        TOKEN + "\n",
        " " + TOKEN,
        TOKEN[:10] + "." + TOKEN[10:],
        TOKEN.replace("-", "+").replace("_", "/"),
        TOKEN + TOKEN,
        "A" * 600,
        "é" * 20,
        "\ud800",
        "%00",
        "w1.AAAA",
    ],
)
def test_nothing_else_is_a_cursor(text):
    with pytest.raises(CursorError, match="cannot be opened"):
        cursor.unseal(RING, text, BINDING)


def test_unused_bits_give_no_second_spelling():
    # 34 bytes in 46 characters leave four bits over, which a decoder would ignore.
    token = cursor.seal(RING, "ab", BINDING, NONCE)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spellings = {token[:-1] + last for last in alphabet} - {token}
    raw_tokens = [urlsafe_b64decode(f"{text}==") for text in spellings]
    assert raw_tokens.count(urlsafe_b64decode(f"{token}==")) == 15
    for text in spellings:
        with pytest.raises(CursorError, match="cannot be opened"):
            cursor.unseal(RING, text, BINDING)


@given(
    st.tuples(NAMES, NAMES, FILTERS, NAMES | st.lists(NAMES)),
    st.tuples(NAMES, NAMES, FILTERS, NAMES | st.lists(NAMES)),
)
def test_a_cursor_opens_for_its_own_list_alone(left, right):
    token = cursor.seal(RING, POSITION, cursor.binding(*left), NONCE)
    if left == right:
        assert cursor.unseal(RING, token, cursor.binding(*right)) == POSITION
    else:
        with pytest.raises(CursorError):
            cursor.unseal(RING, token, cursor.binding(*right))


@pytest.mark.parametrize(
    "part",
    [
        ("wsp_b", "list", {"a": ["1"]}, "desc"),
        ("wsp_a", "feed", {"a": ["1"]}, "desc"),
        ("wsp_a", "list", {"a": ["2"]}, "desc"),
        ("wsp_a", "list", {"b": ["1"]}, "desc"),
        ("wsp_a", "list", {"a": "1"}, "desc"),
        ("wsp_a", "list", {"a": [1]}, "desc"),
        ("wsp_a", "list", {"a": ["1"], "b": None}, "desc"),
        ("wsp_a", "list", {}, "desc"),
        ("wsp_a", "list", {"a": ["1"]}, "asc"),
        ("wsp_a", "list", {"a": ["1"]}, ["desc"]),
        ("wsp_alist", "", {"a": ["1"]}, "desc"),
    ],
)
def test_each_part_of_a_list_is_bound(part):
    assert cursor.binding(*part) != cursor.binding("wsp_a", "list", {"a": ["1"]}, "desc")


@given(FILTERS, st.randoms(use_true_random=False))
def test_the_order_in_which_filters_are_named_is_nothing(filters, random):
    members = list(filters.items())
    random.shuffle(members)
    assert cursor.binding("t", "o", dict(members), "") == cursor.binding("t", "o", filters, "")


def test_a_rotated_key_seals_and_the_old_one_still_opens():
    ring = Keyring({1: OLD, 2: NEW}, 2)
    fresh = cursor.seal(ring, POSITION, BINDING, NONCE)
    assert fresh != TOKEN
    assert cursor.unseal(ring, TOKEN, BINDING) == POSITION
    assert cursor.unseal(ring, fresh, BINDING) == POSITION
    with pytest.raises(CursorError, match="cannot be opened"):
        cursor.unseal(Keyring({2: NEW}, 2), TOKEN, BINDING)
    with pytest.raises(CursorError, match="cannot be opened"):
        cursor.unseal(Keyring({1: NEW}, 1), TOKEN, BINDING)


def test_keys_of_different_purposes_open_nothing_of_each_other():
    with pytest.raises(CursorError, match="cannot be opened"):
        cursor.unseal(Keyring({1: OLD}, 1, "secrets"), TOKEN, BINDING)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: cursor.seal(RING, POSITION, BINDING, NONCE[:11]), "12 random bytes, not 11"),
        (lambda: cursor.seal(RING, POSITION, BINDING, NONCE + b"x"), "12 random bytes, not 13"),
        (lambda: cursor.seal(RING, "x" * 400, BINDING, NONCE), "beyond 512 characters"),
    ],
)
def test_a_short_nonce_or_an_endless_position_is_refused(make, reason):
    with pytest.raises(CursorError, match=reason):
        make()


def test_the_longest_cursor_that_is_sealed_opens():
    position = "x" * 352
    token = cursor.seal(RING, position, BINDING, NONCE)
    assert len(token) == cursor.LENGTH_MAX
    assert cursor.unseal(RING, token, BINDING) == position
    with pytest.raises(CursorError, match="beyond 512"):
        cursor.seal(RING, position + "x", BINDING, NONCE)


def test_a_ring_does_not_show_its_keys():
    assert "oooo" not in repr(RING)


# -- watermarks --------------------------------------------------------------------------------

EPOCH = b"epoch-01"
PLACES = st.builds(
    Watermark,
    st.binary(min_size=8, max_size=8),
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**63 - 1),
)
MARK = cursor.seal_watermark(Watermark(EPOCH, 5, 7), "wsp_a")


@given(PLACES, NAMES)
def test_a_watermark_gives_its_place_back(place, tenant):
    token = cursor.seal_watermark(place, tenant)
    assert re.fullmatch(r"w1\.[A-Za-z0-9_-]{38}", token)
    assert cursor.open_watermark(token, tenant) == place


def test_a_watermark_kept_for_years_still_opens():
    # printf 'epoch-01' ; 5 and 7 in 8 bytes each ; first 4 bytes of SHA-256 over these and wsp_a
    assert MARK == "w1.ZXBvY2gtMDEAAAAAAAAABQAAAAAAAAAHtJpKTA"


@given(st.integers(0, len(MARK) - 1), st.sampled_from("ABCZabcz059-_.= é\n"))
def test_a_slip_in_a_watermark_is_found(index, character):
    forgery = MARK[:index] + character + MARK[index + 1 :]
    if forgery == MARK:
        assert cursor.open_watermark(forgery, "wsp_a") == Watermark(EPOCH, 5, 7)
    else:
        with pytest.raises(WatermarkError, match="no watermark"):
            cursor.open_watermark(forgery, "wsp_a")


@pytest.mark.parametrize(
    "text",
    ["", "w1.", "w2." + MARK[3:], MARK[3:], MARK + "A", MARK + "=", MARK[:-4], MARK + "\n", TOKEN],
)
def test_nothing_else_is_a_watermark(text):
    with pytest.raises(WatermarkError, match="no watermark"):
        cursor.open_watermark(text, "wsp_a")


@pytest.mark.parametrize("tenant", ["", "wsp_b", "wsp_a "])
def test_a_watermark_of_another_tenant_is_refused(tenant):
    with pytest.raises(WatermarkError, match="no watermark"):
        cursor.open_watermark(MARK, tenant)


@pytest.mark.parametrize(
    "place",
    [
        Watermark(EPOCH[:7], 0, 0),
        Watermark(EPOCH + b"x", 0, 0),
        Watermark(EPOCH, -1, 0),
        Watermark(EPOCH, 0, -1),
        Watermark(EPOCH, 0, 2**63),
    ],
)
def test_a_place_that_does_not_fit_has_no_watermark(place):
    with pytest.raises(WatermarkError, match=r"epoch|position"):
        cursor.seal_watermark(place, "wsp_a")
