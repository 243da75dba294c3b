"""Models that come with the package: by name, in an index without a model, on the command line, and adapted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import clone

import ugraphemb as ug
from ugraphemb import pretrained
from ugraphemb.cli.main import cli
from ugraphemb.encoder.carrying import carried
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.features import UNSEEN, Vocabulary, slots_of
from ugraphemb.encoder.heads import between
from ugraphemb.errors import GraphWarning, ModelFormatError
from ugraphemb.pretrained import ELEMENTS, folder_of, names, suited

SMILES = ["CCO", "CCN", "c1ccccc1", "CC(=O)O", "C1CCCCC1", "CCCCl", "c1ccncc1", "CC#N", "OCCO", "CC(C)C", "CCS", "CO"]
MOLECULES = ug.GraphSet.from_smiles(SMILES)
PLAIN = ug.load_dataset("atlas")[60:100]
SMALL = {"steps": 4, "batch": 8, "threads": 1, "progress": False, "layers": (8, 8), "dimension": 8}


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two models like those of the package, trained for a few steps."""
    folder = tmp_path_factory.mktemp("box")
    labels = {"scales": (0, 1, 2), "label_trust": 0.0}
    ug.UGraphEmb(**SMALL, settings={**labels, "edge_counts": True}).fit(MOLECULES).save(folder / "molecules")
    any_labels = {**labels, "hashed_labels": 8, "label_counts": True}
    ug.UGraphEmb(**SMALL, settings=any_labels).fit(PLAIN).save(folder / "graphs")
    return folder


@pytest.fixture
def small(box: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pretrained, "_HERE", box)
    return box


def test_the_elements_are_those_of_the_periodic_table() -> None:
    chemistry = pytest.importorskip("rdkit.Chem")
    table = chemistry.GetPeriodicTable()
    assert list(ELEMENTS) == [table.GetElementSymbol(number) for number in range(1, 119)]


def test_molecules_and_other_graphs_get_the_model_that_suits_them() -> None:
    words = ug.GraphSet.from_edges([2], [(0, 1)], node_labels=["C", "verb"])
    assert [suited(graphs) for graphs in (MOLECULES, PLAIN, words)] == ["molecules", "graphs", "graphs"]
    assert suited(words[:0]) == "graphs"


@pytest.mark.parametrize(("name", "source"), [("molecules", "molecules"), ("graphs", "atlas")])
def test_candidates_by_plain_distances_hold_the_nearest_by_the_head(name: str, source: str) -> None:
    """Vector databases propose by L2. With numbers of nodes in the vector as they are, only graphs of one size came."""
    graphs = ug.load_dataset(source)[:1200]
    model = ug.UGraphEmb.pretrained(name)
    vectors = model.transform(graphs)
    queries = vectors[::40]
    truth, plain = between(queries, vectors, model.head_), between(queries, vectors, "l2")
    proposed = np.argsort(plain, axis=1)[:, :100]
    best = np.sort(truth, axis=1)[:, :10]
    found = np.sort(np.take_along_axis(truth, proposed, axis=1), axis=1)[:, :10]
    assert (found <= best + 1e-9).mean() > 0.95


def test_an_unknown_model_is_answered_with_those_that_there_are(small: Path) -> None:
    with pytest.raises(ValueError, match="'molecule': there are 'graphs', 'molecules'; did you mean 'molecules'"):
        ug.UGraphEmb.pretrained("molecule")
    for name in ("", "../graphs", None):
        with pytest.raises(ValueError, match="no pre-trained model"):
            ug.UGraphEmb.pretrained(name)  # type: ignore[arg-type]


def test_an_index_without_a_model_takes_one_and_says_which(small: Path, tmp_path: Path) -> None:
    index = ug.GraphIndex()
    assert (len(index), index.ids, repr(index)) == (0, [], "GraphIndex(0 graphs, auto, no model yet)")
    with pytest.raises(ValueError, match="no model yet"):
        _ = index.model
    assert index.add(MOLECULES).search(MOLECULES[2], k=1)[0].id == "2"
    assert "model molecules" in repr(index)
    index.save(tmp_path / "index")
    assert repr(ug.GraphIndex.load(tmp_path / "index")) == repr(index)
    assert "model graphs" in repr(ug.GraphIndex().add(PLAIN))
    with pytest.raises(ValueError, match="kind='tree'"):
        ug.GraphIndex(kind="tree")


