"""The tree: roots, frontiers and proofs, against the definitions of RFC 9162 read aloud."""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path

import pymerkle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.log import tree
from svc_core.ledger.log.proofs import (
    ProofError,
    ProofPlan,
    Span,
    consistency_ranges,
    frontier_ranges,
    inclusion_ranges,
    plan,
    verify_consistency,
    verify_inclusion,
)
from svc_core.ledger.log.tree import extend, grow, root
from svc_core.testing.ledger_kit.logs import consistency, inclusion

VECTORS = json.loads(Path("tests/data/ledger/vectors.json").read_text("utf-8"))
SEALS = [bytes.fromhex(seal) for seal in VECTORS["seals"]]
LEAVES = [sha256(b"\x00%d" % number).digest() for number in range(1100)]
SMALL = 40
OTHER_HASH = bytes(32)


# -- the oracle: RFC 9162, 2.1.1, 2.1.3.1 and 2.1.4.1 as they stand ----------------------------


def largest_power_below(n):
    return 1 << ((n - 1).bit_length() - 1)


@cache
def mth(start, end):
    if end - start == 1:
        return LEAVES[start]
    middle = start + largest_power_below(end - start)
    return sha256(b"\x01" + mth(start, middle) + mth(middle, end)).digest()


def path(m, start, end):
    if end - start == 1:
        return []
    k = largest_power_below(end - start)
    if m < k:
        return [*path(m, start, start + k), mth(start + k, end)]
    return [*path(m - k, start + k, end), mth(start, start + k)]


def subproof(m, start, end, is_known):
    if m == end - start:
        return [] if is_known else [mth(start, end)]
    k = largest_power_below(end - start)
    if m <= k:
        return [*subproof(m, start, start + k, is_known), mth(start + k, end)]
    return [*subproof(m - k, start + k, end, False), mth(start, start + k)]


# -- vectors -----------------------------------------------------------------------------------


def test_roots_and_frontiers_are_those_of_the_vectors():
    for size, (hash_, frontier) in enumerate(
        zip(VECTORS["roots"], VECTORS["frontiers"], strict=True)
    ):
        ours = extend((), 0, SEALS[:size])
        assert [part.hex() for part in ours] == frontier
        assert root(ours).hex() == hash_


def test_proofs_are_those_of_the_vectors():
    for index, proof in enumerate(VECTORS["inclusionOf8"]):
        assert [hash_.hex() for hash_ in inclusion(index, 8, SEALS)] == proof
    joint = VECTORS["consistency"]
    ours = consistency(joint["from"], joint["to"], SEALS)
    assert [hash_.hex() for hash_ in ours] == joint["proof"]


def test_the_root_of_nothing_is_the_hash_of_nothing():
    assert root(()).hex() == VECTORS["emptyRoot"]


# -- every small tree --------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, SMALL))
def test_every_root_and_proof_is_that_of_the_definition(size):
    assert root(extend((), 0, LEAVES[:size])) == mth(0, size)
    for index in range(size):
        assert list(inclusion(index, size, LEAVES[:size])) == path(index, 0, size)
    for old in range(1, size + 1):
        assert list(consistency(old, size, LEAVES[:size])) == subproof(old, 0, size, True)


@pytest.mark.parametrize("size", range(1, SMALL))
def test_a_consistency_proof_holds_for_its_sizes_and_roots_alone(size):
    for old in range(1, size + 1):
        proof = consistency(old, size, LEAVES[:size])
        verify_consistency(old, size, mth(0, old), mth(0, size), proof)
        with pytest.raises(ProofError):
            verify_consistency(old, size, OTHER_HASH, mth(0, size), proof)
        with pytest.raises(ProofError):
            verify_consistency(old, size, mth(0, old), OTHER_HASH, proof)
        for wrong_size in set(range(1, size + 1)) - {old}:
            with pytest.raises(ProofError):
                verify_consistency(wrong_size, size, mth(0, old), mth(0, size), proof)


# -- proofs that were tampered with ------------------------------------------------------------


def mutations(proof):
    yield "one more", (*proof, OTHER_HASH)
    yield "one before", (OTHER_HASH, *proof)
    yield "repeated", (*proof, *proof[-1:]) if proof else (OTHER_HASH,)
    for at in range(len(proof)):
        yield f"without {at}", proof[:at] + proof[at + 1 :]
        yield f"another {at}", (*proof[:at], OTHER_HASH, *proof[at + 1 :])
        yield f"short {at}", (*proof[:at], proof[at][:-1], *proof[at + 1 :])
        yield f"long {at}", (*proof[:at], proof[at] + b"\0", *proof[at + 1 :])
    if len(proof) > 1:
        yield "reversed", proof[::-1]


