"""The model card of a saved model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ugraphemb.encoder.config import EncoderConfig


def card_of(about: Mapping[str, Any], config: EncoderConfig) -> str:
    """Markdown that states what the vectors approximate, the training data and the validation scores."""
    graphs, score = about["graphs"], about["validation"]
    return (
        f"# A ugraphemb model\n\n"
        f"Vectors of {config.dimension} numbers, compared by {config.head}, that keep the normalized "
        f"{about['kind']} `{about['metric']}` of graphs.\n\n"
        f"- trained on: {graphs['name'] or 'graphs'}, {graphs['count']} graphs (fingerprint "
        f"{graphs['fingerprint']}), {about['pairs']} pairs, {about['steps']} steps, seed {about['seed']}\n"
        f"- on held-out graphs: Kendall tau {score['tau']:.3f}, mean squared error {score['loss']:.5f}\n"
        f"- network: {config.convolution} {'-'.join(map(str, config.layers))}, readout {config.readout}\n\n"
        f'```python\nimport ugraphemb as ug\nvectors = ug.UGraphEmb.load("this folder").transform(graphs)\n```\n'
    )