def test_a_query_of_an_empty_index_does_not_choose_its_model(small: Path) -> None:
    index = ug.GraphIndex()
    assert index.search(PLAIN[0]) == []
    assert len(index.search(PLAIN[:2], complete=True)) == 2
    assert "no model yet" in repr(index)
    assert "model molecules" in repr(index.add(MOLECULES))


def test_only_graphs_that_are_added_choose_the_model(small: Path) -> None:
    index = ug.GraphIndex()
    assert "no model yet" in repr(index.add(PLAIN[:0]))
    with pytest.raises(ValueError, match="given twice"):
        index.add(PLAIN, ids=["a"] * len(PLAIN))
    with pytest.raises(ValueError, match="vectors of shape"):
        index.add(PLAIN, vectors=np.zeros((1, 8)))
    assert "no model yet" in repr(index)
    assert "model molecules" in repr(index.add(MOLECULES))
    assert len(index) == len(MOLECULES)


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        (["C", "O", "Cl"], "molecules"),
        (["C", None, "O"], "graphs"),
        (["C", "N+", "O"], "graphs"),
        ([6, 7, 8], "graphs"),
        ([True, False, True], "graphs"),
        ([("C", 1), 2.5, "C"], "graphs"),
        (None, "graphs"),
    ],
)
def test_labels_of_each_kind_have_their_model_and_are_found_again(small: Path, labels: object, name: str) -> None:
    one, other = (ug.GraphSet.from_edges([3], edges, node_labels=labels) for edges in ([(0, 1), (1, 2)], [(0, 2)]))
    index = ug.GraphIndex().add(one + other, ids=["path", "edge"])
    assert f"model {name})" in repr(index)
    for graph, id in ((one, "path"), (other, "edge")):
        match = index.search(graph[0], k=1, complete=True)[0]
        assert (match.id, match.distance, match.proven) == (id, 0, True)


def test_edge_labels_that_the_model_does_not_know_are_reported(small: Path) -> None:
    """All of them count as one label; without a warning, a user would assume that bonds are distinguished."""
    numbered = ug.GraphSet.from_edges([3], [(0, 1), (1, 2)], node_labels=list("CCO"), edge_labels=[1, 2])
    model = ug.UGraphEmb.pretrained("molecules")
    with pytest.warns(
        GraphWarning, match=r"2 of 4 edges \(50.0%\) have labels .* never seen \(1, 2\); it knows 'aromatic'"
    ):
        model.transform(numbered + MOLECULES[[0]])
    with pytest.warns(GraphWarning, match="edges"):
        ug.GraphIndex().add(numbered)
    bare = ug.GraphSet.from_edges([3], [(0, 1), (1, 2)], node_labels=list("CCO"))
    model.transform(bare + MOLECULES)  # a warning would be an error
    one = ug.GraphSet.from_edges([3], [(0, 1), (1, 2)], node_labels=list("CCO"), edge_labels=["quadruple", "single"])
    model.transform(one)  # still distinguished from the others
    ug.UGraphEmb.pretrained("molecules", costs=ug.EditCosts(edge_relabel=0)).transform(numbered)
    ug.UGraphEmb.pretrained("graphs").transform(numbered)


