"""A trained model as a folder. Loading runs no code from it.

    config.json                   the network, its vocabulary, and which file holds the weights, with its checksum
    weights-DIGEST.safetensors    named after its content
    README.md                     the model card, for people
    .lock                         held while the model is saved

Replacing config.json, one file, is what replaces the model; the weights that it names are there before it and removed
after it is gone. A crash leaves the old model or the new one, and files that others put into the folder stay.
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

from ugraphemb.encoder.config import EncoderConfig, from_json
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
    """A model as it is on disk.

    Attributes:
        weights: By the names of the network's tensors.
        about: JSON values that were kept with it.
        source: Its folder.
    """

    config: EncoderConfig
    vocabulary: Vocabulary
    weights: Weights
    about: dict[str, Any]
    source: Path

    def inference(self) -> Inference | None:
        """The network without torch; None where only torch can compute it.

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
        """The network, by torch.

        Raises:
            ModelFormatError: The weights are not those that the settings describe.
        """
        import torch

        try:
            with torch.device("meta"):  # sizes first: a damaged setting must not ask for all memory
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
        """How many classes a fine-tuned model predicts; 0 where its class layers were not kept (release 0.1)."""
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
    """What `write_model` writes of a network."""
    return {name: tensor.detach().cpu().contiguous().numpy() for name, tensor in network.state_dict().items()}


def write_model(
    path: Path, config: EncoderConfig, vocabulary: Vocabulary, weights: Weights, about: Mapping[str, Any], card: str
) -> None:
    """Makes the folder hold this model, atomically.

    Args:
        weights: By the names of the network's tensors.
        about: JSON values kept with the model under "about" and given back by `read_model`.
        card: Text for people, in Markdown; an edited README.md is left as it is.

    Raises:
        ModelFormatError: There is something else; nothing was written.
        StorageError: It could not be written; the old state is kept.
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
        if not (path / LOCK).exists():  # else another process may be saving: what counts is what is there after it
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
    """Equal for models that give the same vectors: same settings, vocabulary and weights."""
    about = {"encoder": dataclasses.asdict(config), "vocabulary": _to_json(vocabulary)}
    parts = [json.dumps(about, sort_keys=True).encode()]
    for name, array in sorted(weights.items()):
        parts += [f"{name} {array.dtype} {array.shape}".encode(), np.ascontiguousarray(array).tobytes()]
    return digest(b"".join(parts))


def read_model(path: Path) -> Saved:
    """The weights, settings, vocabulary and what was kept about a model, all of one save.

    Raises:
        ModelFormatError: A folder that is damaged, foreign or of an unknown version.
    """
    while True:
        config = _config(path)
        try:
            data = _weights(path, config["weights"])
            break
        except ModelFormatError:
            if _config(path)["weights"] == config["weights"]:
                raise  # otherwise another process saved meanwhile, and the new model is read
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


def _other_weights(path: Path, error: Exception) -> ModelFormatError:
    return ModelFormatError(f"{path}: the weights are not those that {CONFIG} describes ({error})")


def remove_model(path: Path) -> None:
    """Removes a model's files, and the folder unless others put something there."""
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
    if len(entry) == 1:  # of release 0.1, which kept no checksum
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
    """The weights of a model of release 0.1, if there is one: their name does not say what they hold."""
    with suppress(ModelFormatError):
        entry = _config(path)["weights"]
        return [entry["name"]] if len(entry) == 1 else []
    return []


def _own_weights(path: Path) -> list[str]:
    """Weights of models that were here, and of a save that did not come to its end."""
    return [
        entry.name for entry in path.iterdir() if stem_of(entry.name, ".safetensors") == "weights" and is_ours(entry)
    ]


def _refuse_foreign(path: Path) -> None:
    if not path.exists():  # asked first: another process may make it meanwhile
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
    """A damaged config of a model may be replaced, a config.json of another program may not."""
    with suppress(OSError):
        if f'"{FORMAT.name}"'.encode() not in (path / CONFIG).read_bytes():
            raise ModelFormatError(f"{path}: there already, and not a model ({CONFIG}); nothing was written")


def _sealed(card: str) -> bytes:
    return (card + _CARD_SEAL.format(digest(card.encode()))).encode()


def _is_own_card(path: Path) -> bool:
    """Whether there is no card, or one as we wrote it."""
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
