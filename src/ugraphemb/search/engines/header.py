"""What an engine stores once: the model, which excludes others, and the settings of the index."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import Any

from ugraphemb.encoder.config import EncoderConfig, changed, from_json
from ugraphemb.errors import IndexFormatError, ModelFormatError
from ugraphemb.estimator import UGraphEmb
from ugraphemb.files import Format, checked_name, digest, parsed_json, write_file

FORMAT = Format(
    "ugraphemb-engine", 1, IndexFormatError, keys=("fingerprint", "head", "dimension", "kind", "costs", "model")
)


def model_files(model: UGraphEmb) -> dict[str, bytes]:
    """The files of a saved model."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return {path.name: path.read_bytes() for path in sorted((Path(folder) / "model").iterdir()) if path.is_file()}


def fingerprint_of(files: dict[str, bytes]) -> str:
    """The same for models that give the same vectors: of the network, its labels and its weights."""
    config = json.loads(files["config.json"])
    settings = changed(from_json(EncoderConfig, config["encoder"], "config.json"))
    return digest(json.dumps([settings, config["vocabulary"], config["weights"]["name"]]).encode())


def packed(files: dict[str, bytes]) -> bytes:
    return json.dumps({name: base64.b64encode(data).decode() for name, data in files.items()}).encode()


def model_from(data: bytes, source: str, device: str | None) -> UGraphEmb:
    """The model that `packed` put into bytes.

    Raises:
        IndexFormatError: It is damaged.
    """
    files: Any = parsed_json(data, source, IndexFormatError)
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name, text in files.items():
                write_file(Path(folder) / checked_name(name, IndexFormatError), base64.b64decode(text))
            return UGraphEmb.load(folder, device=device)
        except (ModelFormatError, ValueError, AttributeError, TypeError) as error:
            raise IndexFormatError(f"{source}: its model is damaged ({error})") from error
