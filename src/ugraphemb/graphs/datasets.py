"""Data sets by name: on disk, from TU Dortmund's collection, or without either."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import numpy as np

from ugraphemb.errors import DatasetNotFoundError
from ugraphemb.graphs.download import DownloadError, check_download, downloaded
from ugraphemb.graphs.formats import read_graphs
from ugraphemb.graphs.formats.reader import reported
from ugraphemb.graphs.graphset import GraphSet
from ugraphemb.progress import progress_of

BASE_URL = "https://www.chrsmrrs.com/graphkerneldatasets"

# The paper's names, and other ways to write TU's.
ALIASES = {
    "IMDBM": "IMDB-MULTI",
    "IMDBB": "IMDB-BINARY",
    "REDDIT12K": "REDDIT-MULTI-12K",
    "REDDIT5K": "REDDIT-MULTI-5K",
    "REDDITB": "REDDIT-BINARY",
}

# Said where the set is not found.
NOTES = {
    "PTC": "The paper's PTC has hydrogens and is not in TU's collection; PTC_MR there is the same set without them.",
    "WEB": "WEB is not in TU's collection; it is made of the IAM Graph Database's Web set.",
    "AIDS42K": "AIDS42K is gSpan text, data/AIDS.gz of the repository JongikKim/Nass.",
    "PUBCHEM23K": "PUBCHEM23K is gSpan text, data/CHEM.gz of the repository JongikKim/Nass.",
}

_IN_TU = (
    "AIDS alchemy_full aspirin BZR BZR_MD COIL-DEL COIL-RAG COLLAB COLORS-3 COX2 COX2_MD Cuneiform DBLP_v1 DD "
    "deezer_ego_nets DHFR DHFR_MD ENZYMES ER_MD facebook_ct1 FIRSTMM_DB FRANKENSTEIN Fingerprint github_stargazers "
    "highschool_ct1 IMDB-BINARY IMDB-MULTI infectious_ct1 KKI Letter-high Letter-low Letter-med MCF-7 MOLT-4 MSRC_21 "
    "MSRC_21C MSRC_9 MUTAG Mutagenicity NCI-H23 NCI1 NCI109 OHSU OVCAR-8 P388 PC-3 PROTEINS PROTEINS_full PTC_FM "
    "PTC_FR PTC_MM PTC_MR Peking_1 QM9 REDDIT-BINARY REDDIT-MULTI-12K REDDIT-MULTI-5K reddit_threads SF-295 SN12C "
    "SW-620 SYNTHETIC SYNTHETICnew Synthie TRIANGLES TWITTER-Real-Graph-Partial Tox21_AHR Tox21_AR "
    "twitch_egos UACC257 Yeast ZINC_full ZINC_test ZINC_train ZINC_val"
)
TU_NAMES = _IN_TU.split()


def load_dataset(
    name: str, root: str | Path | None = None, *, url: str | None = None, limit: int | None = None
) -> GraphSet:
    """A data set by its name; `targets` are its classes.

    The set is searched for in `root`, in $UGRAPHEMB_DATA and in the user's cache folder, as NAME.zip, NAME.gspan.gz or
    NAME.gspan, directly or in a folder NAME, or as the folder NAME of TU's text files. If not found, it is downloaded
    from TU Dortmund's collection into `root` or the cache folder, together with its SHA-256, which is verified at every
    use. "molecules" (4,999 molecules that come with RDKit) and "atlas" (all graphs of up to seven nodes) are always
    available. "moses" contains 1,936,962 molecules of the package molsets (`pip install --no-deps molsets`).

    Args:
        name: TU's name, or the paper's: PTC, IMDBM, WEB, NCI109, REDDIT12K. Upper and lower case are the same.
        root: A folder to look in first.
        url: Where zips are downloaded from, instead of $UGRAPHEMB_DATASET_URL or TU's address.
        limit: Number of graphs, from the beginning; "moses" then loads faster.

    Examples:
        >>> import ugraphemb as ug
        >>> ug.load_dataset("atlas", limit=100)
        GraphSet(atlas: 100 graphs, 513 nodes, 425 edges)
    """
    if limit is not None and limit < 0:
        raise ValueError(f"limit={limit}, expected 0 or more")
    if name == "moses":
        return _moses(limit)
    graphs = _whole(name, root, url)
    return graphs if limit is None else graphs[:limit]


def _whole(name: str, root: str | Path | None, url: str | None) -> GraphSet:
    if name in BUILT_IN:
        return BUILT_IN[name]()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}", name):
        raise DatasetNotFoundError(
            f"{name[:100]!r} cannot be the name of a data set. {_suggestion(name[:100])}".rstrip()
        )
    folders = list(_folders(root))
    wanted = _canonical(name)
    for spelling in dict.fromkeys([name, wanted]):
        for folder in folders:
            found = _on_disk(folder, spelling)
            if found is not None:
                check_download(found)
                return read_graphs(found)
    target = (Path(root) if root is not None else cache_folder()) / f"{wanted}.zip"
    base = (url or os.environ.get("UGRAPHEMB_DATASET_URL") or BASE_URL).rstrip("/")
    try:
        return reported(downloaded(f"{base}/{quote(wanted)}.zip", target))
    except DownloadError as error:
        raise DatasetNotFoundError(_not_found(name, wanted, folders, target, error)) from error


def cache_folder() -> Path:
    """Where downloads go: ugraphemb in $XDG_CACHE_HOME, or in ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ugraphemb"


