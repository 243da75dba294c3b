"""Errors of users on the command line, and how files are read: one line each, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ugraphemb as ug
from ugraphemb.cli import main as module

pytest.importorskip("rdkit")
pytestmark = pytest.mark.filterwarnings("always::ugraphemb.errors.GraphWarning")

TABLE = """structure;code;active;year
CCO;ethanol;1;1999
not smiles;nothing;0;2000
c1ccccc1;benzene;1;
CCN;amine;0;2002
CCC;propane;0;2003
CCCl;chloride;1;2004
"""


@pytest.fixture
def table(tmp_path: Path) -> str:
    (tmp_path / "assays.csv").write_text(TABLE)
    return str(tmp_path / "assays.csv")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    graphs = ug.GraphSet.from_smiles(["CCO", "CCN", "CCC", "CCCl", "c1ccccc1", "CC(=O)O", "OCCO", "C#N"])
    folder = tmp_path_factory.mktemp("model") / "model"
    settings = {"layers": (4,), "scales": (0, 1), "hidden": 4}
    ug.UGraphEmb(dimension=4, steps=4, batch=8, settings=settings, threads=1, progress=False).fit(graphs).save(folder)
    return str(folder)


@pytest.fixture(scope="module")
def made(model: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Paths of a model, and of eight graphs with an index, vectors, and a table of distances; of wrong files."""
    folder = tmp_path_factory.mktemp("made")
    graphs = ug.GraphSet.from_smiles(["CCO", "CCN", "CCC", "CCCl", "c1ccccc1", "CC(=O)O", "OCCO", "C#N"])
    ug.write_graphs(graphs, folder / "graphs.jsonl")
    ug.GraphIndex(ug.UGraphEmb.load(model), threads=1).add(graphs).save(folder / "index")
    np.save(folder / "vectors.npy", ug.UGraphEmb.load(model).transform(graphs))
    ug.pairwise(graphs, threads=1).write(folder / "pairs.parquet")
    (folder / "classes.txt").write_text("0\n1\n")
    (folder / "empty.smi").write_text("")
    (folder / "graphs.xyz").write_text("C\n")
    names = {"graphs": "graphs.jsonl", "index": "index", "vectors": "vectors.npy", "pairs": "pairs.parquet"}
    names |= {"classes": "classes.txt", "empty": "empty.smi", "strange": "graphs.xyz"}
    return {"model": model, **{name: str(folder / file) for name, file in names.items()}}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as exit:
            module.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return int(exit.value.code or 0), captured.out, captured.err

    return call


COLUMNS = ("--smiles-column", "structure", "--id-column", "code", "--target-column", "active", "--on-error", "skip")


def test_tables_are_read_by_the_columns_that_are_named(run, table: str, tmp_path: Path):
    status, out, err = run("info", table, *COLUMNS, "--json")
    assert (status, json.loads(out)["graphs"]) == (0, 5)
    assert "ignored 1 molecule that cannot be read" in err
    assert f"{table}:3" in err
    status, _, _ = run("convert", table, tmp_path / "out.jsonl", *COLUMNS)
    assert status == 0
    graphs = ug.read_graphs(tmp_path / "out.jsonl")
    assert graphs.ids.tolist() == ["ethanol", "benzene", "amine", "propane", "chloride"]
    assert graphs.metadata["smiles"][1] == "c1ccccc1"
    assert graphs.metadata["year"].tolist()[2:] == [2002, 2003, 2004]
    assert np.isnan(graphs.metadata["year"][1])


def test_without_an_id_column_ids_are_rows_of_the_table(run, table: str, tmp_path: Path):
    assert run("convert", table, tmp_path / "o.jsonl", "--smiles-column", "structure", "--on-error", "skip")[0] == 0
    assert ug.read_graphs(tmp_path / "o.jsonl").ids.tolist() == ["0", "2", "3", "4", "5"]


