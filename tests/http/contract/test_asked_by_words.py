"""Lists that are asked for by words, over each store: the same rows in pages of every size."""

import pytest

from svc_core.search.field_index import FieldIndex

QUERIES = {
    "/api/v2/markets": "list win ransom",
    "/api/v2/entities": "inc systems palo",
    "/api/v2/entities?type=company": "alphabet apple",
    "/api/v1/news": "port strike",
    "/api/v1/news?language=en&maxSentiment=0.9": "port",
}


def walk(world, path, limit):
    matches, cursor = [], None
    while True:
        after = "" if cursor is None else f"&cursor={cursor}"
        body = world.get(f"{path}&include=match&limit={limit}{after}").json()
        matches += [(row["id"], row["match"]["score"]) for row in body["data"]]
        cursor = body["meta"]["page"]["nextCursor"]
        if cursor is None:
            return matches


@pytest.mark.parametrize("sort", ["", "&sort=updatedAt"])
@pytest.mark.parametrize("path", QUERIES)
def test_pages_of_two_have_the_rows_of_one_large_page(each_shared, path, sort):
    words = QUERIES[path].split()
    separator = "&" if "?" in path else "?"
    if "/news" in path:
        sort = sort.replace("updatedAt", "recordedAt")
    for word in words:
        query = f"{path}{separator}q={word}{sort}"
        whole = walk(each_shared, query, 100)
        assert whole, word
        assert walk(each_shared, query, 2) == whole
        if not sort:
            scores = [score for _, score in whole]
            assert scores == sorted(scores, reverse=True)


def test_a_cursor_goes_on_at_a_version_that_counts_the_words_of_a_question_otherwise(
    each_shared, monkeypatch
):
    path = "/api/v1/news?limit=1&q=port"
    page = each_shared.get(path).json()["meta"]["page"]
    query = FieldIndex.query
    monkeypatch.setattr(FieldIndex, "query", lambda index, text: query(index, f"{text} strike"))
    assert each_shared.get(f"{path}&cursor={page['nextCursor']}").status_code == 200