INCLUSIONS = [(0, 1), (0, 8), (5, 8), (2, 3), (1, 5), (6, 7), (3, 31), (32, 33), (30, 38)]


@pytest.mark.parametrize(("index", "size"), INCLUSIONS)
def test_an_inclusion_proof_that_was_altered_is_refused(index, size):
    proof, top = inclusion(index, size, LEAVES), mth(0, size)
    verify_inclusion(index, size, LEAVES[index], proof, top)
    for _, mutant in mutations(proof):
        with pytest.raises(ProofError):
            verify_inclusion(index, size, LEAVES[index], mutant, top)
    for leaf, head in (
        (OTHER_HASH, top),
        (LEAVES[index], OTHER_HASH),
        (b"", top),
        (LEAVES[index], b""),
    ):
        with pytest.raises(ProofError):
            verify_inclusion(index, size, leaf, proof, head)
    for numbers in ((-1, size), (size, size), (index, size * 4), (index, 0), (2**63, 2**64)):
        with pytest.raises(ProofError):
            verify_inclusion(*numbers, LEAVES[index], proof, top)


CONSISTENCIES = [(1, 1), (1, 8), (6, 8), (2, 5), (4, 8), (3, 7), (7, 8), (32, 33), (21, 38)]


@pytest.mark.parametrize(("old", "size"), CONSISTENCIES)
def test_a_consistency_proof_that_was_altered_is_refused(old, size):
    proof, before, after = consistency(old, size, LEAVES), mth(0, old), mth(0, size)
    verify_consistency(old, size, before, after, proof)
    for _, mutant in mutations(proof):
        with pytest.raises(ProofError):
            verify_consistency(old, size, before, after, mutant)
    for numbers in ((size + 1, size), (-1, size), (old, size * 4), (old, 2**63)):
        with pytest.raises(ProofError):
            verify_consistency(*numbers, before, after, proof)
    with pytest.raises(ProofError):
        verify_consistency(old, size, before[:-1], after, proof)


def test_an_empty_tree_precedes_every_tree_and_needs_no_proof():
    empty = tree.EMPTY_ROOT
    assert consistency(0, 3, LEAVES) == ()
    verify_consistency(0, 3, empty, mth(0, 3), ())
    verify_consistency(0, 0, empty, OTHER_HASH, ())
    with pytest.raises(ProofError):
        verify_consistency(0, 3, empty, mth(0, 3), (OTHER_HASH,))
    with pytest.raises(ProofError):
        verify_consistency(0, 3, OTHER_HASH, mth(0, 3), ())


OUTSIDE = [
    lambda: inclusion(3, 3, LEAVES),
    lambda: inclusion(-1, 3, LEAVES),
    lambda: inclusion(0, 1101, LEAVES),
    lambda: consistency(4, 3, LEAVES),
    lambda: extend((), 1, LEAVES),
    lambda: extend((LEAVES[0],), -1, LEAVES),
]


@pytest.mark.parametrize("ask", OUTSIDE)
def test_what_lies_outside_the_tree_is_refused(ask):
    with pytest.raises(ValueError, match=r"."):
        ask()


# -- growth ------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 300), max_size=6))
def test_growing_in_pieces_gives_the_tree_of_the_whole(pieces):
    frontier, size, nodes = (), 0, {}
    for count in pieces:
        leaves = (LEAVES * 2)[size : size + count]
        growth = grow(frontier, size, leaves)
        frontier, size = growth.frontier, growth.size
        assert not nodes.keys() & {(level, at) for level, at, _ in growth.nodes}
        nodes |= {(level, at): hash_ for level, at, hash_ in growth.nodes}
    assert size == sum(pieces)
    assert frontier == extend((), 0, (LEAVES * 2)[:size])
    assert nodes.keys() == {(8, at) for at in range(size >> 8)}
    for (_, at), hash_ in nodes.items():
        assert hash_ == root(extend((), 0, (LEAVES * 2)[at << 8 : at + 1 << 8]))


def test_higher_levels_are_kept_as_they_complete():
    # The frontier of 65,535 subtrees of one leaf short of a level-16 node, without their leaves.
    full = tuple(sha256(b"%d" % bit).digest() for bit in range(16))
    growth = grow(full, 2**16 - 1, [LEAVES[0]])
    assert [(node_.level, node_.number) for node_ in growth.nodes] == [(8, 255), (16, 0)]
    assert growth.nodes[-1].hash == growth.frontier[0] == root(growth.frontier)


# -- plans -------------------------------------------------------------------------------------


