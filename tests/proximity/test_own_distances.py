"""Distances that the user brings: read from matrices, written to pandas and CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.proximity import PairTable

GRAPHS = ug.load_dataset("atlas")[20:32]


def matrix() -> np.ndarray:
    return np.asarray(ug.pairwise(GRAPHS, threads=1).matrix())


def model(**options: object) -> ug.UGraphEmb:
    settings = {"layers": (4,), "scales": (0, 1), "hidden": 4}
    return ug.UGraphEmb(dimension=4, steps=5, batch=8, settings=settings, threads=1, progress=False, **options)  # type: ignore[arg-type]


def test_a_table_of_a_matrix_gives_the_matrix_back() -> None:
    given = matrix()
    given[2, 5] = given[5, 2] = np.nan
    table = PairTable.from_matrix(GRAPHS, given)
    assert len(table) == 12 * 11 // 2 - 1
    assert np.array_equal(np.ma.filled(table.matrix(), np.nan), given, equal_nan=True)
    assert table.sizes == ()
    assert PairTable.from_matrix(GRAPHS, np.nan_to_num(given), sized=True).normalized().is_normalized


def test_a_matrix_that_is_no_matrix_of_distances_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(3, 3\) for 12 graphs"):
        PairTable.from_matrix(GRAPHS, np.zeros((3, 3)))
    crooked = matrix()
    crooked[0, 1] += 1
    with pytest.raises(ValueError, match=r"not symmetric: entry \(0, 1\)"):
        PairTable.from_matrix(GRAPHS, crooked)
    with pytest.raises(ValueError, match=r"the distance \(0, 0\) is -"):
        PairTable.from_matrix(GRAPHS, -1 - matrix())


def test_matrix_and_graphs_in_the_wrong_order_are_an_error_that_says_so() -> None:
    graphs = ug.load_dataset("atlas")[10:13]
    matrix = ug.pairwise(graphs, method="exact", threads=1).matrix()
    for wrong in (matrix, matrix.tolist()):
        with pytest.raises(TypeError, match=r"the graphs come first: PairTable.from_matrix\(graphs, matrix\)"):
            ug.PairTable.from_matrix(wrong, graphs)


def test_fit_learns_the_distances_it_is_given() -> None:
    given = matrix()
    fitted = model().fit(GRAPHS, distances=given)
    assert fitted.about_["metric"] == "precomputed"
    same = model().fit(GRAPHS, PairTable.from_matrix(GRAPHS, given))
    assert np.array_equal(fitted.transform(GRAPHS), same.transform(GRAPHS))
    assert not np.array_equal(fitted.transform(GRAPHS), model().fit(GRAPHS, distances=2 * given).transform(GRAPHS))
    assert fitted.score(GRAPHS, distances=given) == -fitted.score(GRAPHS, distances=given.max() - given)


def test_a_square_matrix_as_y_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"y is a square matrix, 12 by 12; .* fit\(graphs, distances=D\)"):
        model().fit(GRAPHS, matrix())
    with pytest.raises(TypeError, match="given twice"):
        model().fit(GRAPHS, PairTable.from_matrix(GRAPHS, matrix()), distances=matrix())


def test_a_function_of_two_graphs_is_learned() -> None:
    fitted = model(metric=lambda a, b: abs(a.num_nodes - b.num_nodes), kind="distance").fit(GRAPHS)
    assert fitted.about_["kind"] == "distance"
    with pytest.raises(TypeError, match="kind='distance' or kind='similarity'"):
        model(metric=lambda a, b: 1.0).fit(GRAPHS)


def test_tables_are_written_as_csv_and_as_data_frames(tmp_path: Path) -> None:
    table = ug.pairwise(GRAPHS, [(0, 3), (2, 5)], threads=1, method="vj")
    table.to_csv(tmp_path / "pairs.csv", GRAPHS)
    with (tmp_path / "pairs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["left_id"], row["right"]) for row in rows] == [(GRAPHS[0].id, "3"), (GRAPHS[2].id, "5")]
    assert [float(row["value"]) for row in rows] == table.value.tolist()
    assert [row["lower"] == "" for row in rows] == np.isnan(table.lower).tolist()
    pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert list(frame.columns) == ["left", "right", "value", "lower", "upper", "proven"]
    assert frame["value"].tolist() == table.value.tolist()
    assert table.to_pandas(GRAPHS)["right_id"].tolist() == [GRAPHS[3].id, GRAPHS[5].id]
    with pytest.raises(ug.errors.TableError):
        table.to_pandas(GRAPHS[:3])


def test_a_model_keeps_its_costs_and_an_index_verifies_with_them(tmp_path: Path) -> None:
    costs = ug.EditCosts(node_insert=3, edge_relabel=0)
    fitted = model(costs=costs).fit(GRAPHS)
    fitted.save(tmp_path / "model")
    again = ug.UGraphEmb.load(tmp_path / "model")
    assert again.costs == costs
    index = ug.GraphIndex(again, threads=1).add(GRAPHS)
    assert index.costs == costs
    match = index.search(GRAPHS[0], 3, verify=True)[2]
    assert match.distance == ug.distance(GRAPHS[0], match.graph, costs=costs).value
