"""train, embed and finetune, as a person calls them."""

import json
import os
import re
import signal

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import ugraphemb as ug
from ugraphemb.cli.main import cli
from ugraphemb.training import loop


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train")
    graphs = ug.load_dataset("atlas")[50:90]
    classes = (graphs.num_edges > np.median(graphs.num_edges)).astype(int)
    (folder / "classes.txt").write_text("\n".join(map(str, classes)))
    ug.write_graphs(graphs, folder / "graphs.jsonl")
    return folder


def run(*arguments):
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_train_embed_and_finetune_follow_one_another(files):
    graphs, model = files / "graphs.jsonl", files / "model"
    code, out, _ = run("train", graphs, "--steps", 20, "--dimension", 8, "--threads", 1, "-o", model)
    assert code == 0
    assert re.search(r"40 graphs, \d+ pairs, 20 steps", out)
    code, out, _ = run("embed", model, graphs, "-o", files / "v.npy", "--threads", 1)
    assert (code, np.load(files / "v.npy").shape) == (0, (40, 8))
    assert run("embed", model, graphs, "-o", files / "v.parquet", "--threads", 1)[0] == 0
    table = pq.read_table(files / "v.parquet")
    assert table["id"].to_pylist() == ug.read_graphs(graphs).ids.tolist()
    np.testing.assert_array_equal(np.array(table["vector"].to_pylist(), np.float32), np.load(files / "v.npy"))
    code, out, _ = run(
        "finetune", model, graphs, "--targets", files / "classes.txt", "--steps", 10, "-o", files / "fine"
    )
    assert code == 0
    assert "validation accuracy" in out
    code, out, _ = run("predict", files / "fine", graphs, "--threads", 1)
    lines = out.splitlines()
    assert (code, lines[0], len(lines)) == (0, "id,class,p(0),p(1)", 41)
    assert run("predict", files / "fine", graphs, "-o", files / "p.csv")[0] == 0
    assert (files / "p.csv").read_text() == out
    code, _, err = run("predict", model, graphs)
    assert code == 2
    assert "has no classes" in err
    assert (
        np.abs(ug.UGraphEmb.load(files / "fine").transform(ug.read_graphs(graphs)) - np.load(files / "v.npy")).max() > 0
    )


def test_wrong_calls_are_told_in_a_line(files):
    graphs = files / "graphs.jsonl"
    assert run("train", graphs, "--resume", "-o", files / "x")[0] == 2
    code, _, err = run("train", graphs, "--preset", "best", "-o", files / "x")
    assert code == 2
    assert "'default'" in err
    (files / "empty").mkdir(exist_ok=True)
    assert run("embed", files / "empty", graphs, "-o", files / "w.npy")[0] == 2
    assert not (files / "w.npy").exists()
    assert not (files / "x").exists()


def test_sigterm_saves_the_checkpoint_and_more_steps_go_on_from_it(files, monkeypatch):
    step = loop._Run.one_step

    def stopped(self):
        step(self)
        if self.state.step == 5:
            os.kill(os.getpid(), signal.SIGTERM)

    call = ["train", files / "graphs.jsonl", "--dimension", 8, "--threads", 1, "--checkpoint", files / "c", "--resume"]
    with monkeypatch.context() as patch:
        patch.setattr(loop._Run, "one_step", stopped)
        with pytest.warns(UserWarning, match="stopped by SIGTERM at step 5"):
            code, _, _ = run(*call, "--steps", 20, "-o", files / "stopped")
    assert code == 143
    assert not (files / "stopped").exists()
    code, out, _ = run(*call, "--steps", 20, "-o", files / "resumed")
    assert (code, "20 steps" in out) == (0, True)
    code, out, _ = run(*call, "--steps", 25, "-o", files / "extended")
    assert (code, "25 steps" in out) == (0, True)
    other = CliRunner().invoke(cli, [*map(str, call), "--seed", "1", "-o", str(files / "other")])
    assert other.exit_code == 1
    assert "another seed: 0 there, 1 here" in str(other.exception)


def test_a_pretrained_model_is_finetuned_by_its_name(files):
    graphs = ug.read_graphs(files / "graphs.jsonl")
    small = ["finetune", "graphs", files / "graphs.jsonl", "--targets", files / "classes.txt", "--steps", 1]
    code, _, err = run(*small, "-o", files / "named")
    assert code == 0, err
    code, out, _ = run("predict", files / "named", files / "graphs.jsonl")
    assert code == 0
    assert [line.split(",")[1] for line in out.splitlines()[1:]] == (
        ug.UGraphEmb.load(files / "named").predict(graphs).tolist()
    )
    for seed in (0, 1):  # the option has an effect
        assert run(*small, "--seed", seed, "-o", files / f"seed{seed}")[0] == 0
    zero, one = (ug.UGraphEmb.load(files / f"seed{seed}").transform(graphs) for seed in (0, 1))
    assert np.abs(zero - one).max() > 0
    for arguments, message in (
        (("finetune", "graph", files / "graphs.jsonl", "-o", files / "x"), "graph: no such folder, and no pre-trained"),
        (("predict", "graphs", files / "graphs.jsonl"), "graphs has no classes"),
        ((*small, "--target-column", "active", "-o", files / "x"), "--target-column has no effect beside --targets"),
        (("embed", files / "graphs.jsonl", "--rows", 5, "-o", files / "x.npy"), "--rows has no effect"),
    ):
        code, _, err = run(*arguments)
        assert (code, message in err) == (2, True), err


def test_graphs_without_a_class_are_named_by_their_position(tmp_path):
    pytest.importorskip("rdkit")
    for cells in (("1", "0"), ("yes", "no")):  # numbers, strings
        rows = [f"{'C' * (n + 1)},{'' if n == 3 else cells[n % 2]}" for n in range(6)]
        (tmp_path / "partly.csv").write_text("smiles,active\n" + "\n".join(rows) + "\n")
        call = ("finetune", "graphs", tmp_path / "partly.csv", "--target-column", "active", "-o", tmp_path / "x")
        code, _, err = run(*call)
        assert (code, "target 3 is missing or not finite (1 of 6 are)" in err) == (2, True), err
        assert not (tmp_path / "x").exists()


def test_the_card_of_a_model_is_printed_without_its_seal():
    code, out, _ = run("models", "molecules")
    assert (code, out.startswith("# "), "<!--" in out) == (0, True, False)
    code, out, _ = run("models", "graphs", "--json")
    assert (code, json.loads(out)["name"]) == (0, "graphs")
    assert run("models", "nothing")[0] == 2


def test_threads_are_those_of_the_option_also_without_a_model(files, monkeypatch):
    used = []
    embed = ug.UGraphEmb._embedded
    monkeypatch.setattr(ug.UGraphEmb, "_embedded", lambda self, *rest: used.append(self.threads) or embed(self, *rest))
    assert run("embed", files / "graphs.jsonl", "--threads", 2, "-o", files / "threads.npy")[0] == 0
    assert used == [2]