@pytest.mark.parametrize("header", ["SMILES", "canonical_smiles", "Canonical SMILES", "mol_smiles"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_usual_names_and_separators_are_known(header: str, separator: str, tmp_path: Path):
    (tmp_path / "t.csv").write_text(f"key{separator}{header}\nx{separator}CCO\ny{separator}CC\n")
    graphs = ug.read_graphs(tmp_path / "t.csv")
    assert graphs.num_nodes.tolist() == [3, 2]
    assert graphs.metadata["key"].tolist() == ["x", "y"]


def test_properties_of_an_sdf_are_metadata(tmp_path: Path):
    graphs = ug.GraphSet.from_smiles(["CCO", "CC"], ids=["a", "b"])
    from dataclasses import replace

    ug.write_graphs(replace(graphs, metadata={"logP": np.array([0.5, 1.5])}), tmp_path / "m.sdf")
    assert ug.read_graphs(tmp_path / "m.sdf").metadata["logP"].tolist() == [0.5, 1.5]


def test_an_option_that_means_nothing_for_a_file_is_refused(run, tmp_path: Path):
    ug.write_graphs(ug.GraphSet.from_smiles("CCO"), tmp_path / "g.jsonl")
    status, _, err = run("info", tmp_path / "g.jsonl", "--smiles-column", "x")
    assert status == 2
    assert "--smiles-column has no effect" in err
    status, _, err = run("info", "atlas", "--hydrogens")
    assert status == 2
    assert "--hydrogens is for files; atlas is a data set" in err


def test_every_command_that_reads_graphs_has_the_reader_options(run):
    for name in (
        "add",
        "convert",
        "distance",
        "embed",
        "finetune",
        "index",
        "info",
        "pairs",
        "predict",
        "search",
        "train",
    ):
        out = run(name, "--help")[1]
        for option in (
            "--format",
            "--smiles-column",
            "--id-column",
            "--target-column",
            "--on-error",
            "--hydrogens",
            "--aromatic",
        ):
            assert option in out, (name, option)
    for name in ("train", "index", "search", "pairs", "distance"):
        assert "--cost" in run(name, "--help")[1]


def test_aromatic_bonds_are_single_and_double_on_request(run):
    assert run("distance", "c1ccccc1", "C1CCCCC1")[1].split()[0] == "6"
    assert run("distance", "c1ccccc1", "C1CCCCC1", "--aromatic", "kekule")[1].split()[0] == "3"


def test_a_smiles_that_ends_like_a_member_is_a_smiles(run):
    status, out, _ = run("distance", "c1ccccc:1", "c1ccccc1")
    assert (status, out.split()[0]) == (0, "0")
    assert run("distance", "atlas:3", "atlas:4")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "{table}", *COLUMNS, "-o", "{new}", "--device", "cuda:7"), "device='cuda:7' is not available"),
        (("pairs", "atlas", "--budget", "3", "--metric", "labels", "-o", "{new}.parquet"), "targets"),
        (("pairs", "atlas", "--budget", "3", "-o", "{folder}/missing/x.parquet"), "does not exist"),
        (("embed", "{model}", "atlas", "-o", "{folder}/missing/x.npy"), "does not exist"),
        (("embed", "{model}", "atlas", "-o", "{new}.txt"), "ends in .npy, .parquet"),
        (("train", "atlas", "-o", "{model}"), "exists already; --overwrite replaces it"),
        (("distance", "CCO", "no file"), "nor SMILES"),
        (("info", "{table}", "--smiles-column", "structure"), "'not smiles' is not valid SMILES (--on-error skip"),
        (("info", "{table}", "--nonsense"), "See `ugraphemb info --help`"),
        (("info",), "Missing argument 'GRAPHS'. See `ugraphemb info --help`"),
        (("nonsense",), "No such command 'nonsense'. See `ugraphemb --help`"),
        (("info", "nothing.csv"), "no such file"),
        (("info", "{strange}"), "or --format NAME"),
        (("convert", "atlas", "{new}.xyz"), "or --to NAME"),
        (("distance", "CCO", "{graphs}:99"), "positions go from 0 to 7"),
        (("distance", "CCO", "{graphs}"), "8 graphs; choose one by its position"),
        (("distance", "CCO", "CC", "--cost", "edge_relabel"), "expected NAME=COST"),
        (("distance", "CCO", "CC", "--cost", "edge_relabel=-1"), "edge_relabel"),
        (("index", "{model}", "nothing.smi", "-o", "{new}"), "no such file"),
        (("index", "nothing/", "{graphs}", "-o", "{new}"), "nothing/: no such file or folder, and not a model"),
        (("embed", "nothing/", "{graphs}", "-o", "{new}.npy"), "nothing/: no such file or folder, and not a model"),
        (("embed", "{graphs}", "{graphs}", "-o", "{new}.npy"), "takes one set of GRAPHS"),
        (("search", "{model}", "CCO"), "not an index"),
        (("search", "{index}", "CCO", "-k", "0"), "0 is not in the range x>=1"),
        (("search", "{index}", "{empty}"), "no graphs"),
        (("search", "{index}", "C(("), "nor SMILES"),
        (("search", "{index}", "CCO", "--workers", "2"), "share proofs: use --complete or --within"),
        (("train", "{graphs}", "--preset", "best", "-o", "{new}"), "'default'"),
        (("train", "{graphs}", "--metric", "best", "-o", "{new}"), "'mcs'"),
        (("train", "{graphs}", "--method", "best", "-o", "{new}"), "'hungarian'"),
        (("train", "CCO", "-o", "{new}"), "1 graph is too few"),
        (("train", "{graphs}", "--table", "{pairs}", "--metric", "mcs", "-o", "{new}"), "distances of ged, not of mcs"),
        (("train", "{graphs}", "--table", "{pairs}", "--method", "vj", "-o", "{new}"), "by tight, not by vj"),
        (("train", "{graphs}", "--table", "{pairs}", "--cost", "edge_relabel=0", "-o", "{new}"), "under other costs"),
        (("evaluate", "classify", "{vectors}", "{classes}"), "2 classes for 8 vectors"),
        (("evaluate", "rank", "--vectors", "{vectors}", "--truth", "nothing.parquet"), "nothing.parquet: no such file"),
        (
            ("plot", "query", "{vectors}", "{graphs}", "--query", "0", "--truth", "nothing.npy", "-o", "{new}.png"),
            "nothing.npy: no such file",
        ),
        (("cluster", "{vectors}", "-k", "99"), "99 clusters of 8 graphs"),
        (("predict", "{model}", "CCO"), "has no classes"),
        (("cluster", "nothing.npy"), "no such file"),
        (("plot", "edits", "CCO", "CC", "-o", "{new}.gif"), "ends in .png, .svg, .pdf"),
        (("plot", "edits", "CCO", "CC", "--method", "hed", "-o", "{new}.svg"), "gives a bound, but no edits"),
    ],
)
def test_wrong_input_is_one_line_and_exits_with_2_before_the_work(run, table, made, tmp_path, arguments, message):
    names = {"table": table, "new": str(tmp_path / "new"), "folder": str(tmp_path), **made}
    status, out, err = run(*(argument.format(**names) for argument in arguments))
    assert (status, out) == (2, "")
    errors = [line for line in err.splitlines() if not line.startswith("Warning: ")]
    assert len(errors) == 1
    assert errors[0].startswith("Error: ")
    assert message in errors[0]
    assert not (tmp_path / "new").exists()