def store(leaves):
    """What a store keeps: the rows of the kept levels."""
    levels = {0: leaves, 8: [], 16: [], 24: []}
    for level, _, hash_ in grow((), 0, leaves).nodes:
        levels[level].append(hash_)
    return levels


def hashes_of(plan_, levels):
    return plan_.combine([levels[level][start:end] for level, start, end in plan_.spans])


STORE = store(LEAVES)


@given(st.data())
def test_a_plan_makes_the_proof_from_what_a_store_keeps(data):
    size = data.draw(st.integers(1, len(LEAVES)))
    index = data.draw(st.integers(0, size - 1))
    assert list(hashes_of(plan(inclusion_ranges(index, size)), STORE)) == path(index, 0, size)
    if index:
        joint = hashes_of(plan(consistency_ranges(index, size)), STORE)
        assert list(joint) == subproof(index, 0, size, True)
    assert root(hashes_of(plan(frontier_ranges(size)), STORE)) == mth(0, size)


@given(st.integers(1, 2**40), st.data())
def test_a_plan_reads_little_however_long_the_log_is(size, data):
    index = data.draw(st.integers(0, size - 1))
    for ranges in (
        inclusion_ranges(index, size),
        consistency_ranges(index, size),
        frontier_ranges(size),
    ):
        spans = plan(ranges).spans
        assert len(spans) <= 8
        for level, start, end in spans:
            assert 0 <= start < end <= size >> level
            assert level == 24 or end - start <= 768


@pytest.mark.parametrize(
    ("spans", "read"),
    [
        ([Span(0, 0, 1), Span(0, 257, 258)], [Span(0, 0, 258)]),
        ([Span(0, 0, 1), Span(0, 258, 259)], [Span(0, 0, 1), Span(0, 258, 259)]),
        (
            [Span(0, 0, 1), Span(0, 300, 301), Span(0, 310, 311)],
            [Span(0, 0, 1), Span(0, 300, 311)],
        ),
        ([Span(0, 3, 9), Span(8, 0, 1)], [Span(0, 3, 9), Span(8, 0, 1)]),
        ([Span(0, 0, 9), Span(0, 2, 4)], [Span(0, 0, 9)]),
    ],
)
def test_spans_of_one_level_are_read_at_once_when_a_tile_or_less_lies_between(spans, read):
    assert list(ProofPlan((tuple(spans),)).spans) == read
    assert list(ProofPlan(tuple((span,) for span in reversed(spans))).spans) == read


def test_a_subtree_that_ends_at_a_kept_node_is_not_taken_for_it():
    # Four leaves that end where the first node of level 8 does.
    for index in (248, 255):
        assert list(hashes_of(plan(inclusion_ranges(index, 256)), STORE)) == path(index, 0, 256)


def test_the_frontier_of_nothing_reads_nothing():
    empty_plan = plan(frontier_ranges(0))
    assert empty_plan.spans == ()
    assert empty_plan.combine([]) == ()


def test_a_store_that_has_less_is_found_out():
    plan_ = plan(inclusion_ranges(2, 5))
    with pytest.raises(ValueError, match="shorter"):
        plan_.combine([])
    read = r"^1 hashes were read of Span\(level=0, start=0, end=5\)\.$"
    with pytest.raises(ValueError, match=read):
        plan_.combine([LEAVES[:1], *[[]] * (len(plan_.spans) - 1)])


# -- another implementation --------------------------------------------------------------------


def test_roots_and_proofs_are_those_of_pymerkle():
    reference = pymerkle.InmemoryTree(algorithm="sha256")
    frontier = ()
    for number in range(130):
        reference.append_entry(b"%d" % number)
        frontier = extend(frontier, number, LEAVES[number : number + 1])
        assert reference.get_root() == root(frontier)
    for index in range(0, 130, 7):
        proof = reference.prove_inclusion(index + 1, 130).serialize()["path"][1:]
        ours = inclusion(index, 130, LEAVES[:130])
        assert [bytes.fromhex(hash_) for hash_ in proof] == list(ours)


def test_the_largest_tree_is_one_of_2_to_the_63_less_one_leaves():
    size_max = 2**63 - 1
    path = [OTHER_HASH] * 63
    verify_consistency(size_max, size_max, OTHER_HASH, OTHER_HASH, ())
    with pytest.raises(ProofError, match="another root"):
        verify_inclusion(size_max - 1, size_max, OTHER_HASH, path[:62], OTHER_HASH)
    with pytest.raises(ProofError, match="does not begin"):
        verify_consistency(size_max + 1, size_max + 1, OTHER_HASH, OTHER_HASH, ())
    with pytest.raises(ProofError, match="no leaf"):
        verify_inclusion(0, size_max + 1, OTHER_HASH, path, OTHER_HASH)
