"""What tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no failure. UGRAPHEMB_EXAMPLES=2000 hunts for rare ones.
examples = int(os.environ.get("UGRAPHEMB_EXAMPLES", "60"))
settings.register_profile("ugraphemb", deadline=None, max_examples=examples)
settings.load_profile("ugraphemb")

# What runs in the background starts with Ctrl-C ignored, and so do its children; some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# As many tests run at a time as there are cores: threads of torch in each of them would wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

REPOSITORY = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a cluster come first: workers of pytest take tests from one another's ends, and each of two
    would start a cluster."""
    items.sort(key=lambda item: "test_dask" not in item.nodeid)


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of data sets: $UGRAPHEMB_DATA, or ../shared/data beside the repository. Skips where there is none."""
    named = os.environ.get("UGRAPHEMB_DATA")
    folder = Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no data sets: set UGRAPHEMB_DATA ({folder} is not a folder)")
    return folder


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without data sets and without network: an empty cache, and an address that does not answer."""
    monkeypatch.delenv("UGRAPHEMB_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("UGRAPHEMB_DATASET_URL", "http://127.0.0.1:9")
    return tmp_path
