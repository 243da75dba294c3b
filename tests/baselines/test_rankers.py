from __future__ import annotations

import numpy as np
import pytest
from baselines.collections_of_graphs import odd_graphs, random_graphs
from sklearn.exceptions import NotFittedError

import ugraphemb as ug
from ugraphemb.baselines.rankers import EditDistanceRanker

METHODS = ("beam", "hungarian", "vj", "hed", "branch", "refine")


@pytest.mark.parametrize("method", METHODS)
def test_distances_are_those_of_single_pairs(method: str) -> None:
    queries, database = random_graphs(2, high=6), random_graphs(3, seed=1, high=6) + odd_graphs()
    found = EditDistanceRanker(method, normalized=False).fit(database).distances(queries)
    assert found.shape == (2, 8)
    for i, query in enumerate(queries):
        for j, graph in enumerate(database):
            assert found[i, j] == ug.distance(query, graph, method=method).value


@pytest.mark.parametrize("method", METHODS)
def test_solvers_stay_on_their_side_of_the_exact_distance(method: str) -> None:
    queries, database = random_graphs(4, high=6), random_graphs(4, seed=1, high=6)
    exact = EditDistanceRanker("exact").fit(database).distances(queries)
    found = EditDistanceRanker(method).fit(database).distances(queries)
    assert (found <= exact + 1e-9).all() if method == "hed" else (found >= exact - 1e-9).all()


def test_normalized_distances_are_divided_by_the_mean_size_of_the_pair() -> None:
    queries, database = random_graphs(3), random_graphs(4, seed=1)
    plain = EditDistanceRanker("branch", normalized=False).fit(database).distances(queries)
    sizes = (queries.num_nodes[:, None] + database.num_nodes) / 2
    np.testing.assert_allclose(EditDistanceRanker("branch").fit(database).distances(queries), plain / sizes)


def test_a_graph_of_the_database_is_at_distance_0_from_itself() -> None:
    graphs = odd_graphs()
    assert (np.diagonal(EditDistanceRanker("refine").fit(graphs).distances(graphs)) == 0).all()


def test_no_queries_give_no_rows_and_no_database_is_an_error() -> None:
    graphs = odd_graphs()
    assert EditDistanceRanker("vj").fit(graphs).distances(graphs[[]]).shape == (0, 5)
    with pytest.raises(ValueError, match="no graphs"):
        EditDistanceRanker("vj").fit(graphs[[]])
    with pytest.raises(NotFittedError):
        EditDistanceRanker("vj").distances(graphs)
    with pytest.raises(ValueError, match="unknown method 'astar'; there are exact"):
        EditDistanceRanker("astar")  # type: ignore[arg-type]
