"""Stored values of one function are never returned for another."""

import functools
import math
import os
import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.errors import TableError
from ugraphemb.proximity.function_keys import content_digest

GRAPHS = ug.GraphSet.from_edges([2, 3, 3], [(0, 1), (2, 3), (5, 6), (6, 7)], node_labels=[*"CN", *"CNO", *"NOO"])
SCALE = 2.0


def scaled(a, b):
    return SCALE * abs(a.num_nodes - b.num_nodes)


def apart(factor):
    return lambda a, b: factor * abs(a.num_nodes - b.num_nodes)


def with_default(a, b, factor=1):
    return factor


def nested(factor):
    def outer(a, b):
        def inner(x):
            return factor * x

        return inner(a.num_nodes)

    return outer


def factorial(a, b=None):
    return 1 if a == 0 else a * factorial(a - 1)


class Weighted:
    def __init__(self, weight):
        self.weight = weight

    def __call__(self, a, b):
        return self.weight

    def method(self, a, b):
        return self.weight


DIFFERENT = {
    "closures": (apart(1), apart(2)),
    "closures of functions": (nested(1), nested(1.0)),
    "lambdas of one line": (lambda a, b: 1.0, lambda a, b: 2.0),
    "types of constants": (lambda a, b: 1, lambda a, b: True),
    "names": (lambda a, b: a.num_nodes, lambda a, b: a.num_edges),
    "functions that are called": (lambda a, b: min(1, 2), lambda a, b: max(1, 2)),
    "functions of a module": (lambda a, b: math.sin(1), lambda a, b: math.cos(1)),
    "partial": (functools.partial(with_default, factor=1), functools.partial(with_default, factor=2)),
    "arrays": (apart(np.array([1.0, 2.0])), apart(np.array([1.0, 3.0]))),
    "mappings": tuple((lambda a, b, table={"x": x}: table["x"]) for x in (2, 3)),
    "sets": tuple((lambda a, b, labels=frozenset({"C", x}): a in labels) for x in "NO"),
    "methods of a dict": ({1: 2}.get, {1: 3}.get),
}


@pytest.mark.parametrize("kind", DIFFERENT)
def test_functions_of_one_name_have_different_keys_where_they_differ(kind):
    first, second = map(content_digest, DIFFERENT[kind])
    assert first is not None
    assert first != second


def test_a_function_keeps_its_key():
    assert content_digest(apart(3)) == content_digest(apart(3))
    assert content_digest(factorial) == content_digest(factorial) is not None
    assert content_digest(math.sqrt) != content_digest(math.sin)
    assert content_digest({"a", "b", "c"}) == content_digest({"c", "b", "a"})


def test_a_global_is_part_of_the_key(monkeypatch):
    before = content_digest(scaled)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert None not in (before, content_digest(scaled))
    assert content_digest(scaled) != before


def test_a_key_is_the_same_in_another_process(tmp_path):
    (tmp_path / "own.py").write_text(
        "TABLE = {'C', 'N', 'O', 'S'}\n"
        "def own(a, b, *, extra=(1, 2.5, None)):\n"
        "    return len(TABLE & {'C', 'P'}) + sum(x or 0 for x in extra)\n"
    )
    code = (
        "from own import own; from ugraphemb.proximity.function_keys import content_digest; print(content_digest(own))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in (1, 2)
    }  # fmt: skip
    assert len(found) == 1
    assert "None" not in found.pop()


@pytest.mark.parametrize("unknown", [Weighted(1), Weighted(1).method, apart(Weighted(1))])
def test_what_has_a_state_of_its_own_has_no_key(unknown):
    assert content_digest(unknown) is None


def test_a_store_of_one_function_is_refused_to_another(tmp_path):
    options = {"kind": "distance", "name": "mine", "threads": 1, "progress": False, "store": tmp_path / "s"}
    first = ug.pairwise(GRAPHS, metric=apart(1), **options)
    with pytest.raises(TableError, match="code"):
        ug.pairwise(GRAPHS, metric=apart(2), **options)
    again = ug.pairwise(GRAPHS, metric=apart(1), **options)
    np.testing.assert_array_equal(first.value, again.value)


