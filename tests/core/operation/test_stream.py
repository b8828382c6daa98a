"""Frames of an event stream are read as they were written, whatever is in them."""

from hypothesis import given
from hypothesis import strategies as st

from svc_core.operation import stream


def parse(stream: bytes) -> list[dict[str, str]]:
    """What a client reads (WHATWG HTML, 9.2.6), plainly."""
    events: list[dict[str, str]] = []
    now: dict[str, str] = {}
    for line in stream.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line:
            if "data" in now:
                events.append(now | {"data": now["data"].removesuffix("\n")})
            now = {}
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            now["data"] = now.get("data", "") + value + "\n"
        elif name:
            now[name] = value
    return events


def test_an_event_is_its_id_its_name_and_its_data() -> None:
    frame = stream.event("change", b'{"a":1}', "w1.abc")
    assert frame == b'id: w1.abc\nevent: change\ndata: {"a":1}\n\n'
    assert stream.event("end", b"") == b"event: end\ndata: \n\n"
    assert stream.event("x", b"one\ntwo") == b"event: x\ndata: one\ndata: two\n\n"
    assert stream.retry(1_000) == b"retry: 1000\n\n"


def test_a_heartbeat_says_nothing() -> None:
    assert parse(stream.HEARTBEAT + stream.retry(5) + stream.HEARTBEAT) == []


@given(name=st.text(min_size=1), data=st.text(), id_=st.text())
def test_nothing_in_an_event_makes_another_one(name: str, data: str, id_: str) -> None:
    [read] = parse(stream.event(name, data.encode(), id_))
    plain = str.maketrans("", "", "\r\n\0")
    assert read["event"] == name.translate(plain)
    assert read["id"] == id_.translate(plain)
    lines = data.replace("\r\n", "\n").replace("\r", "\n")
    assert read["data"] == lines.removesuffix("\n")
