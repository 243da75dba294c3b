"""A flipped bit in any file of any saved format is detected; `make torture` tries thousands of them in each."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from torture.flips import SAVED, chosen_bits, files, silent


@pytest.mark.parametrize("name", SAVED)
def test_a_flipped_bit_is_found(name: str, tmp_path: Path):
    chance = random.Random(name)
    SAVED[name].save(tmp_path)
    SAVED[name].use(tmp_path)
    found = files(tmp_path)
    assert found
    for path in found:
        assert not silent(SAVED[name], tmp_path, path, chosen_bits(path, 3, chance))
    SAVED[name].use(tmp_path)