def test_an_index_whose_edges_have_no_labels_takes_the_model_for_them(small: Path) -> None:
    index = ug.GraphIndex(costs=ug.EditCosts(edge_relabel=0)).add(MOLECULES)
    bare = ug.GraphSet(
        MOLECULES.node_offsets, MOLECULES.indptr, MOLECULES.indices, MOLECULES.node_labels, MOLECULES.node_vocabulary
    )
    model = ug.UGraphEmb.pretrained("molecules", costs=ug.EditCosts(edge_relabel=0))
    np.testing.assert_allclose(model.transform(MOLECULES), model.transform(bare), rtol=0, atol=1e-6)
    whole = ug.UGraphEmb.pretrained("molecules")
    np.testing.assert_allclose(model.transform(bare), whole.transform(bare), rtol=0, atol=1e-6)
    assert np.abs(whole.transform(MOLECULES) - whole.transform(bare)).max() > 1e-3
    assert index.costs == index.model.costs == ug.EditCosts(edge_relabel=0)
    with pytest.raises(ValueError, match="fit a model for others"):
        ug.UGraphEmb.pretrained("molecules", costs=ug.EditCosts(node_relabel=0.5))


def test_labels_of_any_kind_are_told_apart_without_having_been_seen(small: Path) -> None:
    model = ug.UGraphEmb.pretrained("graphs")
    same, other = (ug.GraphSet.from_edges([3], [(0, 1), (1, 2)], node_labels=labels) for labels in ("abb", "acc"))
    vectors = model.transform(same + other + same)
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-4
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_a_saved_copy_of_a_pretrained_model_gives_the_same_vectors(small: Path, tmp_path: Path) -> None:
    model = ug.UGraphEmb.pretrained("molecules", costs=ug.EditCosts(edge_relabel=0))
    model.save(tmp_path / "model")
    again = ug.UGraphEmb.load(tmp_path / "model")
    np.testing.assert_allclose(again.transform(MOLECULES), model.transform(MOLECULES), rtol=0, atol=1e-6)


def test_training_that_starts_from_a_model_takes_a_tenth_of_the_steps_and_keeps_what_it_knows(small: Path) -> None:
    adapted = ug.UGraphEmb(threads=1, progress=False, settings={"validate_every": 1_000}).fit(
        MOLECULES, start="molecules"
    )
    assert adapted.about_["steps"] == 400
    assert adapted.about_["start"] == "molecules"
    assert adapted.dimension_ == 8
    with pytest.raises(ValueError, match="dimension is that of the model at the start"):
        ug.UGraphEmb(dimension=16).fit(MOLECULES, start="molecules")


def test_training_starts_where_the_model_was(small: Path) -> None:
    """With a rate of nearly nothing the vectors stay those of the model, also where labels were added."""
    more = ug.GraphSet.from_smiles([*SMILES, "C[Si](C)C", "CB"])
    still = ug.UGraphEmb(
        steps=1, batch=8, learning_rate=1e-12, threads=1, progress=False, settings={"muon": 1e-12}
    ).fit(more, start="molecules", held_out=[0, 1])
    assert {"Si", "B"} <= set(still.vocabulary_.node_labels)
    before = ug.UGraphEmb.pretrained("molecules")
    running = [key for key in still.network_.state_dict() if "running" in key]
    for key in running:  # a batch moves them
        still.network_.state_dict()[key].copy_(before.network_.state_dict()[key])
    np.testing.assert_allclose(still.transform(MOLECULES), before.transform(MOLECULES), rtol=0, atol=1e-5)
    with pytest.warns(GraphWarning, match="never seen"):
        before.transform(more)


def test_labels_that_all_begin_alike_are_learned_with_higher_rates() -> None:
    """The model for graphs of any kind knows no labels: most of what they mean is still to be learned."""
    quick = ug.UGraphEmb(steps=1, batch=8, threads=1, progress=False)
    rates = [
        clone(quick).fit(graphs, start=start, held_out=[0, 1]).about_["training"]["learning_rate"]
        for graphs, start in ((MOLECULES, "graphs"), (PLAIN, "graphs"), (MOLECULES, "molecules"))
    ]
    assert rates[0] > 2 * rates[1] > 0
    assert rates[1] == rates[2]


