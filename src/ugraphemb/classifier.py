"""Classes of graphs, as one scikit-learn estimator."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError

from ugraphemb.errors import type_of
from ugraphemb.estimator import UGraphEmb, model_of
from ugraphemb.graphs import GraphsLike, graphs_of
from ugraphemb.training.targets import classes_to_learn

_OF_FINETUNING = ("encoder__threads", "encoder__progress", "encoder__validation")  # have an effect after fitting, too


class UGraphEmbClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns vectors for graphs, adjusts them to classes, and predicts classes (the paper's UGraphEmb-F).

    One object for `cross_val_score` and `GridSearchCV`.

    Args:
        encoder: A fitted UGraphEmb, the folder of one, or the name of a pre-trained one ("molecules", "graphs"): its
            copy is fine-tuned, also in each fold of a cross-validation. One that is not fitted, or None, is first
            fitted to the training graphs.
        steps: Steps of fine-tuning; by default chosen by the number of graphs.
        seed: Seed of fine-tuning, and of the encoder if that is None.

    Attributes:
        classes_: In the order of the columns of `predict_proba`.
        encoder_: The fine-tuned UGraphEmb.

    Example:
        >>> import ugraphemb as ug
        >>> graphs = ug.load_dataset("atlas")[100:160]
        >>> many = graphs.num_edges > 7
        >>> encoder = ug.UGraphEmb(steps=20, dimension=16, threads=1, progress=False)
        >>> model = ug.UGraphEmbClassifier(encoder, steps=20).fit(graphs, many)
        >>> model.predict_proba(graphs[:3]).shape
        (3, 2)
    """

    def __init__(
        self, encoder: UGraphEmb | str | Path | None = None, *, steps: int | None = None, seed: int = 0
    ) -> None:
        self.encoder = encoder
        self.steps = steps
        self.seed = seed

    def fit(self, graphs: GraphsLike, y: npt.ArrayLike) -> UGraphEmbClassifier:
        """Learns from graphs and the class of each.

        Raises:
            ValueError: As `UGraphEmb.finetune`, before the encoder is fitted.
        """
        collection, given = graphs_of(graphs), self.encoder
        if not isinstance(given, UGraphEmb | str | Path | None):
            raise TypeError(f"encoder is {type_of(given)}; expected a UGraphEmb, the folder or name of one, or None")
        classes_to_learn(y, len(collection))
        if isinstance(given, str | Path):
            model = model_of(given)
        else:
            model = UGraphEmb(seed=self.seed) if given is None else copy.deepcopy(given)
        if not model.__sklearn_is_fitted__():
            model.fit(collection)
        # The seed is of this fine-tuning alone; the encoder's own parameters stay what they are.
        own = model.seed
        model.set_params(seed=self.seed).finetune(collection, y, steps=self.steps)
        self.encoder_: UGraphEmb = model.set_params(seed=own)
        self.classes_ = self.encoder_.classes_
        return self

    def predict(self, graphs: GraphsLike) -> npt.NDArray[Any]:
        """The most probable class of each graph."""
        return self._fitted().predict(graphs)

    def predict_proba(self, graphs: GraphsLike) -> npt.NDArray[np.float32]:
        """Probability of each class for each graph: (graphs, classes)."""
        return self._fitted().predict_proba(graphs)

    def transform(self, graphs: GraphsLike) -> npt.NDArray[np.float32]:
        """The fine-tuned vectors of graphs."""
        return self._fitted().transform(graphs)

    def set_params(self, **params: Any) -> UGraphEmbClassifier:
        """Changes parameters; those of the encoder are `encoder__NAME`.

        Raises:
            ValueError: No parameter has this name, or the encoder is fitted.
        """
        encoder = params.get("encoder", self.encoder)
        inner = [name for name in params if name.startswith("encoder__") and name not in _OF_FINETUNING]
        if inner and isinstance(encoder, UGraphEmb) and encoder.__sklearn_is_fitted__():
            raise ValueError(f"{inner[0]} has no effect: the encoder is fitted; give one that is not fitted")
        changed: UGraphEmbClassifier = super().set_params(**params)
        return changed

    def __sklearn_clone__(self) -> UGraphEmbClassifier:
        """A classifier with the same parameters. `clone` of scikit-learn would make an encoder that is not fitted."""
        parameters = self.get_params(deep=False)
        encoder = parameters.pop("encoder")
        is_fitted = isinstance(encoder, UGraphEmb) and encoder.__sklearn_is_fitted__()
        return type(self)(copy.deepcopy(encoder) if is_fitted else clone(encoder, safe=False), **parameters)

    def _fitted(self) -> UGraphEmb:
        if not hasattr(self, "encoder_"):
            raise NotFittedError("this UGraphEmbClassifier has not been fitted: call fit(graphs, y)")
        return self.encoder_
