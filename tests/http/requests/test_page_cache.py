"""What is kept between two commits."""

from hypothesis import given
from hypothesis import strategies as st

from svc_http.adapter.page_cache import PageCache
from svc_http.exchange.sending import Ready


def answer(size):
    return Ready(200, ((b"a", b"b"),), b"x" * size)


def test_an_answer_is_given_under_its_version_only():
    cache = PageCache()
    cache.put("a", 1, answer(3))
    assert cache.get("a", 1) == answer(3)
    assert cache.get("a", 2) is None
    assert cache.get("b", 1) is None
    cache.put("a", 2, answer(5))
    assert cache.get("a", 2) == answer(5)
    assert (len(cache), cache.size) == (1, 7)


def test_the_longest_unused_is_forgotten_first():
    cache = PageCache(entries_max=2)
    cache.put("a", 1, answer(1))
    cache.put("b", 1, answer(1))
    assert cache.get("a", 1) is not None
    cache.put("c", 1, answer(1))
    assert [cache.get(key, 1) is None for key in "abc"] == [False, True, False]
    cache.clear()
    assert (len(cache), cache.size) == (0, 0)


def test_an_answer_larger_than_the_whole_cache_is_not_kept():
    cache = PageCache(bytes_max=10)
    cache.put("a", 1, answer(11))
    assert (len(cache), cache.size) == (0, 0)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 40)), max_size=40))
def test_it_never_outgrows_its_bounds_and_counts_truly(puts):
    cache = PageCache(entries_max=3, bytes_max=60)
    for key, size in puts:
        cache.put(key, 1, answer(size))
        assert len(cache) <= 3
        assert cache.size <= 60
    pages = [cache.get(key, 1) for key in "abcdef"]
    assert cache.size == sum(page.size for page in pages if page is not None)
