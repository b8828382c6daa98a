"""What likeness does to a ranking, and what vectors promise."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.search.vector_likeness import cosine, nearness_of, pack_vector
from svc_core.text.evidence import EvidenceTexts, Reading, reading_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query
from svc_core.text.ranking import Nearness, Ranking, rank
from svc_http.outside.embeddings.model import Embeddings
from tests.meaning import Meaning


class Aloof(Meaning):
    """A model whose vectors are all much alike."""

    usual = 0.762, 0.027


NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
TITLES = (
    "Dockers begin a strike at the port",
    "Strike at the port enters its second week",
    "Walkout shuts the harbour",
    "Central bank keeps its rate",
    "A storm is coming",
)
READINGS = [
    reading_of(
        EvidenceTexts(f"obs_{n}", title, "", "", "src_1", "Pier", "pier.example", NOON, NOON, "en")
    )
    for n, title in enumerate(TITLES)
]
TABLE = Frequencies.of((*reading.title, *reading.lead, *reading.rest) for reading in READINGS)
QUESTION = Query.of("strike at the port", language="en")

likenesses = st.dictionaries(
    st.sampled_from([f"obs_{n}" for n in range(len(TITLES))]), st.floats(0, 9)
)


def ranking(values: dict[str, float] | None, readings: list[Reading] = READINGS) -> Ranking:
    nearness = values and {id_: Nearness(number, number) for id_, number in values.items()}
    return rank(QUESTION, readings, TABLE, nearness)


def ids(ranking: Ranking) -> list[str]:
    return [hit.reading.evidence.id for hit in ranking.hits]


def test_an_item_that_no_word_finds_is_found_by_its_meaning() -> None:
    near = {**dict.fromkeys(("obs_0", "obs_1"), 8.0), "obs_2": 7.8}
    assert set(ids(ranking(None))) == {"obs_0", "obs_1"}
    assert set(ids(ranking(near))) == {"obs_0", "obs_1", "obs_2"}


def test_without_a_likeness_at_all_nothing_changes() -> None:
    assert ranking({}) == ranking(None)


def test_what_was_not_looked_at_is_judged_by_its_words() -> None:
    looked_at = {f"obs_{n}": 0.0 for n in range(2, len(TITLES))}
    assert set(ids(ranking(looked_at))) == {"obs_0", "obs_1"}


def test_words_alone_are_not_enough_where_the_meaning_is_another() -> None:
    by_meaning = ranking({"obs_0": 4.0, "obs_1": 0.0})
    assert [hit.nearness for hit in by_meaning.hits][:1] == [Nearness(4.0, 4.0)]
    assert "obs_3" not in ids(ranking({"obs_3": 1.0}))


@given(likenesses, st.randoms())
def test_the_order_of_items_does_not_matter(likeness: dict[str, float], random: object) -> None:
    shuffle = list(READINGS)
    random.shuffle(shuffle)  # type: ignore[attr-defined]
    assert ids(ranking(likeness, shuffle)) == ids(ranking(likeness))


# -- vectors -----------------------------------------------------------------------------------

vectors = st.lists(st.floats(-1, 1), min_size=8, max_size=8).filter(
    lambda values: max(map(abs, values)) > 1e-6
)


@given(vectors, vectors)
def test_eight_bits_keep_the_cosine(first: list[float], second: list[float]) -> None:
    length = math.hypot(*first) * math.hypot(*second)
    exact = sum(a * b for a, b in zip(first, second, strict=True)) / length
    assert cosine(pack_vector(first), pack_vector(second)) == pytest.approx(exact, abs=0.02)


@given(vectors)
def test_a_vector_is_like_itself_at_any_length(values: list[float]) -> None:
    assert cosine(
        pack_vector(values), pack_vector([3 * value for value in values])
    ) == pytest.approx(1)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [1.0, math.nan], [1.0, math.inf]])
def test_what_has_no_direction_is_no_vector(values: list[float]) -> None:
    with pytest.raises(ValueError, match="without a direction"):
        pack_vector(values)


MODELS = [Embeddings(Meaning()), Embeddings(Aloof())]  # usual cosines about 0.09, and about 0.76


def in_window(model: Embeddings, cosines: list[float]) -> list[float]:
    return [near.in_window for near in nearness_of(model, cosines)]


@pytest.mark.parametrize("model", MODELS)
@given(cosines=st.lists(st.floats(-1, 1), max_size=9))
def test_the_nearer_an_item_the_higher_it_stands(model: Embeddings, cosines: list[float]) -> None:
    stands = in_window(model, cosines)
    order = sorted(range(len(cosines)), key=lambda place: (cosines[place], stands[place]))
    assert [stands[place] for place in order] == sorted(stands)


@pytest.mark.parametrize("model", MODELS)
def test_models_differ_in_their_usual_cosines_alone(model: Embeddings) -> None:
    def cosines(*deviations: float) -> list[float]:
        return [model.usual[0] + number * model.usual[1] for number in deviations]

    assert min(in_window(model, cosines(5, 6, 7))) > 3  # a few items that are all near
    assert max(in_window(model, cosines(0, 0.5, -0.5))) < 1
    assert max(in_window(model, cosines(*[5.0, 5.5] * 500))) < 1  # as near as all others
    assert nearness_of(model, cosines(5))[0].in_general == pytest.approx(5)
