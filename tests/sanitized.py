"""Runs pytest on another build of the package than the one installed: `make sanitize-extension`.

python tests/sanitized.py FOLDER [arguments of pytest]
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


def main() -> int:
    folder = str(Path(sys.argv[1]).resolve())
    # An editable install finds its package before the path is looked through.
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "ScikitBuildRedirectingFinder"]
    sys.path.insert(0, folder)
    from ugraphemb import _core

    if not str(_core.__file__).startswith(folder):
        sys.exit(f"the core under test would be {_core.__file__}, not one in {folder}")
    return pytest.main(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
