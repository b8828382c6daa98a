"""Finding the resource of a path."""

from hypothesis import given
from hypothesis import strategies as st

from svc_http.adapter.dispatcher import Dispatcher
from svc_http.exchange.resource import Resource

PATHS = [
    "/",
    "/news",
    "/news/{newsId}",
    "/news/recaps",
    "/news/recaps/{recapId}",
    "/news/{newsId}/text",
    "/profiles/{profileId}/runs/{runId}",
]


async def no_answer(exchange, values):
    raise AssertionError("it is only looked for")


def dispatcher():
    return Dispatcher([Resource(path, {"GET": no_answer}) for path in PATHS])


def route_of(path):
    result = dispatcher().find(path)
    return None if result is None else (result[0].path, dict(result[1]))


def test_fixed_segments_come_before_values_and_values_are_found_again():
    assert route_of("/") == ("/", {})
    assert route_of("/news/recaps") == ("/news/recaps", {})
    assert route_of("/news/abc") == ("/news/{newsId}", {"newsId": "abc"})
    assert route_of("/news/recaps/r") == ("/news/recaps/{recapId}", {"recapId": "r"})
    # Nothing stands at /news/recaps/text but the recap of that name; a value is tried as well.
    assert route_of("/news/recaps/text") == ("/news/recaps/{recapId}", {"recapId": "text"})
    assert route_of("/profiles/p/runs/r") == (
        "/profiles/{profileId}/runs/{runId}",
        {"profileId": "p", "runId": "r"},
    )


def test_nothing_else_is_found():
    for path in ("", "/news/", "//news", "/news//text", "/news/a/b", "/profiles/p/runs/", "/nEws"):
        assert route_of(path) is None


def slow(path):
    """The obvious way: compare segment by segment, fixed ones first."""
    segments = path.split("/")
    fitting = []
    for candidate in PATHS:
        own = candidate.split("/")
        if len(own) == len(segments) and all(
            (a.startswith("{") and b) or a == b for a, b in zip(own, segments, strict=True)
        ):
            fitting.append(candidate)
    return min(fitting, key=lambda p: [part.startswith("{") for part in p.split("/")], default=None)


@given(
    st.lists(st.sampled_from(["", "news", "recaps", "text", "x", "profiles", "runs"]), max_size=5)
)
def test_the_trie_finds_what_the_obvious_way_finds(segments):
    path = "/" + "/".join(segments)
    result = route_of(path)
    assert (result and result[0]) == slow(path)


def test_the_rest_of_a_path_may_be_one_value():
    tail, fixed_resource = (
        Resource("/tiles/{level}/{+rest}", {}),
        Resource("/tiles/{level}/names", {}),
    )
    paths = Dispatcher([tail, fixed_resource])
    assert paths.find("/tiles/0/x001/234.p/7") == (
        tail,
        {"level": "0", "rest": "x001/234.p/7"},
    )
    assert paths.find("/tiles/0/names") == (fixed_resource, {"level": "0"})
    assert paths.find("/tiles/0/names/more") == (tail, {"level": "0", "rest": "names/more"})
    assert paths.find("/tiles/0") is None
    assert tail.pattern == "/tiles/{level}/{rest:path}"
