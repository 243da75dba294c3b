"""The table of all settings of a model, from the dataclasses, their docstrings and the presets."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

from ugraphemb.encoder.config import EncoderConfig
from ugraphemb.estimator import UGraphEmb
from ugraphemb.training.config import TrainingConfig
from ugraphemb.training.presets import PRESETS

HEAD = """---
hide: [toc]
---

# Settings

Every setting of a model, with its value in the presets `default` and `paper`. Those marked "parameter" are
parameters of `UGraphEmb(...)`; the others are given by `UGraphEmb(settings={"name": value})`. An unknown name is an
error. A saved model keeps the settings of the encoder and of training in its `config.json`.

The preset `default` adapts to the training graphs unless a value is given: for edit distances of sparse graphs, such as
molecules, it changes `head`, `hidden`, `augment` and `anchored` ([why](../concepts/heads.md)); for graphs with many
distinct labels, `activation` and `augment`.
"""


def page() -> str:
    """The page, as Markdown."""
    about = described(UGraphEmb, "Args")
    own = {name: shown(parameter.default) for name, parameter in inspect.signature(UGraphEmb).parameters.items()}
    parts = {EncoderConfig: "encoder", TrainingConfig: "training"}
    of_presets = {field.name for kind in parts for field in dataclasses.fields(kind)}
    rows = [
        (name, "parameter", value, shown("paper") if name == "preset" else value, about[name])
        for name, value in own.items()
        if name not in of_presets
    ]
    for place, (kind, title) in enumerate(parts.items()):
        about = described(kind, "Attributes")
        for field in dataclasses.fields(kind):
            where = f"parameter, {title}" if field.name in own else title
            values = (shown(getattr(PRESETS[name][place], field.name)) for name in ("default", "paper"))
            rows.append((field.name, where, *values, about[field.name]))
    head = ("setting", "where", 'preset="default"', 'preset="paper"', "meaning")
    return f'{HEAD}\n<div class="settings" markdown>\n\n{_table(head, rows)}\n</div>\n'


def described(kind: type, section: str) -> dict[str, str]:
    """What the docstring of a class says of each name in a section; entries may name several at once."""
    text = inspect.cleandoc(kind.__doc__ or "")
    found = re.search(rf"^{section}:\n(.*?)(?=^\S|\Z)", text, re.DOTALL | re.MULTILINE)
    assert found is not None, f"{kind.__name__} has no section {section}"
    entries: dict[str, str] = {}
    for names, meaning in re.findall(r"^    (\S[^:\n]*): (.*?)(?=^    \S|\Z)", found[1], re.DOTALL | re.MULTILINE):
        for name in names.split(", "):
            entries[name] = " ".join(meaning.split())
    return entries


def shown(value: Any) -> str:
    return repr(list(value)) if isinstance(value, tuple) else repr(value)


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for name, where, default, paper, meaning in rows:
        cells = [f"`{name}`", where, f"`{default}`", f"`{paper}`", meaning.replace("|", "\\|")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