def test_a_model_is_replaced_only_when_told_to(run, tmp_path: Path):
    graphs = ug.GraphSet.from_smiles(["CCO", "CCN", "CCC", "CCCl", "OCCO", "C#N"])
    ug.write_graphs(graphs, tmp_path / "g.jsonl")
    call = ("train", tmp_path / "g.jsonl", "--steps", 3, "--dimension", 4, "--threads", 1, "-o", tmp_path / "m")
    assert run(*call, "--cost", "edge_relabel=0", "--cost", "node_insert=2")[0] == 0
    assert ug.UGraphEmb.load(tmp_path / "m").costs == ug.EditCosts(edge_relabel=0, node_insert=2)
    assert run(*call)[0] == 2
    assert run(*call, "--overwrite")[0] == 0


def test_pairs_are_written_as_the_name_says(run, tmp_path: Path):
    ug.write_graphs(ug.GraphSet.from_smiles(["CCO", "CCN", "CCC"], ids=["a", "b", "c"]), tmp_path / "g.jsonl")
    for name in ("d.csv", "d.npy", "d.parquet"):
        assert run("pairs", tmp_path / "g.jsonl", "-o", tmp_path / name)[0] == 0
    lines = (tmp_path / "d.csv").read_text().splitlines()
    assert lines[0].replace('"', "") == "left_id,right_id,left,right,value,lower,upper,proven"
    assert lines[1].replace('"', "").startswith("a,b,0,1,1")
    assert np.load(tmp_path / "d.npy").tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert ug.PairTable.read(tmp_path / "d.parquet").value.tolist() == [1, 1, 1]


