"""The protocol of models of pairs, against scores computed one pair at a time."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import kendalltau, spearmanr

import ugraphemb as ug
from ugraphemb.cli.main import cli
from ugraphemb.tasks import pair_protocol, pair_split, pairs, ranking


@pytest.fixture(scope="module")
def graphs():
    return ug.load_dataset("atlas")[8:48]


@pytest.fixture(scope="module")
def model(graphs):
    training = graphs[pair_split(len(graphs)).train]
    return ug.UGraphEmb(steps=10, dimension=8, layers=(8, 8, 8), threads=1, progress=False).fit(training)


def test_the_split_is_four_to_one_and_depends_on_its_seed():
    one, two = pair_split(50, 0), pair_split(50, 1)
    assert (len(one.train), len(one.validation), len(one.test)) == (40, 0, 10)
    assert not np.array_equal(one.test, two.test)


def test_scores_are_those_of_each_pair(graphs, model):
    parts = pair_split(len(graphs))
    test, training = graphs[parts.test], graphs[parts.train]
    found = pair_protocol(graphs, model=model, ks=(3,), threads=1, progress=False)
    vectors, others = model.transform(test), model.transform(training)
    errors, squares, truth = [], [], np.empty((len(test), len(training)))
    for i, left in enumerate(test):
        for j, right in enumerate(training):
            exact = ug.distance(left, right, method="exact").upper
            size = (left.num_nodes + right.num_nodes) / 2
            guess = float(model.proximity(vectors[i : i + 1], others[j : j + 1])[0, 0])
            errors.append(abs(guess * size - exact))
            squares.append((np.exp(-guess) - np.exp(-exact / size)) ** 2)
            truth[i, j] = exact / size
    scores = found["test × training"]
    assert (scores.pairs, scores.proven) == (len(errors), 1.0)
    assert scores.mae == pytest.approx(np.mean(errors), rel=1e-4)
    assert scores.mse == pytest.approx(np.mean(squares), rel=1e-4)
    ranks = ranking(model.proximity(vectors, others), truth, k=3).summary()
    assert scores.tau == pytest.approx(ranks["tau"][0], abs=1e-6)
    assert scores.precision[3] == pytest.approx(ranks["p@3"][0], abs=1e-6)
    among = found["test × test"]
    assert among.pairs == len(test) * (len(test) - 1)


def test_the_command_trains_and_reports_both_parts(tmp_path, graphs, model):
    ug.write_graphs(graphs, tmp_path / "g.jsonl")
    model.save(tmp_path / "model")
    options = ["evaluate", "rank", "--protocol", "pairs", "--graphs", str(tmp_path / "g.jsonl"), "--json"]
    result = CliRunner().invoke(cli, [*options, "--model", str(tmp_path / "model"), "--max-nodes", "5"])
    assert result.exit_code == 0, result.output
    small = graphs[graphs.num_nodes <= 5]
    expected = pair_protocol(small, model=model, progress=False)["test × training"]
    found = json.loads(result.stdout)
    assert found["test × training"]["mae"] == pytest.approx(expected.mae)
    assert set(found) == {"test × training", "test × test"}
    if len(small) < len(graphs):
        assert "are left out" in result.stderr
    assert CliRunner().invoke(cli, options[:4]).exit_code == 2
    assert CliRunner().invoke(cli, ["evaluate", "rank"]).exit_code == 2


def test_scores_are_those_of_scipy(graphs, model):
    parts = pair_split(len(graphs))
    test = graphs[parts.test]
    vectors = model.transform(test)
    tau, rho, hits = [], [], []
    for i in range(len(test)):
        others = np.setdiff1d(np.arange(len(test)), [i])
        exact = [ug.distance(test[i], test[j], method="exact").value for j in others.tolist()]
        truth = np.array(exact) / ((test.num_nodes[i] + test.num_nodes[others]) / 2)
        guess = model.proximity(vectors[[i]], vectors[others])[0]
        tau.append(kendalltau(guess, truth).statistic)
        rho.append(spearmanr(guess, truth).statistic)
        hits.append(np.mean(truth[np.argsort(guess, kind="stable")[:3]] <= np.sort(truth)[2]))
    scores = pair_protocol(graphs, model=model, ks=3, threads=1, progress=False)["test × test"]
    assert (scores.tau, scores.rho) == (pytest.approx(np.nanmean(tau)), pytest.approx(np.nanmean(rho)))
    assert scores.precision[3] == pytest.approx(np.mean(hits))


def test_precision_beyond_the_database_is_unknown_rather_than_perfect(graphs, model):
    found = pair_protocol(graphs, model=model, ks=(7, 8, 40), threads=1, progress=False)["test × test"]
    assert found.precision[7] == 1  # 7 others, all of them
    assert np.isnan([found.precision[8], found.precision[40]]).all()


def test_pairs_whose_distance_is_not_proven_are_counted(graphs, model, monkeypatch):
    """A graph and itself are no pair of test × test."""
    honest = pairs.pairwise

    def doubtful(*arguments, **options):
        table = honest(*arguments, **options)
        return replace(table, proven=table.proven & (table.left == table.right))

    monkeypatch.setattr(pairs, "pairwise", doubtful)
    assert pair_protocol(graphs, model=model, ks=3, threads=1, progress=False)["test × test"].proven == 0


def test_a_model_of_another_proximity_and_too_few_graphs_are_refused(graphs, model):
    small = {"steps": 1, "dimension": 8, "layers": (8, 8, 8), "threads": 1, "progress": False}
    similar = ug.UGraphEmb(**small, metric="mcs").fit(graphs[:10])
    with pytest.raises(ValueError, match="the model predicts mcs"):
        pair_protocol(graphs, model=similar)
    expensive = ug.UGraphEmb(**small, costs=ug.EditCosts(node_insert=3, node_delete=3)).fit(graphs[:10])
    with pytest.raises(ValueError, match="other costs"):
        pair_protocol(graphs, model=expensive)
    with pytest.raises(ValueError, match="2 of 12 graphs are test graphs; the protocol needs at least 3"):
        pair_protocol(graphs[:12])
    with pytest.raises(ValueError, match="p@0"):
        pair_protocol(graphs, model=model, ks=(0, 3))


def test_the_command_refuses_what_its_protocol_does_not_use(tmp_path, graphs, model):
    ug.write_graphs(graphs, tmp_path / "g.jsonl")
    model.save(tmp_path / "model")
    np.save(tmp_path / "z.npy", model.transform(graphs))
    np.save(tmp_path / "truth.npy", np.ones((40, 40)))
    ug.pairwise(graphs, method="hungarian", progress=False).write(tmp_path / "truth.parquet")
    of_pairs = ["--protocol", "pairs", "--graphs", tmp_path / "g.jsonl", "--model", tmp_path / "model"]
    of_vectors = ["--vectors", tmp_path / "z.npy", "--truth", tmp_path / "truth.npy"]
    of_table = ["--vectors", tmp_path / "z.npy", "--truth", tmp_path / "truth.parquet"]
    for given, useless in (
        *((of_pairs, [option, "x.npy"]) for option in ("--vectors", "--truth", "--queries")),
        *((of_pairs, [option]) for option in ("--similarity", "--raw")),
        (of_pairs, ["--head", "l1"]),
        (of_vectors, ["--max-nodes", "5"]),
        (of_vectors, ["--model", "graphs"]),
        (of_vectors, ["--smiles-column", "x"]),
        (of_vectors, ["--raw"]),
        (of_table, ["--similarity"]),
    ):
        result = CliRunner().invoke(cli, ["evaluate", "rank", *map(str, given), *useless])
        assert result.exit_code == 2, useless
        assert f"{useless[0]} has no effect" in result.stderr
    command = ["evaluate", "rank", *map(str, of_pairs), "--json"]
    some = json.loads(CliRunner().invoke(cli, [*command, "-k", "2", "-k", "50"]).stdout)["test × test"]
    assert [name for name in some if name.startswith("p@")] == ["p@2", "p@50"]
    assert some["p@50"] is None
    other = json.loads(CliRunner().invoke(cli, [*command, "--split", "3"]).stdout)["test × test"]
    assert other["mae"] != some["mae"]
    assert "p@20" in other


def test_the_command_reads_tables_of_molecules_and_takes_a_model_by_its_name(tmp_path):
    pytest.importorskip("rdkit")
    smiles = ["C" * n + end for n in range(1, 6) for end in ("O", "N", "=O")]
    (tmp_path / "m.csv").write_text("structure\n" + "\n".join(smiles) + "\n", encoding="utf-8")
    options = ["--graphs", str(tmp_path / "m.csv"), "--smiles-column", "structure", "--model", "molecules", "-k", "1"]
    result = CliRunner().invoke(cli, ["evaluate", "rank", "--protocol", "pairs", *options, "--json"])
    assert result.exit_code == 0, result.output
    graphs = ug.read_graphs(tmp_path / "m.csv", column="structure")
    model = ug.UGraphEmb.pretrained("molecules", costs=ug.EditCosts(edge_relabel=0))
    expected = pair_protocol(graphs, model=model, ks=1, progress=False)["test × training"]
    assert json.loads(result.stdout)["test × training"]["mae"] == pytest.approx(expected.mae)
