"""Storage of a trained model in a folder. Loading runs no code from it.

    config.json                   settings, vocabulary, and name and checksum of the weights file
    weights-DIGEST.safetensors    the weights, named after their content
    README.md                     the model card
    .lock                         locked while the model is saved

The atomic replacement of config.json replaces the model: new weights are written before it, old weights are removed
after it. A crash leaves the old model or the new one. Files of others in the folder are kept.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from ugraphemb.encoder.config import EncoderConfig, changed, from_json
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.inference import Inference, knows
from ugraphemb.errors import ModelFormatError
from ugraphemb.files import (
    Format,
    Sums,
    checked_file,
    checked_name,
    digest,
    label_from_json,
    label_to_json,
    locked,
    make_folders,
    remove_dead_drafts,
    remove_empty_folder,
    remove_file,
    storage_errors,
    write_file,
)
from ugraphemb.files.drafts import is_draft
from ugraphemb.files.named import is_ours, name_of, stem_of

if TYPE_CHECKING:
    import torch

    from ugraphemb.encoder.model import Network

Weights = Mapping[str, npt.NDArray[Any]]

CONFIG, CARD, LOCK = "config.json", "README.md", ".lock"
FORMAT = Format(
    "ugraphemb-model", 2, ModelFormatError, ("encoder", "vocabulary", "about", "weights"),
    {1: lambda content: {"about": {}, **content, "weights": {"name": "weights.safetensors"}}},
)  # fmt: skip
_CARD_SEAL = "\n<!-- written by ugraphemb; a card that is edited is kept: {} -->\n"


@dataclasses.dataclass(frozen=True)
class Saved:
    """A model as read from disk.

    Attributes:
        weights: Arrays by tensor name.
        about: JSON values that were saved with it.
        source: Its folder.
    """

    config: EncoderConfig
    vocabulary: Vocabulary
    weights: Weights
    about: dict[str, Any]
    source: Path

    def inference(self) -> Inference | None:
        """The network without torch; None if its settings need torch.

        Raises:
            ModelFormatError: The weights are not those that the settings describe.
        """
        if not knows(self.config):
            return None
        try:
            encoder = {name: array for name, array in self.weights.items() if not name.startswith("classes.")}
            return Inference(self.config, self.vocabulary, encoder)
        except ValueError as error:
            raise _other_weights(self.source, error) from error

    def network(self, device: torch.device) -> Network:
        """The network as a torch module.

        Raises:
            ModelFormatError: The weights are not those that the settings describe.
        """
        import torch

        try:
            with torch.device("meta"):  # check shapes first: a damaged setting must not allocate all memory
                empty = self._network().state_dict()
            expected = {name: tuple(tensor.shape) for name, tensor in empty.items()}
            if expected != {name: array.shape for name, array in self.weights.items()}:
                raise ValueError("other tensors, or of other shapes")
            network = self._network()
            network.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in self.weights.items()})
            if network.classes is not None:
                network.classes.check()
        except (RuntimeError, TypeError, ValueError, KeyError, OverflowError, MemoryError) as error:
            raise _other_weights(self.source, error) from error
        return network.to(device).eval()

    @property
    def class_count(self) -> int:
        """Number of classes that a fine-tuned model predicts; 0 without class layers (release 0.1 saved none)."""
        if not any(name.startswith("classes.") for name in self.weights):
            return 0
        try:
            return len(self.about["finetuned"]["classes"])
        except (KeyError, TypeError) as error:
            raise _other_weights(self.source, error) from error

    def _network(self) -> Network:
        from ugraphemb.encoder.classes import Shape
        from ugraphemb.encoder.model import Network

        network = Network(self.config, self.vocabulary)
        if self.class_count:
            sizes = (len(self.weights[f"classes.{name}"]) for name in ("known", "offsets", "color"))
            network.add_classes(Shape(self.class_count, *sizes))
        return network


def weights_of(network: Network) -> Weights:
    """The weights of a network as `write_model` takes them."""
    return {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in network.state_dict().items()}


def write_model(
    path: Path, config: EncoderConfig, vocabulary: Vocabulary, weights: Weights, about: Mapping[str, Any], card: str
) -> None:
    """Saves a model in a folder, atomically.

    Args:
        weights: Arrays by tensor name.
        about: JSON values that are saved under "about" and returned by `read_model`.
        card: The model card in Markdown; a README.md that was edited is not overwritten.

    Raises:
        ModelFormatError: The path exists and is not a model; nothing was written.
        StorageError: Writing failed; the old state is kept.
    """
    path = path.absolute()
    data = safetensors.save(dict(weights))
    name_of_weights = name_of("weights", data, ".safetensors")
    text = FORMAT.text(
        {
            "encoder": dataclasses.asdict(config),
            "vocabulary": _to_json(vocabulary),
            "about": dict(about),
            "weights": {"name": name_of_weights, **Sums.of(data).to_json()},
        }
    )
    with storage_errors(path):
        if not (path / LOCK).exists():  # otherwise another process may be saving: check after it has finished
            _refuse_foreign(path)
        make_folders(path)
        with locked(path / LOCK):
            _refuse_foreign(path)
            remove_dead_drafts(path)
            old = _weights_of_0_1(path)
            write_file(path / name_of_weights, data)
            write_file(path / CONFIG, text)
            if _is_own_card(path / CARD):
                write_file(path / CARD, _sealed(card))
            for name in {*old, *_own_weights(path)} - {name_of_weights}:
                remove_file(path / name)


def fingerprint_of(config: EncoderConfig, vocabulary: Vocabulary, weights: Weights) -> str:
    """A digest of settings, vocabulary and weights: models with equal fingerprints give the same vectors."""
    about = {"encoder": changed(config), "vocabulary": _to_json(vocabulary)}
    parts = [json.dumps(about, sort_keys=True).encode()]
    for name, array in sorted(weights.items()):
        parts += [f"{name} {array.dtype} {array.shape}".encode(), np.ascontiguousarray(array).tobytes()]
    return digest(b"".join(parts))


def read_model(path: Path) -> Saved:
    """Reads a model. All parts are from the same save, also if another process saves at the same time.

    Raises:
        ModelFormatError: The folder is damaged, not a model, or of an unknown version.
    """
    while True:
        config = _config(path)
        try:
            data = _weights(path, config["weights"])
            break
        except ModelFormatError:
            if _config(path)["weights"] == config["weights"]:
                raise  # otherwise another process has saved a new model, which is read instead
    source = path / CONFIG
    encoder = from_json(EncoderConfig, config["encoder"], f"{source}: encoder")
    vocabulary = _from_json(config["vocabulary"], f"{source}: vocabulary")
    if not isinstance(config["about"], dict):
        raise ModelFormatError(f"{source}: about: expected an object")
    try:
        weights = safetensors.load(data)
    except (SafetensorError, RuntimeError, TypeError, ValueError, KeyError, OverflowError, MemoryError) as error:
        raise _other_weights(path, error) from error
    return Saved(encoder, vocabulary, weights, config["about"], path)


def read_card(path: Path) -> str:
    """The card of a model, without the comment at its end that marks it as generated."""
    text = (path / CARD).read_text(encoding="utf-8")
    return text.partition(_CARD_SEAL.partition("{}")[0])[0]


def _other_weights(path: Path, error: Exception) -> ModelFormatError:
    return ModelFormatError(f"{path}: the weights are not those that {CONFIG} describes ({error})")


def remove_model(path: Path) -> None:
    """Removes the files of a model, and the folder if it is empty then."""
    with suppress(ModelFormatError):
        _config(path)
        remove_file(path / CONFIG)
    for name in _own_weights(path):
        remove_file(path / name)
    if _is_own_card(path / CARD):
        remove_file(path / CARD)
    remove_file(path / LOCK)
    remove_dead_drafts(path)
    remove_empty_folder(path)


def _config(path: Path) -> dict[str, Any]:
    try:
        config = FORMAT.read(path / CONFIG)
    except (FileNotFoundError, NotADirectoryError):
        raise ModelFormatError(f"{path}: not a model folder, it has no {CONFIG}") from None
    unknown = sorted(set(config) - {"format", "version", *FORMAT.keys})
    if unknown:
        raise ModelFormatError(f"{path / CONFIG}: unknown key {unknown[0]!r}")
    if not isinstance(config["weights"], dict) or "name" not in config["weights"]:
        raise ModelFormatError(f"{path / CONFIG}: weights: expected an object with a name")
    return config


def _weights(path: Path, entry: dict[str, Any]) -> bytes:
    source = path / checked_name(entry["name"], ModelFormatError)
    if len(entry) == 1:  # release 0.1, without checksum
        try:
            return source.read_bytes()
        except OSError as error:
            raise ModelFormatError(f"{source}: cannot be read ({error.strerror or error})") from error
    try:
        sums = Sums.from_json({key: value for key, value in entry.items() if key != "name"})
    except ValueError as error:
        raise ModelFormatError(f"{path / CONFIG}: weights: {error}") from error
    return bytes(checked_file(path, entry["name"], sums, ModelFormatError).check())


def _weights_of_0_1(path: Path) -> list[str]:
    """The weights file of a model of release 0.1, if there is one: its name contains no digest."""
    with suppress(ModelFormatError):
        entry = _config(path)["weights"]
        return [entry["name"]] if len(entry) == 1 else []
    return []


def _own_weights(path: Path) -> list[str]:
    """Weights files of this and earlier models in the folder, and of interrupted saves."""
    return [
        entry.name for entry in path.iterdir() if stem_of(entry.name, ".safetensors") == "weights" and is_ours(entry)
    ]


def _refuse_foreign(path: Path) -> None:
    if not path.exists():  # first check: another process may create it at the same time
        return
    if not path.is_dir():
        raise ModelFormatError(f"{path}: there already, and not a folder; nothing was written")
    entries = [entry for entry in path.iterdir() if entry.name != LOCK and not is_draft(entry.name)]
    strange = [entry.name for entry in entries if not is_ours(entry) and os.path.lexists(entry)]
    if strange and not os.path.lexists(path / CONFIG):
        raise ModelFormatError(f"{path}: there already, and not a model ({strange[0]}); nothing was written")
    if strange:
        _config_is_ours(path)


def _config_is_ours(path: Path) -> None:
    """Raises ModelFormatError for a config.json of another program; a damaged one of a model may be replaced."""
    with suppress(OSError):
        if f'"{FORMAT.name}"'.encode() not in (path / CONFIG).read_bytes():
            raise ModelFormatError(f"{path}: there already, and not a model ({CONFIG}); nothing was written")


def _sealed(card: str) -> bytes:
    return (card + _CARD_SEAL.format(digest(card.encode()))).encode()


def _is_own_card(path: Path) -> bool:
    """Whether there is no card, or an unedited one written by `write_model`."""
    if not path.is_symlink() and not path.exists():
        return True
    with suppress(OSError, UnicodeDecodeError):
        text = path.read_text(encoding="utf-8")
        body = text[: -len(_CARD_SEAL.format("0" * 32))]
        return not path.is_symlink() and _sealed(body) == text.encode()
    return False


def _to_json(vocabulary: Vocabulary) -> dict[str, Any]:
    values = {field.name: getattr(vocabulary, field.name) for field in dataclasses.fields(vocabulary)}
    for name in ("node_labels", "edge_labels"):
        values[name] = [label_to_json(label, "a model", ModelFormatError) for label in values[name]]
    return values


def _from_json(values: Any, source: str) -> Vocabulary:
    if not isinstance(values, dict):
        raise ModelFormatError(f"{source}: expected an object")
    plain = {key: label_from_json(value, source, ModelFormatError) for key, value in values.items()}
    vocabulary = from_json(Vocabulary, plain, source)
    for field in dataclasses.fields(vocabulary):
        found = getattr(vocabulary, field.name)
        if not isinstance(found, tuple) or (
            field.name.startswith("attribute") and not all(type(number) in (int, float) for number in found)
        ):
            raise ModelFormatError(f"{source}: {field.name}: expected a list")
    return vocabulary