def test_vectors_in_npy_rank_as_those_in_parquet_do(run, model: str, tmp_path: Path):
    graphs = ug.GraphSet.from_smiles(["CCO", "CCN", "CCC", "CCCl", "OCCO", "C#N", "CCCC", "CC(C)C", "c1ccccc1"])
    ug.write_graphs(graphs, tmp_path / "g.jsonl")
    assert run("pairs", tmp_path / "g.jsonl", "-o", tmp_path / "t.parquet")[0] == 0
    said = []
    for name in ("z.npy", "z.parquet"):
        assert run("embed", model, tmp_path / "g.jsonl", "-o", tmp_path / name)[0] == 0
        call = ("evaluate", "rank", "--vectors", tmp_path / name, "--truth", tmp_path / "t.parquet", "-k", 3, "--json")
        status, out, err = run(*call)
        assert (status, err) == (0, "")
        said.append(out)
    assert said[0] == said[1]
    assert json.loads((tmp_path / "z.npy.json").read_text())["head"] == ug.UGraphEmb.load(model).head_
    # without what stands beside the vectors they are compared by l2, which is not how the model does
    (tmp_path / "z.npy.json").unlink()
    assert run(*call[:3], tmp_path / "z.npy", *call[4:])[1] not in ("", said[0])


def test_groups_are_written(run, tmp_path: Path):
    random = np.random.default_rng(0)
    points = np.concatenate([random.normal(center, 0.1, (12, 3)) for center in (0, 5)] + [[[50.0, 50, 50]]])
    np.save(tmp_path / "z.npy", points)
    status, out, _ = run("cluster", tmp_path / "z.npy", "-o", tmp_path / "c.csv")
    assert (status, "2 clusters of 12, 12 graphs; 1 in none" in out) == (0, True)
    rows = [line.split(",") for line in (tmp_path / "c.csv").read_text().splitlines()]
    assert rows[0] == ["id", "cluster"]
    assert [row[1] for row in rows[1:13]] == [rows[1][1]] * 12
    assert rows[25] == ["24", "-1"]
    assert run("cluster", tmp_path / "z.npy", "-k", 3, "-o", tmp_path / "c.npy")[0] == 0
    assert np.bincount(np.load(tmp_path / "c.npy")).tolist() == [12, 12, 1]


def test_the_edits_between_two_graphs_are_drawn(run, tmp_path: Path):
    pytest.importorskip("matplotlib")
    status, out, _ = run("plot", "edits", "CCO", "CC(=O)O", "-o", tmp_path / "e.svg")
    assert (status, out.strip()) == (0, str(tmp_path / "e.svg"))
    assert "<svg" in (tmp_path / "e.svg").read_text()


def test_shells_complete_commands(run, monkeypatch: pytest.MonkeyPatch):
    for shell in ("bash", "zsh", "fish"):
        assert "_UGRAPHEMB_COMPLETE" in run("completion", shell)[1]
    monkeypatch.setenv("_UGRAPHEMB_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "ugraphemb dis")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert "distance" in run()[1]


def test_a_smiles_string_is_one_graph_wherever_graphs_are_read(model: str, tmp_path: Path) -> None:
    for text in ("CCO", "C/C=C/C", "c1ccccc1"):
        module.cli.main(["embed", model, text, "-o", str(tmp_path / "z.npy")], standalone_mode=False)
        expected = ug.UGraphEmb.load(model).transform([text])
        np.testing.assert_allclose(np.load(tmp_path / "z.npy"), expected, atol=1e-5)


def test_vectors_and_what_is_said_of_them_change_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash after any write leaves vectors with their own ids and head."""
    from ugraphemb import files
    from ugraphemb.cli.arrays import head_of, read_vectors, write_vectors

    old, new = np.zeros((2, 3), np.float32), np.ones((3, 3), np.float32)
    path, real = str(tmp_path / "z.npy"), files.write_file
    for fatal in range(1, 5):
        write_vectors(path, old, ["a", "b"], "l1")
        calls = 0

        def dying(*arguments: Any, fatal: int = fatal) -> None:
            nonlocal calls
            calls += 1
            if calls == fatal:
                raise KeyboardInterrupt
            real(*arguments)

        with monkeypatch.context() as patched:
            patched.setattr(files, "write_file", dying)
            if fatal < 4:
                with pytest.raises(KeyboardInterrupt):
                    write_vectors(path, new, ["c", "d", "e"], "l2")
            else:
                write_vectors(path, new, ["c", "d", "e"], "l2")
        vectors, ids = read_vectors(path)
        assert (ids, head_of(path)) == ((["c", "d", "e"], "l2") if len(vectors) == 3 else (["a", "b"], "l1"))
    np.save(path, np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match="describes another array"):
        read_vectors(path)