def test_an_adapted_model_still_knows_the_bonds_that_the_collection_lacks(small: Path, tmp_path: Path) -> None:
    alkanes = ug.GraphSet.from_smiles(["C" * n for n in range(2, 10)])
    still = {"steps": 1, "batch": 8, "learning_rate": 1e-12, "threads": 1, "progress": False}
    before = ug.UGraphEmb.pretrained("molecules")
    adapted = ug.UGraphEmb(**still, settings={"muon": 1e-12}).fit(alkanes, start="molecules", held_out=[0, 1])
    assert adapted.vocabulary_.edge_labels == before.vocabulary_.edge_labels
    for key, value in adapted.network_.state_dict().items():
        if "running" in key:  # a batch moves them
            value.copy_(before.network_.state_dict()[key])
    np.testing.assert_allclose(adapted.transform(MOLECULES), before.transform(MOLECULES), rtol=0, atol=1e-5)
    adapted.save(tmp_path / "adapted")
    again = ug.UGraphEmb.load(tmp_path / "adapted")
    np.testing.assert_allclose(again.transform(MOLECULES), adapted.transform(MOLECULES), rtol=0, atol=1e-6)
    assert again.about_["start"] == "molecules"
    without = ug.UGraphEmb(**still, costs=ug.EditCosts(edge_relabel=0)).fit(MOLECULES, start="molecules")
    assert without.vocabulary_.edge_labels == ()


def test_a_checkpoint_goes_on_only_from_the_model_that_it_started_with(small: Path, tmp_path: Path) -> None:
    quick = {"batch": 8, "threads": 1, "progress": False}
    whole = ug.UGraphEmb(steps=4, **quick).fit(MOLECULES, start="molecules", checkpoint=tmp_path / "c")
    again = ug.UGraphEmb(steps=4, **quick).fit(MOLECULES, start="molecules", checkpoint=tmp_path / "c", resume=True)
    np.testing.assert_array_equal(again.transform(MOLECULES), whole.transform(MOLECULES))
    whole.save(tmp_path / "other")
    with pytest.raises(ModelFormatError, match="a checkpoint of another model at the start"):
        ug.UGraphEmb(steps=4, **quick).fit(MOLECULES, start=tmp_path / "other", checkpoint=tmp_path / "c", resume=True)


@pytest.mark.parametrize("graphs", [MOLECULES[[0] * 6], ug.GraphSet.from_edges([0, 1, 1, 0, 1], np.empty((0, 2), int))])
def test_models_adapt_to_collections_with_nothing_to_learn(small: Path, graphs: ug.GraphSet) -> None:
    adapted = ug.UGraphEmb(steps=2, batch=4, threads=1, progress=False).fit(graphs, start="graphs")
    vectors = adapted.transform(graphs)
    assert np.isfinite(vectors).all()
    same = graphs.num_nodes[:, None] == graphs.num_nodes
    assert adapted.proximity(vectors, vectors)[same].max() < 1e-5


def test_what_cannot_be_adapted_is_refused_with_the_reason(small: Path) -> None:
    for options, start, error, message in (
        ({}, "molecule", ValueError, "did you mean 'molecules'"),
        ({}, "no/such/folder", ModelFormatError, "no/such/folder: not a model folder"),
        ({"metric": "mcs"}, "molecules", ValueError, "not for a similarity"),
        ({"settings": {"walks": 2}}, "molecules", ValueError, "walks is that of the model at the start"),
    ):
        with pytest.raises(error, match=message):
            ug.UGraphEmb(**{"threads": 1, "progress": False, **options}).fit(MOLECULES, start=start)
    with pytest.raises(ValueError, match="3 graphs are too few"):
        ug.UGraphEmb().fit(MOLECULES[:3], start="molecules")
    weighted = ug.GraphSet.from_edges([2] * 6, [(2 * i, 2 * i + 1) for i in range(6)], node_attributes=np.ones((12, 1)))
    costs = ug.EditCosts(node_attributes=1.0)
    with pytest.raises(ValueError, match="node attributes count in these costs"):
        ug.UGraphEmb(costs=costs, steps=1, threads=1, progress=False).fit(weighted, start="graphs")