def _folders(root: str | Path | None) -> Iterator[Path]:
    if root is not None:
        yield Path(root)
    if os.environ.get("UGRAPHEMB_DATA"):
        yield Path(os.environ["UGRAPHEMB_DATA"])
    yield cache_folder()


def _canonical(name: str) -> str:
    known = {known.casefold(): known for known in [*TU_NAMES, *NOTES]}
    known |= {alias.casefold(): known for alias, known in ALIASES.items()}
    return known.get(name.casefold(), name)


def _on_disk(folder: Path, name: str) -> Path | None:
    try:
        for file in (f"{name}.zip", f"{name}.gspan.gz", f"{name}.gspan"):
            for place in (folder / file, folder / name / file):
                if place.is_file():
                    return place
        unzipped = folder / name
        return unzipped if (unzipped / f"{name}_A.txt").is_file() else None
    except (OSError, ValueError) as error:  # no right to look there, a name that no file system takes
        raise DatasetNotFoundError(f"no data set {name!r}: {str(folder)[:200]} cannot be searched ({error})") from error


def _suggestion(name: str) -> str:
    names = [*BUILT_IN, "moses", *ALIASES, *NOTES, *TU_NAMES]
    by_case = {known.casefold(): known for known in names}
    close = difflib.get_close_matches(name.casefold(), by_case, n=3, cutoff=0.6)
    return f"Did you mean {' or '.join(by_case[match] for match in close)}?" if close else ""


def _not_found(name: str, wanted: str, folders: list[Path], target: Path, error: Exception) -> str:
    called = f"{name!r} ({wanted})" if name != wanted else f"{name!r}"
    text = [f"no data set {called}."]
    if wanted not in TU_NAMES and wanted not in NOTES and _suggestion(name):
        text.append(_suggestion(name))
    subset = f"{wanted}-SUBSET"
    place = next((place for folder in folders if (place := _on_disk(folder, subset))), None)
    if place is not None:
        text.append(f"Only a part of it is here, {place}: name it {subset!r} to use that.")
    if wanted in NOTES:
        text.append(NOTES[wanted])
    text.append(f"Looked in {', '.join(map(str, folders))}; {error}. To use it offline, put {target.name} at {target}.")
    return " ".join(text)


def _moses(limit: int | None) -> GraphSet:
    from ugraphemb.graphs.moses import read_moses

    with progress_of(None, "molecules", None) as tick:
        return read_moses(limit, lambda done, total: tick(done, total=total), cache_folder() / "moses.parquet")


def _molecules() -> GraphSet:
    from ugraphemb.graphs.formats.molecules import molecules_path, read_smi

    return replace(read_smi(molecules_path()), name="molecules")


def _atlas() -> GraphSet:
    from networkx.generators.atlas import graph_atlas_g

    graphs = graph_atlas_g()
    sizes = np.array([graph.number_of_nodes() for graph in graphs])
    starts = np.cumsum(sizes) - sizes
    edges = [(start + u, start + v) for start, graph in zip(starts, graphs, strict=True) for u, v in graph.edges]
    return GraphSet.from_edges(sizes, edges, ids=[graph.name for graph in graphs], name="atlas", source="atlas")


BUILT_IN: dict[str, Callable[[], GraphSet]] = {"molecules": _molecules, "atlas": _atlas}
