"""Attributes in edit distance, against the cheapest of all maps."""

from __future__ import annotations

import itertools
import subprocess
import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.errors import CostError
from ugraphemb.proximity.ged import METHODS

Costs = ug.EditCosts


def graphs_with(
    seed: int, count: int = 12, largest: int = 4, *, attributes: int = 2, weights: int = 0, labels: bool = True
) -> ug.GraphSet:
    random = np.random.default_rng(seed)
    sizes = random.integers(0, largest + 1, count)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    edges = [(a + u, a + v) for a, n in zip(offsets, sizes, strict=False)
             for u, v in itertools.combinations(range(n), 2) if random.random() < 0.5]  # fmt: skip
    values = random.integers(0, 4, (offsets[-1], attributes)) / 2 + random.choice([0, 0.1], (offsets[-1], attributes))
    weight = [tuple(np.round(random.random(weights), 1).tolist()) if weights > 1 else float(random.integers(0, 4) / 2)
              for _ in edges]  # fmt: skip
    return ug.GraphSet.from_edges(
        sizes, np.array(edges, np.int64).reshape(-1, 2),
        node_labels=random.choice(["C", "N"], offsets[-1]).tolist() if labels else None,
        edge_labels=weight if weights else None, node_attributes=values,
    )  # fmt: skip


def brute(a: ug.Graph, b: ug.Graph, costs: Costs, maps: Any = None) -> float:
    """The cheapest of all maps, by the definition alone."""

    def row(label: Any) -> Any:
        return np.array(label if isinstance(label, tuple) else (label,), float)

    def apart(x: Any, y: Any, weight: float, scale: Any) -> float:
        return weight * float(np.linalg.norm((x - y) / np.array(1.0 if scale is None else scale))) if weight else 0.0

    def table(graph: ug.Graph) -> dict[tuple[int, int], Any]:
        names = graph.edge_labels or [None] * len(graph.edges)
        return {(int(u), int(v)): name for (u, v), name in zip(graph.edges, names, strict=True)}

    first, second, best = table(a), table(b), np.inf
    if maps is None:
        places = [*range(b.num_nodes), *[-1] * a.num_nodes]
        maps = set(itertools.permutations(places, a.num_nodes))
    for image in maps:
        total = costs.node_insert * (b.num_nodes - sum(x >= 0 for x in image))
        for u, x in enumerate(image):
            if x < 0:
                total += costs.node_delete
                continue
            total += 0 if a.node_labels[u] == b.node_labels[x] else costs.node_relabel
            if costs.node_attributes:
                total += apart(a.node_attributes[u], b.node_attributes[x], costs.node_attributes, costs.node_scale)
        kept = 0
        for (u, v), label in first.items():
            end = (min(image[u], image[v]), max(image[u], image[v]))
            if end not in second:
                total += costs.edge_delete
                continue
            kept += 1
            other = second[end]
            if costs.edge_attributes:
                change = apart(row(label), row(other), costs.edge_attributes, costs.edge_scale)
            else:
                change = 0 if label == other else costs.edge_relabel
            total += min(change, costs.edge_delete + costs.edge_insert)
        best = min(best, total + costs.edge_insert * (len(second) - kept))
    return float(best)


