"""The protocol of models of pairs, against scores computed one pair at a time."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import ugraphemb as ug
from ugraphemb.cli.main import cli
from ugraphemb.tasks import pair_protocol, pair_split, ranking


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
