"""Fingerprints of models: of what determines the vectors, and not of the release that computes the fingerprint."""

from __future__ import annotations

import dataclasses
import json

import pytest

import ugraphemb as ug
from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.encoder.storage import fingerprint_of, weights_of
from ugraphemb.search.engines import header

ATLAS = ug.load_dataset("atlas")[40:60]
FEW = {"layers": (8, 8, 8), "dimension": 8, "batch": 8, "steps": 2, "threads": 1, "progress": False}


@dataclasses.dataclass(frozen=True)
class OfALaterRelease(EncoderConfig):
    gates: int = 0


@pytest.fixture(scope="module")
def model() -> ug.UGraphEmb:
    return ug.UGraphEmb(**FEW).fit(ATLAS)


def test_a_setting_of_a_later_release_changes_no_fingerprint_until_it_is_used(model: ug.UGraphEmb) -> None:
    network, vocabulary = model.network_, model.vocabulary_
    same = {field.name: getattr(network.config, field.name) for field in dataclasses.fields(network.config)}
    weights = weights_of(network)
    today = fingerprint_of(network.config, vocabulary, weights)
    assert fingerprint_of(OfALaterRelease(**same), vocabulary, weights) == today
    assert fingerprint_of(OfALaterRelease(**same, gates=1), vocabulary, weights) != today
    assert fingerprint_of(dataclasses.replace(network.config, walks=7), vocabulary, weights) != today


def test_a_database_accepts_the_model_of_an_earlier_release(model: ug.UGraphEmb) -> None:
    """Its configuration lacks the settings that came later; they have their defaults."""
    files = header.model_files(model)
    config = json.loads(files["config.json"])
    assert config["encoder"].pop("hashed_labels") == 0
    earlier = {**files, "config.json": json.dumps(config).encode()}
    assert header.fingerprint_of(earlier) == header.fingerprint_of(files)
    config["encoder"]["walks"] = 7
    assert header.fingerprint_of({**files, "config.json": json.dumps(config).encode()}) != header.fingerprint_of(files)
