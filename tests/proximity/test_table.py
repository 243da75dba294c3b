"""PairTable: what it computes from itself, and what it survives on disk."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from proximity.oracle import random_graph

from ugraphemb import EditCosts, GraphSet, PairTable, __version__, pairwise
from ugraphemb.errors import StorageError, TableError
from ugraphemb.files import system
from ugraphemb.graphs import concatenated
from ugraphemb.proximity import lookup

RANDOM = np.random.default_rng(0)
GRAPHS = concatenated([random_graph(RANDOM, int(n), 0.4, 2).graphs for n in [0, 0, 1, 2, 3, 3, 4, 5, 6, 7]])
TABLE = pairwise(GRAPHS, method="tight")


def assert_equal(first: PairTable, second: PairTable) -> None:
    for name in ("left", "right", "value", "lower", "upper", "proven"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
        assert getattr(first, name).dtype == getattr(second, name).dtype
    for name in ("metric", "kind", "method", "costs", "settings", "fingerprints", "counts", "symmetric", "version"):
        assert getattr(first, name) == getattr(second, name)
    assert first.is_normalized == second.is_normalized


@pytest.mark.parametrize("options", [{}, {"method": "hed"}, {"metric": "mcs"}, {"costs": EditCosts(node_relabel=0.3)}])
def test_what_is_written_is_read(tmp_path, options: dict):
    table = pairwise(GRAPHS, **options)
    table.write(tmp_path / "t.parquet")
    assert_equal(PairTable.read(tmp_path / "t.parquet", GRAPHS), table)
    normalized = table.normalized()
    normalized.write(tmp_path / "n.parquet")
    assert_equal(PairTable.read(tmp_path / "n.parquet"), normalized)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["n.parquet", "t.parquet"]


def test_anyone_can_read_the_columns(tmp_path):
    TABLE.write(tmp_path / "t.parquet")
    content = pq.read_table(tmp_path / "t.parquet")
    assert content.column_names == ["left", "right", "value", "lower", "upper", "proven"]
    np.testing.assert_array_equal(content["value"].to_numpy(), TABLE.value)
    assert TABLE.version == __version__


def test_a_table_of_other_graphs_is_refused(tmp_path):
    TABLE.write(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"t\.parquet: the table is of 10 graphs .* not of 9 graphs"):
        PairTable.read(tmp_path / "t.parquet", GRAPHS[:9])
    with pytest.raises(TableError, match="not of 10 graphs"):
        PairTable.read(tmp_path / "t.parquet", GRAPHS[::-1])
    with pytest.raises(TableError):
        PairTable.read(tmp_path / "t.parquet", GRAPHS, GRAPHS)
    across = pairwise(GRAPHS, GRAPHS[:3], method="branch")
    across.write(tmp_path / "a.parquet")
    assert len(PairTable.read(tmp_path / "a.parquet", GRAPHS, GRAPHS[:3])) == 30


def test_truncated_and_foreign_files_are_refused_at_every_length(tmp_path):
    TABLE.write(tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        (tmp_path / "truncated.parquet").write_bytes(whole[:length])
        with pytest.raises(TableError, match=r"truncated\.parquet"):
            PairTable.read(tmp_path / "truncated.parquet")
    pq.write_table(pa.table({"left": [1]}), tmp_path / "foreign.parquet")
    with pytest.raises(TableError, match="not a pair table"):
        PairTable.read(tmp_path / "foreign.parquet")
    with pytest.raises(FileNotFoundError):
        PairTable.read(tmp_path / "none.parquet")


def test_every_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "t.parquet"
    TABLE.write(path)
    whole, random = path.read_bytes(), np.random.default_rng(0)
    for place in {*range(len(whole) - 40, len(whole)), *random.integers(0, len(whole), 100).tolist()}:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << random.integers(8)]) + whole[place + 1 :])
        with pytest.raises(TableError, match=r"t\.parquet"):
            PairTable.read(path)


@pytest.mark.parametrize(
    "wrong",
    [{"counts": (3,)}, {"counts": (10, 10)}, {"fingerprints": ()}, {"kind": "other"}, {"value_is": "x"}, {"metric": 3},
     {"settings": []}, {"sizes": (np.zeros(3, np.int32),)}, {"symmetric": 1}, {"counts": (10.5,)},
     {"left": TABLE.left + 7}, {"right": -TABLE.right}],
)  # fmt: skip
def test_a_table_that_makes_no_sense_is_refused(tmp_path, wrong):
    dataclasses.replace(TABLE, **wrong).write(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"t\.parquet"):
        PairTable.read(tmp_path / "t.parquet")


@pytest.mark.parametrize("column", ["left", "lower", "proven"])
def test_columns_of_other_types_and_with_holes_are_refused(tmp_path, column):
    TABLE.write(tmp_path / "t.parquet")
    content = pq.read_table(tmp_path / "t.parquet")
    header = json.loads(content.schema.metadata[b"ugraphemb"])
    place = content.column_names.index(column)
    for values in (pa.nulls(len(TABLE), content.schema.field(column).type), pa.array(["x"] * len(TABLE))):
        other = content.set_column(place, column, values)
        for version in (1, 2):
            described = other.replace_schema_metadata({"ugraphemb": json.dumps({**header, "format": version})})
            pq.write_table(described, tmp_path / "o.parquet")
            with pytest.raises(TableError, match=r"checksum is missing|the column"):
                PairTable.read(tmp_path / "o.parquet")


def test_a_full_disk_is_an_error_of_ours_and_leaves_the_old_table(tmp_path, monkeypatch):
    def full(descriptor, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    TABLE.write(tmp_path / "t.parquet")
    monkeypatch.setattr(system, "write", full)
    with pytest.raises(StorageError, match="No space left on device"):
        TABLE.normalized().write(tmp_path / "t.parquet")
    assert not PairTable.read(tmp_path / "t.parquet").is_normalized
    assert [path.name for path in tmp_path.iterdir()] == ["t.parquet"]


def test_normalized_values_are_divided_by_the_mean_size():
    normalized = TABLE.normalized()
    sizes = (GRAPHS.num_nodes[TABLE.left] + GRAPHS.num_nodes[TABLE.right]) / 2
    filled = sizes > 0
    np.testing.assert_allclose(normalized.value[filled], TABLE.value[filled] / sizes[filled])
    np.testing.assert_allclose(normalized.lower[filled], TABLE.lower[filled] / sizes[filled])
    assert normalized.value[~filled].tolist() == [0]  # two empty graphs
    assert normalized.normalized() is normalized
    assert pairwise(GRAPHS, [(0, 1)], metric="mcs").normalized().value.tolist() == [1]
    assert pairwise(GRAPHS, [(9, 9)], metric="mcs").normalized().value.tolist() == [1]


def test_the_matrix_of_all_pairs_is_dense_symmetric_and_0_on_the_diagonal():
    matrix = TABLE.matrix()
    assert not isinstance(matrix, np.ma.MaskedArray)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert (np.diag(matrix) == 0).all()
    np.testing.assert_array_equal(matrix[TABLE.left, TABLE.right], TABLE.value)


def test_missing_pairs_are_masked_not_0():
    matrix = TABLE.where(TABLE.left == 3).matrix()
    assert isinstance(matrix, np.ma.MaskedArray)
    assert matrix.mask[4, 5]
    assert not matrix.mask[3, 5]
    assert not matrix.mask[5, 3]
    assert pairwise(GRAPHS, metric="mcs").matrix().mask.diagonal().all()  # the diagonal was not computed


def test_where_and_sample_choose_rows():
    some = TABLE.where(TABLE.value > 5)
    assert 0 < len(some) < len(TABLE)
    assert (some.value > 5).all()
    assert_equal(TABLE.where(slice(3, 9)), TABLE.where(np.arange(3, 9)))
    sample = TABLE.sample(7, seed=3)
    assert len(sample) == 7
    assert_equal(sample, TABLE.sample(7, seed=3))
    rows = set(zip(TABLE.left.tolist(), TABLE.right.tolist(), strict=True))
    assert len(rows & set(zip(sample.left.tolist(), sample.right.tolist(), strict=True))) == 7
    with pytest.raises(ValueError, match="sample of 99"):
        TABLE.sample(99)
    with pytest.raises(ValueError, match=r"mask of shape \(2,\)"):
        TABLE.where([True, False])


def test_merged_parts_are_the_whole():
    half = len(TABLE) // 2
    assert_equal(TABLE.where(slice(half, None)).merge(TABLE.where(slice(0, half + 3))), TABLE)


def test_merging_keeps_the_tighter_bounds():
    first = TABLE.where([0, 1])
    weaker = first.where([0, 1])
    object.__setattr__(weaker, "lower", first.lower - 1)
    object.__setattr__(weaker, "upper", first.upper + 1)
    assert_equal(weaker.merge(first), first)


def test_tables_that_do_not_belong_together_do_not_merge():
    for other in (
        pairwise(GRAPHS, method="branch"),
        pairwise(GRAPHS, metric="mcs"),
        pairwise(GRAPHS[:9]),
        TABLE.normalized(),
    ):
        with pytest.raises(TableError, match="do not merge"):
            TABLE.merge(other)


def test_distances_from_elsewhere_make_a_table():
    table = PairTable.from_values(GRAPHS, [(0, 1), (2, 3)], [0.5, 2.0], kind="distance", name="mine")
    assert (table.metric, table.kind, table.value.tolist()) == ("mine", "distance", [0.5, 2.0])
    assert table.matrix()[3, 2] == 2.0
    with pytest.raises(ValueError, match=r"values of shape \(1,\) for 2 pairs"):
        PairTable.from_values(GRAPHS, [(0, 1), (2, 3)], [0.5], kind="distance")
    with pytest.raises(ValueError, match="kind is 'near'"):
        PairTable.from_values(GRAPHS, [(0, 1)], [0.5], kind="near")


def test_two_million_pairs_load_in_moments(tmp_path):
    size = 2001
    graphs = GraphSet.from_edges([1] * size, [])
    left, right = np.triu_indices(size, 1)
    value = np.random.default_rng(0).integers(0, 200, len(left)).astype(np.float64)
    table = PairTable.from_values(graphs, np.column_stack([left, right]).astype(np.int32), value, kind="distance")
    assert len(table) > 2_000_000
    table.write(tmp_path / "t.parquet")
    begin = time.process_time()
    again = PairTable.read(tmp_path / "t.parquet", graphs)
    assert time.process_time() - begin < 2  # ten million take a second or so on a machine with nothing else to do
    np.testing.assert_array_equal(again.value, value)


@pytest.fixture(params=["dense", "sparse"])
def layout(request, monkeypatch):
    if request.param == "sparse":
        monkeypatch.setattr(lookup, "_DENSE_LIMIT", 0)


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("symmetric", [True, False])
def test_rows_are_found_by_the_definition(symmetric):
    """Pairs at random, some twice, some in both orders: the last row of a pair counts."""
    random = np.random.default_rng(0)
    graphs = GraphSet.from_edges(random.integers(1, 4, 12), [])
    pairs = random.integers(0, 12, (70, 2))
    table = PairTable.from_values(graphs, pairs, random.random(70), kind="similarity")
    table = dataclasses.replace(table, symmetric=symmetric)
    expected = np.full((12, 12), -1)
    for row, (i, j) in enumerate(pairs):
        expected[i, j] = row
        if symmetric:
            expected[j, i] = row
    left, right = random.permutation(12)[:5], random.permutation(12)[:7]
    np.testing.assert_array_equal(table.rows(left, right), expected[np.ix_(left, right)])
    np.testing.assert_array_equal(table.lookup.rows(*pairs.T), expected[tuple(pairs.T)])
    empty = table.where(np.zeros(70, bool))
    assert (empty.rows(left, right) == -1).all()
    assert (empty.lookup.rows(left, left) == -1).all()
    known = expected >= 0
    np.testing.assert_array_equal(np.ma.getmaskarray(table.matrix()), ~known)
    np.testing.assert_array_equal(table.matrix()[known], table.value[expected[known]])


def test_the_pairs_among_some_graphs_are_a_table_of_these():
    random = np.random.default_rng(1)
    graphs = GraphSet.from_edges(random.integers(1, 9, 10), [])
    table = pairwise(graphs, progress=False)
    chosen = np.array([7, 2, 9, 4])
    inside = table.among(chosen)
    assert {(i, j) for i, j in zip(inside.left, inside.right, strict=True)} == {
        (2, 4), (2, 7), (2, 9), (4, 7), (4, 9), (7, 9)
    }  # fmt: skip
    own = table.among(chosen, graphs[chosen])
    own.check(graphs[chosen])
    np.testing.assert_array_equal(own.matrix(), pairwise(graphs[chosen], progress=False).matrix())
    np.testing.assert_array_equal(own.normalized().matrix(), table.normalized().matrix()[np.ix_(chosen, chosen)])
    with pytest.raises(TableError, match="two collections"):
        pairwise(graphs, graphs[:2], progress=False).among(chosen)
