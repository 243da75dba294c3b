"""The loop: which weights it keeps, when it stops, and what an interruption leaves."""

import dataclasses
import math
import os
import signal
import sys
import threading

import numpy as np
import pytest
import torch
from training.small_training import HELD_OUT, TRAINING, Training, graphs, same, table, with_values

from ugraphemb.errors import TrainingError
from ugraphemb.training import loop
from ugraphemb.training.presets import PRESETS
from ugraphemb.training.sampling import Blocks, Pairs
from ugraphemb.training.validation import Score, Validation

BOTH = pytest.mark.parametrize("sampling", ["blocks", "pairs"])


def configured(**changes):
    return Training(dataclasses.replace(TRAINING, **changes))


def scored(monkeypatch, scores):
    """Validations with these results, one after the other."""
    left = iter(scores)
    monkeypatch.setattr(Validation, "score", lambda *arguments: next(left))


@BOTH
def test_one_seed_gives_one_result_and_another_seed_another(sampling):
    training = configured(sampling=sampling)
    weights, outcome = training()
    again, same_outcome = training()
    assert same(weights, again)
    assert outcome == same_outcome
    assert not same(weights, training.but(seed=1)()[0])


def test_training_brings_the_loss_down():
    _, outcome = configured(steps=80, validate_every=20)()
    assert outcome.history[-1][1] < 0.6 * outcome.history[0][1]
    assert outcome.best.loss < 0.8 * outcome.history[0][2]


@pytest.mark.parametrize(("sampling", "average"), [("blocks", 0.9), ("pairs", 0.0)])
def test_an_interruption_after_any_step_changes_nothing(sampling, average, tmp_path):
    training = configured(sampling=sampling, average=average, schedule="cosine")
    weights, outcome = training()
    for stop in range(TRAINING.steps + 1):
        file = tmp_path / f"{stop}.ckpt"

        def press(step, loss, stop=stop):
            if step == stop:
                raise KeyboardInterrupt

        _, first = training(checkpoint=file, tick=press)
        assert first.interrupted == (stop > 0)
        assert first.steps == (stop or TRAINING.steps)
        resumed, second = training(checkpoint=file, resume=True)
        assert same(weights, resumed)
        assert second == outcome


class PressedAtLine:
    """Ctrl-C at the n-th line that runs in the functions of these names."""

    def __init__(self, names, number):
        self.names, self.number, self.count = names, number, 0

    def __enter__(self):
        sys.settrace(self.trace)
        return self

    def __exit__(self, *exception):
        sys.settrace(None)
        torch.set_grad_enabled(True)  # the line may have been the last one of `with torch.no_grad()`

    def trace(self, frame, event, argument):
        inside = frame.f_code.co_filename == loop.__file__ and frame.f_code.co_name in self.names
        return self.line if inside else None

    def line(self, frame, event, argument):
        if event == "line":
            self.count += 1
            if self.count == self.number:
                raise KeyboardInterrupt
        return self.line


def test_ctrl_c_at_any_line_of_a_step_or_validation_leaves_a_checkpoint_that_resumes_to_the_same_result(tmp_path):
    names = ("one_step", "validate", "_follow")
    training = configured(steps=2, validate_every=1, checkpoint_seconds=0.0)
    weights, outcome = training()
    with PressedAtLine(names, -1) as lines:
        training()
    assert lines.count > 40
    for number in [*range(1, lines.count - 8, 6), *range(lines.count - 8, lines.count + 1)]:
        file = tmp_path / f"{number}.ckpt"
        with PressedAtLine(names, number):
            _, first = training(checkpoint=file)
        assert first.interrupted
        resumed, second = training(checkpoint=file, resume=True)
        assert same(weights, resumed), number
        assert second == outcome, number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("place", ["tick", "report"])
def test_a_signal_saves_the_checkpoint_after_the_step(number, place, tmp_path):
    training, file = configured(), tmp_path / "run.ckpt"
    weights, outcome = training()
    before = signal.getsignal(number)

    def press(*arguments):
        if file.exists():
            return
        os.kill(os.getpid(), number)

    if number == signal.SIGTERM:
        with pytest.warns(UserWarning, match="stopped by SIGTERM at step"), pytest.raises(SystemExit) as stopped:
            training(checkpoint=file, **{place: press})
        assert stopped.value.code == 143
    else:
        _, first = training(checkpoint=file, **{place: press})
        assert first.interrupted
        assert first.steps == (1 if place == "tick" else TRAINING.validate_every)
    assert signal.getsignal(number) is before
    assert file.exists()
    resumed, second = training(checkpoint=file, resume=True)
    assert same(weights, resumed)
    assert second == outcome


def test_a_second_ctrl_c_stops_at_once_and_leaves_the_checkpoint_before(monkeypatch, tmp_path):
    training, file = configured(checkpoint_seconds=0.0), tmp_path / "run.ckpt"
    weights, outcome = training()
    loss = loop._Run._loss

    def pressed_twice(run, *arguments):
        if run.state.step == 3:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            pytest.fail("the second Ctrl-C was deferred")
        return loss(run, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(loop._Run, "_loss", pressed_twice)
        _, first = training(checkpoint=file)
    assert first.interrupted
    assert first.steps == 3
    resumed, second = training(checkpoint=file, resume=True)
    assert same(weights, resumed)
    assert second == outcome


def test_handlers_of_the_program_and_other_threads_are_left_alone(tmp_path):
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *arguments: seen.append(arguments))
    try:
        handler = signal.getsignal(signal.SIGTERM)
        configured()(checkpoint=tmp_path / "a", tick=lambda step, loss: step == 2 and os.kill(os.getpid(), 15))
        assert len(seen) == 1
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
    outcomes = []
    thread = threading.Thread(target=lambda: outcomes.append(configured()(checkpoint=tmp_path / "b")[1]))
    thread.start()
    thread.join()
    assert outcomes == [configured()()[1]]


