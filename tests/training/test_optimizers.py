"""Muon, the listwise loss, and which parameters go to which optimizer."""

import copy
from dataclasses import replace

import numpy as np
import torch
from training.small_training import ENCODER, TRAINING, Training, graphs, same

from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.model import Network
from ugraphemb.training.losses import TEMPERATURE, listwise
from ugraphemb.training.optimizers import Muon, optimizer_of, orthogonal

DEEP = replace(ENCODER, layers=(6, 6, 6), residual=True)
WITH_MUON = replace(TRAINING, muon=0.02, listwise=0.02, selection="last")


def test_newton_schulz_comes_near_the_orthogonal_factor():
    torch.manual_seed(0)
    for shape in ((3, 8, 8), (2, 4, 9), (2, 9, 4)):
        matrices = torch.randn(shape)
        left, _, right = torch.linalg.svd(matrices, full_matrices=False)
        found = orthogonal(matrices)
        values = torch.linalg.svdvals(found)
        assert values.min() > 0.3
        assert values.max() < 1.3
        cosine = torch.nn.functional.cosine_similarity(found.flatten(1), (left @ right).flatten(1))
        assert cosine.min() > 0.95


def test_convolution_matrices_go_to_muon_and_everything_else_to_adam():
    network = Network(DEEP, Vocabulary.of(graphs(), DEEP))
    optimizer = optimizer_of(network, WITH_MUON)
    muon, adam = optimizer.param_groups
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    assert sorted(names[id(p)] for p in muon["params"]) == [
        "convolutions.0.convolution.nn.2.weight", "convolutions.1.convolution.nn.2.weight",
        "convolutions.1.product.weight", "convolutions.2.convolution.nn.2.weight", "convolutions.2.product.weight",
    ]  # fmt: skip
    assert {id(p) for group in (muon, adam) for p in group["params"]} == set(names)
    assert (muon["initial"], adam["initial"]) == (0.02, TRAINING.learning_rate)


def test_decay_keeps_the_matrices_of_muon_bounded():
    """Steps of constant length: without decay a matrix grows with their number."""
    torch.manual_seed(0)
    start, gradient, norms = torch.randn(4, 4), torch.randn(4, 4), []
    for decay in (0.0, 0.5):
        parameter = torch.nn.Parameter(start.clone())
        optimizer = Muon([parameter], 0.1, decay)
        for _ in range(500):
            parameter.grad = gradient.clone()
            optimizer.step()
        norms.append(float(torch.linalg.matrix_norm(parameter.detach(), 2)))
    assert norms[0] > 30
    assert norms[1] < 2.6  # at most (length of a step) / decay = 1.2 / 0.5, and what is left of the start

    group = optimizer_of(Network(DEEP, Vocabulary.of(graphs(), DEEP)), replace(WITH_MUON, muon_decay=0.3))
    assert group.param_groups[0]["decay"] == 0.3


def test_muon_goes_on_from_its_saved_state():
    torch.manual_seed(0)
    matrix, gradients = torch.randn(4, 4), torch.randn(4, 4, 4)

    def steps(parameter, optimizer, some):
        for gradient in some:
            parameter.grad = gradient.clone()
            optimizer.step()

    whole = torch.nn.Parameter(matrix.clone())
    optimizer = Muon([whole], 0.1)
    steps(whole, optimizer, gradients[:2])
    state, other = copy.deepcopy(optimizer.state_dict()), torch.nn.Parameter(whole.detach().clone())
    steps(whole, optimizer, gradients[2:])
    again = Muon([other], 0.1)
    again.load_state_dict(state)
    steps(other, again, gradients[2:])
    assert torch.equal(whole, other)


def test_a_training_with_muon_can_be_interrupted_and_resumed(tmp_path):
    training = Training(WITH_MUON, DEEP)
    whole, _ = training()

    def stop(step, loss):
        if step == 3:
            raise KeyboardInterrupt

    training(checkpoint=tmp_path / "run", tick=stop)
    resumed, outcome = training(checkpoint=tmp_path / "run", resume=True)
    assert same(whole, resumed)
    assert outcome.best_step == outcome.steps == WITH_MUON.steps


def test_the_listwise_loss_is_the_divergence_of_rankings():
    generator = np.random.default_rng(0)
    left, right = np.triu_indices(5, 1)
    keep = np.arange(len(left)) != 2  # one pair is not known
    left, right = left[keep], right[keep]
    value, guess = generator.random((2, len(left))).astype(np.float32)
    total = 0.0
    for graph in range(5):
        its = (left == graph) | (right == graph)
        true, predicted = (np.exp(-x[its] / TEMPERATURE) for x in (value, guess))
        true, predicted = true / true.sum(), predicted / predicted.sum()
        total += (true * np.log(true / predicted)).sum()
    found = listwise(*map(torch.from_numpy, (guess, value, left, right)), 6)  # the sixth graph has no pair
    np.testing.assert_allclose(float(found), total / 5, rtol=1e-4)
    same_ranking = listwise(*map(torch.from_numpy, (value, value, left, right)), 5)
    assert float(same_ranking) < 1e-6


def test_the_gradient_of_the_listwise_loss_is_finite_where_pairs_are_unknown():
    guess = torch.rand(2, requires_grad=True)
    listwise(guess, torch.rand(2), torch.tensor([0, 0]), torch.tensor([1, 2]), 4).backward()
    assert torch.isfinite(guess.grad).all()
