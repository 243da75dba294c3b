"""What a match knows of the graph that was found."""

from __future__ import annotations

import pytest

import ugraphemb as ug


def test_matches_know_the_smiles_they_were_read_from() -> None:
    pytest.importorskip("rdkit")
    texts = ["CCO", "O[N+](=O)c1ccccc1", "CCN", "c1ccccc1O"]
    molecules = ug.GraphSet.from_smiles(texts, ids=["a", "b", "c", "d"])
    settings = {"layers": (4,), "scales": (0, 1), "hidden": 4}
    model = ug.UGraphEmb(dimension=4, steps=2, batch=4, settings=settings, threads=1, progress=False).fit(molecules)
    found = ug.GraphIndex(model).add(molecules, metadata={"lists": [[1], [2, 3], [], None]})
    for options in ({}, {"verify": True}):
        matches = found.search(molecules[1], 4, **options)
        assert {match.id: match.graph.smiles for match in matches} == dict(zip("abcd", texts, strict=True))
        assert "title='O[N+](=O)c1ccccc1'" in matches._repr_html_()
    assert ug.load_dataset("atlas")[3].smiles is None


def test_a_match_has_distances_and_no_score_of_unclear_direction() -> None:
    names = set(ug.Match.__dataclass_fields__)
    assert {"distance", "lower", "upper", "predicted"} <= names
    assert not hasattr(ug.Match, "score")
    assert "score" not in names
