"""Checkpoints of training runs: one file with a checksum, replaced atomically; a crash leaves the previous one."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ugraphemb.encoder.features import Vocabulary
from ugraphemb.errors import ModelFormatError
from ugraphemb.files import sealed, storage_errors, unsealed, write_file
from ugraphemb.training.validation import Score

if TYPE_CHECKING:
    from ugraphemb.training.loop import _Run

_NAME, _VERSION = "ugraphemb-checkpoint", 2
_FREE = ("steps", "checkpoint_seconds")  # settings that may differ from those of the checkpoint


def write_checkpoint(path: Path, run: _Run) -> None:
    """Saves everything that the rest of the run depends on, and the identity of the run."""
    state = dataclasses.asdict(dataclasses.replace(run.state, best_weights={}))
    content = {
        "identity": json.dumps(run.identity),
        "network": run.network.state_dict(),
        "average": run.average.state_dict(),
        "best": run.state.best_weights,
        "optimizer": run.optimizer.state_dict(),
        "state": json.dumps(state),
        "generator": json.dumps(run.generator.bit_generator.state),
        **({} if run.online is None else {"online": run.online.state()}),
    }
    payload = io.BytesIO()
    torch.save(content, payload)
    with storage_errors(path):
        write_file(path, sealed(_NAME, _VERSION, payload.getvalue()))


def read_checkpoint(path: Path, run: _Run) -> None:
    """Sets `run` to the state of the checkpoint.

    Raises:
        ModelFormatError: Not a checkpoint, a damaged one, or one of another run: the network, the training settings,
            the seed, the vocabulary, the graphs, the distances, the held-out graphs or the model at the start differ.
            `steps` may differ, but must not be below the step of the checkpoint.
    """
    try:
        data = path.read_bytes()
        if data.startswith(b"PK"):
            raise ModelFormatError(f"{path}: of release 0.1, which does not say all of what it was trained on")
        _, payload = unsealed(data, _NAME, [_VERSION], str(path), ModelFormatError)
        content = torch.load(io.BytesIO(payload), map_location=run.device, weights_only=True)
    except Exception as error:
        raise ModelFormatError(f"{path}: not a checkpoint, or damaged ({error}); delete it to start over") from error
    if not isinstance(content, dict):
        raise ModelFormatError(f"{path}: not a checkpoint; delete it to start over")
    try:
        _check(json.loads(content["identity"]), json.loads(json.dumps(run.identity)), path)
        state = json.loads(content["state"])
        if state["step"] > run.config.steps:
            raise ModelFormatError(
                f"{path}: at step {state['step']}, beyond steps={run.config.steps}; steps can be extended, not cut"
            )
        state["best"] = Score(**state["best"])
        state["history"] = tuple((int(row[0]), *map(float, row[1:])) for row in state["history"])
        if state["best_step"]:
            run.network.load_state_dict(content["best"])  # only checks that they fit; the current weights follow
        run.network.load_state_dict(content["network"])
        run.average.load_state_dict(content["average"])
        run.optimizer.load_state_dict(content["optimizer"])
        if run.online is not None:
            run.online.restore(content["online"])
        run.generator.bit_generator.state = json.loads(content["generator"])
        run.state = dataclasses.replace(run.state, **{**state, "best_weights": content["best"]})
    except ModelFormatError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise ModelFormatError(f"{path}: a damaged checkpoint ({error}); delete it to start over") from error


def identity(run: _Run) -> dict[str, Any]:
    """The identity of a run as JSON: runs with the same identity take the same steps."""
    training = {key: value for key, value in dataclasses.asdict(run.config).items() if key not in _FREE}
    table = run.table
    return {
        "network": dataclasses.asdict(run.network.config),
        "training": training,
        "seed": run.seed,
        "vocabulary": _digest(np.frombuffer(repr(_typed(run.collator.vocabulary)).encode(), np.uint8)),
        "graphs": _digest(*run.collator.arrays()),
        "training graphs": _digest(run.training),
        "held-out graphs": _digest(run.held_out),
        "distances": _digest(table.left, table.right, table.value, table.lower, table.upper),
        "online": None if run.online is None else run.online.identity(),
        "model at the start": run.start,
    }


def _check(found: dict[str, Any], wanted: dict[str, Any], path: Path) -> None:
    for name, value in wanted.items():
        other = found.get(name)
        if other == value:
            continue
        if isinstance(value, dict) and isinstance(other, dict):
            key = next(key for key in {**value, **other} if value.get(key) != other.get(key))
            what = f"another setting: {key}={other.get(key)!r} there, {value.get(key)!r} here"
        elif name == "model at the start":
            what = f"another {name}"
        elif isinstance(value, int):
            what = f"another {name}: {other!r} there, {value!r} here"
        else:
            what = f"other {name}"
        raise ModelFormatError(f"{path}: a checkpoint of {what}; delete it to start over")


def _typed(vocabulary: Vocabulary) -> list[Any]:
    """Each value with its type, because 1, 1.0, True and "1" are different labels."""
    columns = dataclasses.astuple(vocabulary)
    return [[(type(value).__name__, value) for value in column] for column in columns]


def _digest(*arrays: np.ndarray[Any, Any]) -> str:
    state = hashlib.blake2b(digest_size=16)
    for array in arrays:
        state.update(f"{array.dtype.str} {array.shape}".encode())
        state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()
