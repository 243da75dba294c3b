"""Checkpoints: they belong to this run, or are refused."""

import dataclasses
import errno
import io
import os

import numpy as np
import pytest
import torch
from training.small_training import ENCODER, HELD_OUT, TRAINING, Training, graphs, same, table, with_values

import ugraphemb as ug
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.errors import ModelFormatError, StorageError
from ugraphemb.files import sealed, system, unsealed

PERMUTED = with_values(table().value[::-1].copy())  # as many pairs, the same sum
OTHERS = {
    "seed": (Training(seed=1), "another seed: 0 there, 1 here"),
    "held-out graphs": (Training(held_out=HELD_OUT + 1), "other training graphs"),
    "fewer held-out graphs": (Training(held_out=HELD_OUT[:-1]), "other training graphs"),
    "vocabulary": (Training(vocabulary=Vocabulary(("x",), ("y",))), "other vocabulary"),
    "type of a label": (Training(vocabulary=Vocabulary(("None",))), "other vocabulary"),
    "distances": (Training(table=PERMUTED), "other distances"),
    "encoder": (Training(encoder=dataclasses.replace(ENCODER, head="l1")), "head='l2' there, 'l1' here"),
    "training": (
        Training(dataclasses.replace(TRAINING, learning_rate=0.5)), "learning_rate=0.01 there, 0.5 here"
    ),
}  # fmt: skip


@pytest.fixture
def checkpoint(tmp_path):
    file = tmp_path / "run.ckpt"
    stop = {3: KeyboardInterrupt}

    def press(step, loss):
        if step in stop:
            raise stop[step]

    Training()(checkpoint=file, tick=press)
    return file


@pytest.mark.parametrize("other", OTHERS)
def test_a_checkpoint_of_another_run_is_refused_and_stays(other, checkpoint):
    training, message = OTHERS[other]
    content = checkpoint.read_bytes()
    with pytest.raises(ModelFormatError, match=message):
        training(checkpoint=checkpoint, resume=True)
    assert checkpoint.read_bytes() == content


def test_a_checkpoint_of_other_graphs_is_refused(tmp_path):
    graphs, file = ug.load_dataset("atlas")[60:100], tmp_path / "run.ckpt"
    settings = {"scales": None, "clustering": False}
    model = ug.UGraphEmb(seed=0, steps=3, layers=(4,), dimension=4, settings=settings, threads=1, progress=False)
    pairs = [[0, 1], [1, 2], [0, 3], [1, 3]]
    table = ug.pairwise(graphs[:20], pairs, progress=False)
    model.fit(graphs[:20], table, held_out=[3], checkpoint=file)
    others = dataclasses.replace(table, fingerprints=(graphs[20:].fingerprint,))
    with pytest.raises(ModelFormatError, match="other graphs"):
        model.fit(graphs[20:], others, held_out=[3], checkpoint=file, resume=True)


def test_another_seed_never_returns_the_weights_of_the_first(tmp_path):
    """In 0.1 this happened without an error."""
    graphs = ug.load_dataset("atlas")[60:80]
    table = ug.pairwise(graphs, progress=False, method="branch")
    settings = {"scales": None, "checkpoint_seconds": 0.0}
    first, second = (
        ug.UGraphEmb(seed=seed, steps=3, layers=(4,), dimension=4, settings=settings, threads=1, progress=False)
        for seed in (0, 1)
    )
    first.fit(graphs, table, held_out=[1, 2], checkpoint=tmp_path / "x")
    with pytest.raises(ModelFormatError, match="another seed"):
        second.fit(graphs, table, held_out=[1, 2], checkpoint=tmp_path / "x", resume=True)


def test_a_finished_run_resumes_to_itself_without_a_step(tmp_path):
    weights, outcome = Training()(checkpoint=tmp_path / "x")
    steps = []
    again, same_outcome = Training()(checkpoint=tmp_path / "x", resume=True, tick=lambda *step: steps.append(step))
    assert steps == []
    assert same(weights, again)
    assert outcome == same_outcome