def test_a_store_of_a_function_that_cannot_be_told_asks_for_a_version(tmp_path):
    options = {"kind": "distance", "name": "mine", "threads": 1, "progress": False}
    assert ug.pairwise(GRAPHS, metric=Weighted(4), **options).value.tolist() == [4, 4, 4]
    with pytest.raises(TableError, match="give version='1'"):
        ug.pairwise(GRAPHS, metric=Weighted(4), store=tmp_path / "s", **options)
    assert not (tmp_path / "s").exists()
    first = ug.pairwise(GRAPHS, metric=Weighted(4), version="1", store=tmp_path / "s", **options)
    again = ug.pairwise(GRAPHS, metric=Weighted(4), version="1", store=tmp_path / "s", **options)
    np.testing.assert_array_equal(first.value, again.value)
    with pytest.raises(TableError, match="version"):
        ug.pairwise(GRAPHS, metric=Weighted(5), version="2", store=tmp_path / "s", **options)


def relabeled(price):
    return lambda a, b: 0 if a == b else price


COSTS = {
    "functions": (relabeled(0.5), relabeled(0.75)),
    "matrices": (np.full((3, 3), 0.5), np.full((3, 3), 0.75)),
    "mappings": ({("C", "N"): 0.5, ("C", "O"): 1, ("N", "O"): 1}, {("C", "N"): 0.75, ("C", "O"): 1, ("N", "O"): 1}),
    "defaults of mappings": (defaultdict(lambda: 0.5), defaultdict(lambda: 0.75)),
}


@pytest.mark.parametrize("kind", COSTS)
def test_a_store_of_one_cost_is_refused_to_another(kind, tmp_path):
    first, second = (ug.EditCosts(node_relabel=cost) for cost in COSTS[kind])
    options = {"method": "exact", "threads": 1, "progress": False, "store": tmp_path / "s"}
    table = ug.pairwise(GRAPHS, costs=first, **options)
    with pytest.raises(TableError, match="settings"):
        ug.pairwise(GRAPHS, costs=second, **options)
    np.testing.assert_array_equal(ug.pairwise(GRAPHS, costs=first, **options).value, table.value)


def test_a_mapping_of_costs_is_left_as_it_is():
    costs = defaultdict(lambda: 0.5)
    ug.pairwise(GRAPHS, costs=ug.EditCosts(node_relabel=costs), method="exact", threads=1, progress=False)
    assert not costs


def test_costs_of_a_function_that_cannot_be_told_need_a_version_in_a_store(tmp_path):
    options = {"method": "exact", "threads": 1, "progress": False, "store": tmp_path / "s"}
    with pytest.raises(TableError, match="give version='1'"):
        ug.pairwise(GRAPHS, costs=ug.EditCosts(node_relabel=Weighted(1)), **options)
    first = ug.EditCosts(node_relabel=Weighted(1), version="1")
    table = ug.pairwise(GRAPHS, costs=first, **options)
    np.testing.assert_array_equal(ug.pairwise(GRAPHS, costs=first, **options).value, table.value)
    with pytest.raises(TableError, match="settings"):
        ug.pairwise(GRAPHS, costs=ug.EditCosts(node_relabel=Weighted(1), version="2"), **options)


def test_a_counter_answers_zero_for_what_it_does_not_list_and_is_no_dict():
    plain, counting = ({("C", "N"): 1}, Counter({("C", "N"): 1}))
    assert ug.EditCosts(node_relabel=plain).description() != ug.EditCosts(node_relabel=counting).description()


def test_numbers_are_described_as_before():
    prices = {"node_insert": 1.0, "node_delete": 2.0, "node_relabel": 3.0, "edge_insert": 4.0, "edge_delete": 5.0}
    assert ug.EditCosts(**prices, edge_relabel=0.5).description() == {**prices, "edge_relabel": 0.5}


def test_tables_of_different_functions_do_not_merge():
    options = {"kind": "distance", "name": "mine", "threads": 1, "progress": False}
    first, second = (ug.pairwise(GRAPHS, metric=apart(factor), **options) for factor in (1, 2))
    assert len(first.merge(first)) == 3
    with pytest.raises(TableError, match="settings"):
        first.merge(second)
    unknown = ug.pairwise(GRAPHS, metric=Weighted(1), **options)
    with pytest.raises(TableError, match="give version='1'"):
        unknown.merge(unknown)
