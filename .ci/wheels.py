"""Builds the sdist and the wheels, checks them, and tries each on every Python at hand: python .ci/wheels.py.

Wheels are built from the sdist by CPython 3.11 (its own ABI) and 3.12 (the stable ABI, for all later ones), and are
repaired and tagged by auditwheel. dist/ then holds what can be published.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST, WORK = ROOT / "dist", ROOT / "build" / "wheels"
VERSIONS = ("3.11", "3.12", "3.13")
TORCH = {"torch", "torch_geometric"}
# What a wheel may hold, beside its metadata.
ALLOWED = re.compile(
    r"ugraphemb/([a-z_0-9]+/)*([A-Za-z_0-9-]+\.(py|pyi|html|safetensors|json|md)|py\.typed)"
    r"|ugraphemb/_core/(baseline|avx2)\.[a-z0-9_.-]+\.so"
    r"|ugraphemb/web/static/[\w./-]+\.(html|js|css|svg|woff2|txt|json)"
    r"|ugraphemb-[\w.]+\.dist-info/([\w./-]+)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pythons", nargs="*", default=VERSIONS, help="versions to try the wheels on")
    parser.add_argument("--torch", nargs="*", default=VERSIONS[:1], help="versions to install PyTorch for, too")
    parser.add_argument("--try-only", action="store_true", help="try the wheels that are in dist/")
    parser.add_argument("--build-only", action="store_true", help="do not install and try the wheels")
    options = parser.parse_args()
    pythons = {version: found for version in options.pythons if (found := python_of(version))}
    if not options.try_only:
        made(pythons)
    if not options.build_only:
        for version, python in pythons.items():
            attempt(version, python, wheel_for(version), torch=version in options.torch)


def made(pythons: dict[str, str]) -> None:
    """The sdist and the wheels in dist/, checked."""
    for version in VERSIONS[:2]:
        if version not in pythons:
            sys.exit(f"CPython {version} is needed to build its wheel and was not found (PATH, ~/.pyenv)")
    for folder in (DIST, WORK):
        shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--quiet", "--sdist", "--outdir", DIST, ROOT)
    sdist = next(DIST.glob("*.tar.gz"))
    with tarfile.open(sdist) as archive:
        listed(sdist.name, archive.getnames())
    WORK.mkdir(parents=True)
    shutil.unpack_archive(sdist, WORK)
    source = WORK / sdist.name.removesuffix(".tar.gz")
    for version in VERSIONS[:2]:
        build(pythons[version], source)
    for wheel in sorted(DIST.glob("*.whl")):
        check(wheel)


def build(python: str, source: Path) -> None:
    """A wheel by this Python, repaired by auditwheel, into dist/."""
    raw = WORK / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", raw, source)
    run(sys.executable, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", DIST, *raw.glob("*.whl"))


def check(wheel: Path) -> None:
    """That the wheel holds what users need and nothing else, and runs on old systems."""
    names = [name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")]
    unexpected = [name for name in names if not ALLOWED.fullmatch(name)]
    if unexpected:
        sys.exit(f"{wheel.name} holds files that users do not need: {', '.join(unexpected[:5])}")
    missing = sorted((packaged() | {"ugraphemb/web/static/index.html"}) - set(names))
    if missing:
        sys.exit(f"{wheel.name} lacks {', '.join(missing[:5])}")
    listed(wheel.name, names)
    run(sys.executable, "-m", "auditwheel", "show", wheel)
    if "abi3" in wheel.name and any(re.search(r"\.cpython-", name) for name in names):
        sys.exit(f"{wheel.name} says abi3, but holds an extension of one version")


def packaged() -> set[str]:
    """Every file of the package in the repository: modules, stubs, pages, pre-trained models."""
    listing = subprocess.run(["git", "ls-files", "src/ugraphemb"], cwd=ROOT, check=True, capture_output=True, text=True)
    return {name.removeprefix("src/") for name in listing.stdout.splitlines()}


def attempt(version: str, python: str, wheel: Path, *, torch: bool) -> None:
    """Installs the wheel into an empty environment and runs examples/smoke.py there.

    PyTorch is installed only for the versions in `--torch`: elsewhere pip may pick a build for GPUs, of several
    gigabytes. What does not need PyTorch is tried on every Python.
    """
    place = WORK / f"try-{version}"
    run(python, "-m", "venv", place)
    inside = place / "bin" / "python"
    pip = [inside, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "-c", ROOT / "constraints.txt"]
    if torch:
        run(*pip, "--only-binary=:all:", wheel)
    else:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        rest = [entry for entry in project["dependencies"] if re.split(r"[<>=]", entry)[0] not in TORCH]
        run(*pip, "--only-binary=:all:", *rest)
        run(*pip, "--no-deps", wheel)
    run(inside, ROOT / "examples" / "smoke.py", cwd=place)
    run(place / "bin" / "ugraphemb", "--version", cwd=place)
    print(f"CPython {version}: {wheel.name} works{'' if torch else ' (without PyTorch)'}", flush=True)


def wheel_for(version: str) -> Path:
    tag = "cp311-cp311" if version == "3.11" else "cp312-abi3"
    return next(DIST.glob(f"*-{tag}-*.whl"))


def listed(title: str, names: list[str]) -> None:
    folders: dict[str, int] = {}
    for name in names:
        folder = "/".join(name.split("/")[:2])
        folders[folder] = folders.get(folder, 0) + 1
    print(f"{title}: {len(names)} files", flush=True)
    for folder, count in sorted(folders.items()):
        print(f"  {folder}{f' ({count} files)' if count > 1 else ''}", flush=True)


def python_of(version: str) -> str | None:
    """An interpreter of this version: of pyenv, or on the path."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(kept[-1]) if kept else shutil.which(f"python{version}")


def run(*command: object, cwd: Path | None = None) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    subprocess.run([str(part) for part in command], check=True, cwd=cwd, env=environment)


if __name__ == "__main__":
    main()