def test_steps_can_be_extended_on_resume_as_if_they_had_been_so_many_from_the_start(tmp_path):
    longer = Training(dataclasses.replace(TRAINING, steps=10))
    weights, outcome = longer()
    Training()(checkpoint=tmp_path / "x")
    extended, extended_outcome = longer(checkpoint=tmp_path / "x", resume=True)
    assert same(weights, extended)
    assert extended_outcome == outcome


def test_a_cosine_schedule_runs_to_the_new_end(tmp_path):
    short = Training(dataclasses.replace(TRAINING, schedule="cosine"))
    short(checkpoint=tmp_path / "x")
    longer = Training(dataclasses.replace(short.config, steps=10))
    _, outcome = longer(checkpoint=tmp_path / "x", resume=True)
    assert outcome.steps == 10
    assert [row[0] for row in outcome.history] == [2, 4, 6, 8, 10]


def test_steps_cannot_be_cut_below_the_checkpoint(checkpoint):
    with pytest.raises(ModelFormatError, match="at step 3, beyond steps=2"):
        Training(dataclasses.replace(TRAINING, steps=2))(checkpoint=checkpoint, resume=True)


def test_the_time_between_checkpoints_may_differ(checkpoint):
    often = Training(dataclasses.replace(TRAINING, checkpoint_seconds=0.0))
    assert same(often(checkpoint=checkpoint, resume=True)[0], Training()()[0])


def test_what_is_no_checkpoint_is_an_error_of_ours(checkpoint):
    whole = checkpoint.read_bytes()
    _, payload = unsealed(whole, "ugraphemb-checkpoint", [2], "", ValueError)
    content = torch.load(io.BytesIO(payload), weights_only=True)
    broken = {
        "empty": b"",
        "truncated": whole[: len(whole) // 2],
        "text": b"hello",
    }
    for name, data in broken.items():
        checkpoint.write_bytes(data)
        with pytest.raises(ModelFormatError, match="delete it to start over"):
            Training()(checkpoint=checkpoint, resume=True)
        assert checkpoint.read_bytes() == data, name
    of_0_1 = {"settings": "[]", **{name: content[name] for name in ("network", "average", "best", "optimizer")}}
    missing = [{key: value for key, value in content.items() if key != name} for name in content]
    wrong = [{**content, name: value} for name in ("network", "best", "optimizer", "state") for value in ({}, [], "{}")]
    torch.save(of_0_1, checkpoint)
    with pytest.raises(ModelFormatError, match=r"of release 0\.1.*delete it to start over"):
        Training()(checkpoint=checkpoint, resume=True)
    for other in ([], *missing, *wrong):
        made = io.BytesIO()
        torch.save(other, made)
        checkpoint.write_bytes(sealed("ugraphemb-checkpoint", 2, made.getvalue()))
        with pytest.raises(ModelFormatError, match="delete it to start over"):
            Training()(checkpoint=checkpoint, resume=True)


def test_every_flipped_bit_is_noticed(checkpoint):
    whole, random = checkpoint.read_bytes(), np.random.default_rng(0)
    for place in [*range(70), *random.integers(0, len(whole), 60).tolist()]:
        checkpoint.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << random.integers(8)]) + whole[place + 1 :])
        with pytest.raises(ModelFormatError, match="delete it to start over"):
            Training()(checkpoint=checkpoint, resume=True)


def test_a_full_disk_is_an_error_of_ours_and_leaves_the_checkpoint_before(checkpoint, monkeypatch):
    def full(descriptor, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    whole = checkpoint.read_bytes()
    monkeypatch.setattr(system, "write", full)
    with pytest.raises(StorageError, match=r"No space left on device.*content is safe"):
        Training()(checkpoint=checkpoint, resume=True)
    assert checkpoint.read_bytes() == whole
    assert [path.name for path in checkpoint.parent.iterdir()] == [checkpoint.name]


def test_positions_are_part_of_the_identity_even_where_the_graphs_are_equal(tmp_path):
    """Two graphs held out in the other order are the same run; two others are not."""
    file = tmp_path / "x"
    Training(held_out=HELD_OUT)(checkpoint=file)
    with pytest.raises(ModelFormatError, match="other training graphs"):
        Training(held_out=np.arange(1, len(graphs()), 5))(checkpoint=file, resume=True)