def test_labels_without_names_begin_as_the_most_frequent_ones() -> None:
    config = EncoderConfig()
    before, after = Vocabulary(("C", "O", "N")), Vocabulary(("C", "O", "N", 7, 3))
    weights = {"inputs.label.weight": np.arange(10.0).reshape(5, 2)}
    rows = carried(config, before, weights, after, by_frequency=True)["inputs.label.weight"]
    np.testing.assert_array_equal(rows[5:], rows[2:4])
    assert slots_of((7,), before.node_labels)[0] == UNSEEN


def test_a_new_label_beside_known_ones_begins_as_unseen(small: Path) -> None:
    """It must not begin as a copy of carbon: the model would take silicon for carbon."""
    more = ug.GraphSet.from_smiles([*SMILES, "C[Si](C)C", "CB"])
    before = ug.UGraphEmb.pretrained("molecules")
    assert "Si" not in before.vocabulary_.node_labels
    still = ug.UGraphEmb(
        steps=1, batch=8, learning_rate=1e-12, threads=1, progress=False, settings={"muon": 1e-12}
    ).fit(more, start="molecules", held_out=[0, 1])
    rows = still.network_.state_dict()["inputs.label.weight"].numpy()
    slots = slots_of(("Si", "B", "C"), still.vocabulary_.node_labels)
    assert slots.min() > UNSEEN
    np.testing.assert_allclose(rows[slots[:2]], rows[[UNSEEN, UNSEEN]], rtol=0, atol=1e-6)
    assert np.abs(rows[slots[2]] - rows[UNSEEN]).max() > 1e-3


def test_commands_work_without_a_model_and_say_which_one_they_took(small: Path, tmp_path: Path) -> None:
    (tmp_path / "some.smi").write_text("\n".join(SMILES) + "\n")
    run = CliRunner()
    made = run.invoke(cli, ["index", str(tmp_path / "some.smi"), "-o", str(tmp_path / "index")])
    assert made.exit_code == 0, made.output
    assert "model molecules" in made.output
    found = run.invoke(cli, ["search", str(tmp_path / "index"), "CCO", "-k", "1"])
    assert found.exit_code == 0, found.output
    vectors = run.invoke(cli, ["embed", str(tmp_path / "some.smi"), "-o", str(tmp_path / "z.npy")])
    assert "by the pre-trained model molecules" in vectors.output
    named = run.invoke(cli, ["embed", "--model", "graphs", str(tmp_path / "some.smi"), "-o", str(tmp_path / "y.npy")])
    assert named.exit_code == 0, named.output
    assert np.abs(np.load(tmp_path / "z.npy") - np.load(tmp_path / "y.npy")).max() > 0
    wrong = run.invoke(cli, ["embed", "--model", "molecule", str(tmp_path / "some.smi"), "-o", str(tmp_path / "x.npy")])
    assert wrong.exit_code != 0
    none = run.invoke(cli, ["index", str(small / "molecules"), "-o", str(tmp_path / "other")])
    assert none.exit_code == 2
    listed = run.invoke(cli, ["models"])
    assert [line.split()[0] for line in listed.output.splitlines()] == ["graphs", "molecules"]
    assert "# A ugraphemb model" in run.invoke(cli, ["models", "molecules"]).output


@pytest.mark.parametrize("name", names())
def test_shipped_models_are_small_have_a_card_and_need_no_torch(name: str) -> None:
    folder = folder_of(name)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 8 << 20
    card = (folder / "README.md").read_text("utf-8")
    assert all(heading in card for heading in ("## Data", "## Figures", "## Limits"))
    code = (
        "import sys, ugraphemb as ug; graphs = ug.load_dataset('atlas')[50:60]; "
        f"ug.UGraphEmb.pretrained({name!r}).transform(graphs); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode == 0


def test_an_index_in_a_database_without_a_model_does_not_claim_to_be_empty():
    index = ug.GraphIndex(engine="postgresql://user:secret@127.0.0.1:1/database/graphs")
    assert repr(index) == "GraphIndex(no model yet)"
    for asked in (len, lambda index: index.ids):
        with pytest.raises(ValueError, match="no model yet: give the one of the database"):
            asked(index)
