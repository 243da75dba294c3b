"""A trained model as a folder: config.json, weights.safetensors and a model card. Loading runs no code from it."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import tempfile
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from ugraphemb.encoder.config import EncoderConfig, from_json
from ugraphemb.encoder.features import Vocabulary
from ugraphemb.encoder.network import Network
from ugraphemb.errors import ModelFormatError
from ugraphemb.graphs.label_json import label_to_json

FORMAT, VERSION = "ugraphemb-model", 1
CONFIG, WEIGHTS, CARD = "config.json", "weights.safetensors", "README.md"


def write_model(path: Path, network: Network, vocabulary: Vocabulary, about: Mapping[str, Any], card: str) -> None:
    """Writes the folder beside its place and moves it there whole: a crash leaves what was there before.

    Args:
        about: JSON values kept with the model under "about" and given back by `read_model`.
        card: Text for people, in Markdown.
    """
    config = {
        "format": FORMAT,
        "version": VERSION,
        "encoder": dataclasses.asdict(network.config),
        "vocabulary": _to_json(vocabulary),
        "about": dict(about),
    }
    path = path.absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not (path / CONFIG).exists() and (not path.is_dir() or any(path.iterdir())):
        raise ModelFormatError(f"{path}: there already, and not a model; nothing was written")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        fresh, old = Path(folder) / "new", Path(folder) / "old"
        fresh.mkdir()
        (fresh / CONFIG).write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
        (fresh / CARD).write_text(card, encoding="utf-8")
        save_file({name: tensor.contiguous() for name, tensor in network.state_dict().items()}, fresh / WEIGHTS)
        if path.exists():
            os.replace(path, old)
        os.replace(fresh, path)
        shutil.rmtree(old, ignore_errors=True)


def read_model(path: Path, device: torch.device) -> tuple[Network, Vocabulary, dict[str, Any]]:
    """The network, its vocabulary and what was kept about it."""
    source = path / CONFIG
    try:
        config = json.loads(source.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelFormatError(f"{path}: not a model folder, it has no {CONFIG}") from error
    except (OSError, ValueError) as error:
        raise ModelFormatError(f"{source}: not readable as JSON ({error})") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise ModelFormatError(f"{source}: not a ugraphemb model")
    if config.get("version") != VERSION:
        raise ModelFormatError(f"{source}: format version {config.get('version')!r}, this ugraphemb reads {VERSION}")
    unknown = sorted(set(config) - {"format", "version", "encoder", "vocabulary", "about"})
    if unknown:
        raise ModelFormatError(f"{source}: unknown key {unknown[0]!r}")
    encoder = from_json(EncoderConfig, config.get("encoder", {}), f"{source}: encoder")
    vocabulary = _from_json(config.get("vocabulary", {}), f"{source}: vocabulary")
    network = Network(encoder, vocabulary).to(device)
    try:
        network.load_state_dict(load_file(path / WEIGHTS, device=str(device)))
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ModelFormatError(f"{path / WEIGHTS}: not the weights that {CONFIG} describes ({error})") from error
    network.eval()
    return network, vocabulary, dict(config.get("about", {}))


def _to_json(vocabulary: Vocabulary) -> dict[str, Any]:
    values = {field.name: getattr(vocabulary, field.name) for field in dataclasses.fields(vocabulary)}
    for name in ("node_labels", "edge_labels"):
        values[name] = [label_to_json(label, "a model", ModelFormatError) for label in values[name]]
    return values


def _from_json(values: Any, source: str) -> Vocabulary:
    def label(value: Any) -> Hashable:
        if isinstance(value, dict):
            raise ModelFormatError(f"{source}: {value!r} is no label")
        return tuple(map(label, value)) if isinstance(value, list) else value

    if not isinstance(values, dict):
        raise ModelFormatError(f"{source}: expected an object")
    plain = {key: list(map(label, value)) if isinstance(value, list) else value for key, value in values.items()}
    return from_json(Vocabulary, plain, source)