@pytest.mark.parametrize("selection", ["loss", "tau"])
def test_a_validation_of_nan_never_wins_over_a_number(selection, monkeypatch):
    nan = Score(math.nan, math.nan)
    scored(monkeypatch, [nan, Score(2.0, 0.2), nan])
    _, outcome = configured(selection=selection)()
    assert (outcome.best, outcome.best_step) == (Score(2.0, 0.2), 4)


@pytest.mark.parametrize("selection", ["loss", "tau"])
def test_where_every_validation_is_nan_there_still_is_a_model(selection, monkeypatch):
    scored(monkeypatch, [Score(math.nan, math.nan)] * 3)
    weights, outcome = configured(selection=selection)()
    assert outcome.best_step == 2
    assert all(torch.isfinite(value).all() for value in weights.values())


def test_where_tau_is_undefined_the_loss_decides(monkeypatch):
    scored(monkeypatch, [Score(3.0, math.nan), Score(1.0, math.nan), Score(2.0, math.nan)])
    assert configured(selection="tau")()[1].best_step == 4


@pytest.mark.parametrize(("selection", "best"), [("loss", 4), ("tau", 6)])
def test_the_weights_of_the_best_validation_are_kept(selection, best, monkeypatch):
    kept = {}
    scores = {2: Score(3.0, 0.1), 4: Score(1.0, 0.2), 6: Score(2.0, 0.9), 8: Score(5.0, 0.3)}

    def score(validation, network, collator, device):
        step = 2 * len(kept) + 2
        kept[step] = {name: value.clone() for name, value in network.state_dict().items()}
        return scores[step]

    monkeypatch.setattr(Validation, "score", score)
    weights, outcome = configured(steps=8, selection=selection)()
    assert outcome.best_step == best
    assert outcome.best == scores[best]
    assert same(weights, kept[best])
    assert not same(weights, kept[8])


@pytest.mark.parametrize("better", [(), (2,), (2, 4)])
def test_patience_counts_validations_since_the_best(better, monkeypatch):
    scores = [Score(10.0 - i if i in better or i == 0 else 20.0, 0.0) for i in range(12)]
    scored(monkeypatch, scores)
    _, outcome = configured(steps=100, validate_every=1, patience=3)()
    last = max(better, default=0)
    assert outcome.best_step == last + 1
    assert outcome.steps == last + 1 + 3
    assert not outcome.interrupted


def test_without_patience_training_goes_to_the_end(monkeypatch):
    scored(monkeypatch, [Score(float(i), 0.0) for i in range(12)])
    assert configured(steps=12, validate_every=1)()[1].steps == 12


def test_the_last_step_is_validated_wherever_it_falls():
    _, outcome = configured(steps=7, validate_every=3)()
    assert [row[0] for row in outcome.history] == [3, 6, 7]


@BOTH
def test_held_out_graphs_are_never_trained_on_and_are_the_queries_of_validation(sampling, monkeypatch):
    drawn, validations = set(), []
    sampler = Blocks if sampling == "blocks" else Pairs
    draw, begin = sampler.draw, Validation.__init__

    def seen(self, generator):
        found = draw(self, generator)
        drawn.update(found[0].tolist())
        return found

    def kept(self, *arguments):
        begin(self, *arguments)
        validations.append(self)

    monkeypatch.setattr(sampler, "draw", seen)
    monkeypatch.setattr(Validation, "__init__", kept)
    configured(sampling=sampling, steps=25)()
    training = set(range(len(graphs()))) - set(HELD_OUT.tolist())
    assert drawn == training
    assert set(validations[0].queries.tolist()) == set(HELD_OUT.tolist())
    assert set(validations[0].database.tolist()) == training


def test_what_held_out_pairs_are_worth_changes_no_weights_of_a_step():
    """Distances between a training and a held-out graph select weights, and have no gradient."""
    inside = np.isin(table().left, HELD_OUT) | np.isin(table().right, HELD_OUT)
    value = table().value
    same_values, other = with_values(value), with_values(np.where(inside, value * 3, value))
    last = configured(steps=5, validate_every=5)  # one validation: no choice
    expected = last.but(table=same_values)()[0]
    assert same(expected, last.but(table=other)()[0])
    of_training = with_values(np.where(inside, value, value * 3))
    assert not same(expected, last.but(table=of_training)()[0])


def test_a_loss_that_is_not_finite_is_an_error_that_names_the_step():
    value = np.full(len(table()), np.inf, np.float32)
    with pytest.raises(TrainingError, match="at step 1"):
        configured().but(table=with_values(value))()


def test_gradients_are_clipped_only_where_the_settings_say_so(monkeypatch):
    clipped = []
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda parameters, norm: clipped.append(norm))
    configured(clip=0.0)()
    assert clipped == []
    configured(clip=0.5, steps=3)()
    assert clipped == [0.5, 0.5, 0.5]
    assert PRESETS["paper"][1].clip == 0  # the paper mentions none
