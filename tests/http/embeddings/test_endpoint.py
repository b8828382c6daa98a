"""A model behind an address: what it is sent, what is taken from it, and what is told of it."""

from collections.abc import Iterator
from typing import Any

import pytest

from svc_core.search.vector_likeness import NotEmbedded
from svc_http.outside.embeddings import remote_model as endpoint
from svc_http.outside.embeddings.remote_model import EmbeddingEndpoint, RemoteModel
from tests.meaning import Server, serve, vector

pytestmark = pytest.mark.anyio
KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[Server]:
    with serve() as place:
        yield place


def model(server: Server) -> RemoteModel:
    return RemoteModel(
        EmbeddingEndpoint(server.url, "small", KEY), waits=(0.0, 0.0), total_seconds=60.0
    )


async def failure(remote: RemoteModel, *texts: str) -> NotEmbedded:
    with pytest.raises(NotEmbedded) as error:
        await remote.vectors(texts or ("port",))
    assert KEY[:9] not in str(error.value)
    return error.value


async def test_texts_are_asked_for_in_the_form_of_openai(server: Server) -> None:
    vectors = await model(server).vectors(["port strike", "storm"])

    assert vectors == [vector("port strike"), vector("storm")]
    ((fields, question),) = server.requests
    assert fields[":path"] == "/v1/embeddings"
    assert fields["authorization"] == f"Bearer {KEY}"
    assert question == {
        "model": "small",
        "input": ["port strike", "storm"],
        "encoding_format": "float",
    }


async def test_many_texts_are_asked_for_in_parts_and_come_in_their_order(server: Server) -> None:
    texts = ["port " * (n % 5) + "storm" for n in range(endpoint.TEXTS_AT_ONCE + 3)]
    assert await model(server).vectors(texts) == [vector(text) for text in texts]
    assert [len(question["input"]) for _, question in server.requests] == [
        endpoint.TEXTS_AT_ONCE,
        3,
    ]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_what_may_pass_is_tried_again(server: Server, status: int) -> None:
    server.says(status, retry_after="0")
    server.says(status)
    assert await model(server).vectors(["port"]) == [vector("port")]
    assert len(server.requests) == 3


async def test_a_server_that_wants_to_be_left_alone_for_long_is_not_waited_for(
    server: Server,
) -> None:
    server.says(429, retry_after="3600")
    assert "answered 429 Too Many Requests" in str(await failure(model(server)))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, {"error": {"message": f"bad key {KEY}"}}, "401 Unauthorized: bad key ...; check em"),
        (401, {"error": f"{'x' * 190} {KEY}"}, "401 Unauthorized: " + "x" * 190 + " ...; check"),
        (404, {"error": "no such model"}, "404 Not Found: no such model; check embeddings_url and"),
        (402, b"<html>", "402 Payment Required"),
        (599, {"error": {}}, "answered 599"),
        (200, b"{}", "does not answer as an embeddings endpoint does"),
        (200, b"[" * 100_000, "does not answer as an embeddings endpoint does"),
        (200, {"data": []}, "does not give one vector for each text"),
        (200, {"data": [{"index": 1, "embedding": [1]}]}, "does not give one vector for each"),
        (200, {"data": [{"index": 0, "embedding": [0, 0]}]}, "does not give one vector for each"),
        (200, b'{"data": [{"index": 0, "embedding": [NaN]}]}', "does not give one vector for each"),
        (200, b'{"data": [{"index": 0, "embedding": [1%s]}]}' % (b"0" * 400), "does not answer as"),
    ],
)
async def test_what_is_wrong_is_told_in_one_line(
    server: Server, status: int, body: Any, message: str
) -> None:
    server.says(status, body)
    error = await failure(model(server))
    assert f"{server.url}/embeddings" in str(error)
    assert message in str(error)
    assert not error.is_refusal


async def test_an_answer_without_end_is_cut(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "ANSWER_BYTES", 1_000)
    for _ in range(3):
        server.says(200, b" " * 2_000)
    assert "answers more than 1000 bytes" in str(await failure(model(server)))


async def test_words_that_are_refused_are_told_apart_from_a_wrong_setting(server: Server) -> None:
    remote = model(server)
    server.says(400, {"error": {"message": "input is too long"}})
    assert (await failure(remote)).is_refusal  # it gave a vector for a plain word

    for _ in range(2):
        server.says(400, {"error": {"message": "no such dimensions"}})
    assert not (await failure(remote)).is_refusal


async def test_vectors_of_several_lengths_are_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "TEXTS_AT_ONCE", 1)
    server.says(200, {"data": [{"index": 0, "embedding": [1, 2]}]})
    assert "several lengths" in str(await failure(model(server), "port", "storm"))


async def test_a_place_that_failed_is_left_alone_for_a_while(server: Server) -> None:
    remote = model(server)
    server.says(401)
    first = await failure(remote)
    assert await failure(remote) is first
    assert len(server.requests) == 1
    remote._pause = (0.0, first)  # the while is over
    assert await remote.vectors(["port"]) == [vector("port")]


async def test_nobody_there_and_nobody_allowed() -> None:
    with serve() as server:
        pass
    assert "cannot be reached" in str(await failure(model(server)))
    metadata = Server(80)
    metadata.url = "http://169.254.169.254/v1"
    assert "cannot be asked" in str(await failure(model(metadata)))


async def test_a_silent_server_is_not_waited_for(server: Server) -> None:
    server.is_silent = True
    slow = RemoteModel(EmbeddingEndpoint(server.url, "small"), waits=(), total_seconds=0.2)
    assert "did not answer within 0.2 seconds" in str(await failure(slow))
    await slow.aclose()
    await RemoteModel(EmbeddingEndpoint(server.url, "small")).aclose()  # that was never asked


async def test_a_connection_that_breaks_is_tried_again(server: Server) -> None:
    server.says(200, b"{", Content_Length="10")
    assert await model(server).vectors(["port"]) == [vector("port")]
