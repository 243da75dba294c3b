"""Pictures of the page of `ugraphemb serve molecules`, light and dark: python docs/tools/screenshots.py ADDRESS.

Start the server first, and wait until its map is ready. It needs Chromium, like the tests of the page.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs" / "figures"
sys.path.insert(0, str(ROOT / "tests"))

from web.browsing import Visit, browsing  # noqa: E402

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
NAMES = {"light": "page.png", "dark": "page-dark.png"}


def main(address: str) -> None:
    with browsing() as browser:
        for scheme, name in NAMES.items():
            visit = Visit(browser, address.rstrip("/") + "/", color_scheme=scheme, device_scale_factor=1.5).open()
            visit.ask(ASPIRIN)
            print(name, visit.prove().replace("\n", " "))
            visit.page.mouse.move(5, 895)
            visit.page.wait_for_timeout(4000)  # all points are drawn again when the map has stopped moving
            Image.open(io.BytesIO(visit.page.screenshot())).convert("RGB").save(FIGURES / name, optimize=True)
            visit.close()


if __name__ == "__main__":
    main(sys.argv[1])