CASES = [
    (Costs(node_attributes=0.5), {}),
    (Costs(node_attributes=2.0, node_scale=(1, 4)), {"labels": False}),
    (Costs(edge_attributes=0.7), {"weights": 1}),
    (Costs(node_attributes=0.3, edge_attributes=1.5, edge_scale=(2, 0.5), node_insert=2, edge_delete=0.5),
     {"weights": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("costs", "options"), CASES)
@pytest.mark.parametrize("seed", [1, 2])
def test_solvers_bracket_the_cheapest_of_all_maps(costs: Costs, options: dict[str, Any], seed: int) -> None:
    graphs = graphs_with(seed, **options)
    pairs = np.array(list(itertools.combinations_with_replacement(range(len(graphs)), 2)))
    truth = np.array([brute(graphs[i], graphs[j], costs) for i, j in pairs])
    for method in METHODS:
        table = ug.pairwise(graphs, pairs, method=method, costs=costs, progress=False, threads=2)
        lower, upper = np.nan_to_num(table.lower, nan=0.0), np.nan_to_num(table.upper, nan=np.inf)
        assert (lower <= truth + 1e-9).all(), method
        assert (truth <= upper + 1e-9).all(), method
        if method == "exact":
            np.testing.assert_allclose(table.value, truth, atol=1e-9)
            assert table.proven.all()


@pytest.mark.parametrize(("costs", "options"), CASES)
def test_one_pair_is_as_in_a_table_and_its_edits_cost_what_it_says(costs: Costs, options: dict[str, Any]) -> None:
    graphs = graphs_with(5, 6, **options)
    table = ug.pairwise(graphs, method="exact", costs=costs, progress=False)
    for i, j, value in zip(table.left, table.right, table.value, strict=True):
        found = ug.distance(graphs[int(i)], graphs[int(j)], method="exact", costs=costs)
        assert found.value == pytest.approx(value)
        assert brute(graphs[int(i)], graphs[int(j)], costs, [found.mapping.tolist()]) == pytest.approx(value)
        assert sum(step.cost for step in found.edit_path()) == pytest.approx(value)
        back = ug.distance(graphs[int(j)], graphs[int(i)], method="exact", costs=Costs(
            **{**vars(costs), "node_insert": costs.node_delete, "node_delete": costs.node_insert,
               "edge_insert": costs.edge_delete, "edge_delete": costs.edge_insert}))  # fmt: skip
        assert back.value == pytest.approx(value)


def test_heuristics_do_not_depend_on_the_order_of_the_two_graphs() -> None:
    graphs = graphs_with(7, 8, 7)
    costs = Costs(node_attributes=0.5)
    for method in METHODS:
        table = ug.pairwise(graphs, method=method, costs=costs, progress=False)
        turned = ug.pairwise(graphs, np.stack([table.right, table.left], 1), method=method, costs=costs, progress=False)
        np.testing.assert_allclose(table.value, turned.value, err_msg=method)


def test_weights_of_networkx_edges_count_on_request() -> None:
    a, b = nx.Graph(), nx.Graph()
    a.add_edge(0, 1, weight=1.0)
    b.add_edge(0, 1, weight=1.75)
    graphs = ug.GraphSet.from_networkx([a, b], edge_label="weight")
    assert ug.distance(graphs[0], graphs[1], costs=Costs(edge_attributes=2)).value == pytest.approx(1.5)
    assert ug.distance(graphs[0], graphs[1]).value == 1  # another label
    assert "relabel edge 0–1 1.0 → 1.75 (cost 1.5)" in map(
        str, ug.distance(graphs[0], graphs[1], costs=Costs(edge_attributes=2)).edit_path()
    )


def test_equal_labels_with_other_attributes_are_an_edit_that_says_so() -> None:
    graphs = ug.GraphSet.from_edges([1, 1], [], node_labels=["C", "C"], node_attributes=[[0, 0], [0.3, 0.4]])
    found = ug.distance(graphs[0], graphs[1], costs=Costs(node_attributes=1))
    assert found.value == pytest.approx(0.5)
    assert [str(step) for step in found.edit_path()] == ["relabel node 0 C, attributes (cost 0.5)"]


def test_what_cannot_count_is_an_error_that_says_why() -> None:
    plain = ug.load_dataset("atlas")[3:6]
    with pytest.raises(CostError, match=r"node_attributes=0.5, but the nodes of .* have none"):
        ug.pairwise(plain, costs=Costs(node_attributes=0.5))
    with pytest.raises(CostError, match="have no numbers as labels"):
        ug.pairwise(plain, costs=Costs(edge_attributes=0.5))
    with pytest.raises(CostError, match=r"node_scale has 3 numbers for 2 columns"):
        ug.pairwise(graphs_with(1), costs=Costs(node_attributes=1, node_scale=(1, 2, 3)))
    with pytest.raises(CostError, match="one positive number per column"):
        Costs(node_scale=(1, 0))
    with pytest.raises(CostError, match="differ by"):
        ug.pairwise(graphs_with(1), costs=Costs(node_attributes=1e6))
    with pytest.raises(CostError, match="exclude each other"):
        Costs(edge_attributes=1, edge_relabel=lambda a, b: 1.0)
    names = ug.GraphSet.from_edges([2], [(0, 1)], edge_labels=["single"])
    with pytest.raises(CostError, match=r"the label 'single' of an edge is not a number"):
        ug.distance(names[0], names[0], costs=Costs(edge_attributes=1))
    with pytest.raises(CostError, match="node_attributes is -1"):
        Costs(node_attributes=-1)


def test_descriptions_are_those_of_before_unless_attributes_count() -> None:
    assert "node_attributes" not in Costs().description()
    costs = Costs(node_attributes=0.5, node_scale=[1, 2])
    assert costs.description()["node_scale"] == [1.0, 2.0]
    assert Costs.from_description(costs.description()) == costs
    assert Costs.from_description(Costs().description()) == Costs()


def test_a_model_learns_distances_with_attributes_and_search_says_what_it_cannot_prove() -> None:
    graphs = graphs_with(3, 24, 6)
    model = ug.UGraphEmb(costs=Costs(node_attributes=0.5), steps=3, dimension=4, layers=(4, 4), batch=8, threads=1,
                         settings={"scales": None}, progress=False).fit(graphs)  # fmt: skip
    assert model.about_["distance_settings"]["costs"]["node_attributes"] == 0.5
    assert len(model.vocabulary_.attribute_mean) == 2  # the network sees them
    index = ug.GraphIndex(model).add(graphs)
    assert len(index.search(graphs[3], k=2)) == 2
    with pytest.raises(CostError, match="search has no bounds"):
        index.search(graphs[3], k=2, verify=True)


def test_the_command_line_takes_them(tmp_path: Any) -> None:
    graphs = ug.GraphSet.from_edges([2, 2], [(0, 1), (2, 3)], node_attributes=[[0, 0], [1, 0], [0, 0], [4, 0]])
    ug.write_graphs(graphs, tmp_path / "g.jsonl")
    command = [sys.executable, "-m", "ugraphemb.cli.main", "distance", "g.jsonl:0", "g.jsonl:1", "--method", "exact"]
    options = ["--cost", "node_attributes=0.5", "--cost", "node_scale=2,1", "--json"]
    done = subprocess.run([*command, *options], cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert '"value": 0.75' in done.stdout
