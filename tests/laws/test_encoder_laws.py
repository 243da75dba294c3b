"""Laws of vectors: neither the order of nodes, nor other graphs, nor threads, nor the process change them."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import graph_sets
from proximity.oracle import shuffled

import ugraphemb as ug
from ugraphemb.graphs import GraphSet, graphs_of

elements, bonds = st.sampled_from(["C", "N", "O", "Cl"]), st.sampled_from(["single", "double", "aromatic"])
molecules = graph_sets(min_graphs=1, node_labels=elements, edge_labels=bonds, attributes=False, targets=None, ids=False)
anything = graph_sets(min_graphs=1, attributes=False, targets=None, ids=False)
SEEDS = st.integers(0, 9)


@cache
def model(name: str) -> ug.UGraphEmb:
    """A model of the package; "tuned" is one that also predicts classes."""
    if name != "tuned":
        return ug.UGraphEmb.pretrained(name).set_params(threads=1, progress=False)
    graphs = ug.load_dataset("atlas")[40:70]
    return ug.UGraphEmb.pretrained("graphs").set_params(threads=1).finetune(graphs, np.arange(30) % 2, steps=1)


def described(name: str, graphs: GraphSet) -> list[np.ndarray]:
    """All that the model computes for each graph."""
    own = model(name)
    return [own.features(graphs, colors=16), *([own.predict_proba(graphs)] if name == "tuned" else [])]


def check_order_and_company(name: str, graphs: GraphSet, seed: int) -> None:
    random = np.random.default_rng(seed)
    found = described(name, graphs)
    renamed = described(name, graphs_of([shuffled(graph, random) for graph in graphs]))
    alone = [described(name, graphs[[i]]) for i in range(len(graphs))]
    for k, values in enumerate(found):
        scale = 1e-4 * max(1.0, float(np.abs(values).max()))
        np.testing.assert_allclose(renamed[k], values, rtol=0, atol=scale)
        np.testing.assert_allclose(np.concatenate([one[k] for one in alone]), values, rtol=0, atol=scale)


@settings(max_examples=15)
@given(molecules, SEEDS)
def test_vectors_of_molecules_depend_on_the_graph_alone(graphs: GraphSet, seed: int) -> None:
    check_order_and_company("molecules", graphs, seed)


@settings(max_examples=15)
@given(anything, SEEDS)
def test_vectors_and_classes_of_graphs_with_labels_of_any_kind_depend_on_the_graph_alone(
    graphs: GraphSet, seed: int
) -> None:
    check_order_and_company("tuned", graphs, seed)


@settings(max_examples=15)
@given(anything, SEEDS)
def test_isomorphic_graphs_are_predicted_at_zero_and_distances_are_symmetric(graphs: GraphSet, seed: int) -> None:
    own, random = model("graphs"), np.random.default_rng(seed)
    vectors = own.transform(graphs)
    copies = own.transform(graphs_of([shuffled(graph, random) for graph in graphs]))
    assert np.abs(np.diag(own.proximity(vectors, copies))).max() < 1e-4
    among = own.proximity(vectors, vectors)
    np.testing.assert_array_equal(among, among.T)
    assert (among >= 0).all()


@pytest.mark.parametrize("name", ["molecules", "graphs", "tuned"])
def test_threads_do_not_change_vectors(name: str) -> None:
    graphs = ug.load_dataset("molecules" if name == "molecules" else "atlas")[100:160]
    own = model(name)
    _ = own.network_  # by torch, which uses threads
    one, two = (own.set_params(threads=threads).transform(graphs) for threads in (1, 2))
    own.set_params(threads=1)
    np.testing.assert_array_equal(one, two)


IN_A_PROCESS = """
import sys, hashlib, ugraphemb as ug
labels = [None, True, 1, 1.5, "a", ("a", 1), ("a", ("b", None))]
graphs = ug.GraphSet.from_edges([7], [(i, i + 1) for i in range(6)], node_labels=labels, edge_labels=labels[:6])
print(hashlib.sha256(ug.UGraphEmb.pretrained("graphs").features(graphs).tobytes()).hexdigest())
"""


def test_features_are_the_same_bits_in_every_process() -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", IN_A_PROCESS],
            env={"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert len(set(found)) == 1
