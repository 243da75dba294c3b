"""Data sets by name: the statistics of the real ones, and downloads that go well and badly."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request

import networkx as nx
import numpy as np
import pytest

from ugraphemb import GraphSet, load_dataset, write_graphs
from ugraphemb.errors import DatasetNotFoundError, GraphFormatError, MissingExtraError
from ugraphemb.graphs import download, moses
from ugraphemb.graphs.datasets import BUILT_IN, cache_folder

SETS = (
    "PTC IMDB-MULTI WEB NCI109 REDDIT-MULTI-12K-SUBSET WEB_FULL REDDIT-BINARY AIDS Mutagenicity MUTAG ENZYMES "
    "PROTEINS PTC_MR Acyclic Alkane MAO PAH"
)
GRAPHS = GraphSet.from_edges([3, 2], [(0, 1), (1, 2), (3, 4)], node_labels=[1, 2, 1, 1, 1], targets=[0, 1])


@cache
def documented(readme: Path) -> dict[str, list[str]]:
    """The table of all sets in the data folder's README: name, then its columns."""
    table = readme.read_text().partition("## All sets")[2].partition("## Checksums")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize("name", SETS.split())
def test_statistics_are_those_of_the_readme(data_root: Path, name: str):
    readme = data_root / "README.md"
    if not readme.is_file() or name not in documented(readme):
        pytest.skip(f"{readme} does not describe {name}")
    graphs, labels, classes, low, high, mean, std, mean_edges = documented(readme)[name][:8]
    found = load_dataset(name, data_root)
    assert len(found) == int(graphs)
    assert max(len(found.node_vocabulary), 1) == int(labels)
    assert len(np.unique(found.targets)) == int(classes)
    assert (found.num_nodes.min(), found.num_nodes.max()) == (int(low), int(high))
    assert f"{found.num_nodes.mean():.2f}" == mean
    assert f"{found.num_nodes.std():.2f}" == std
    assert f"{found.num_edges.mean():.2f}" == mean_edges
    apart = int(np.count_nonzero(~found.connected))
    said = re.search(r"Graphs that are not connected: (.*?) have none", readme.read_text(), re.DOTALL)
    assert said
    some, _, none = said[1].partition(";")
    counted = dict(re.findall(r"([\w-]+) ([\d,]+)", some))
    if name in counted:
        assert apart == int(counted[name].strip(",").replace(",", ""))
    elif re.search(rf"\b{name}\b", none):
        assert apart == 0


def test_the_atlas_is_networkxs():
    graphs = load_dataset("atlas")
    theirs = nx.graph_atlas_g()
    assert len(graphs) == len(theirs) == 1253
    assert graphs.num_edges.tolist() == [graph.number_of_edges() for graph in theirs]
    assert graphs.ids.tolist() == [graph.name for graph in theirs]
    for ours, other in zip(graphs, theirs, strict=True):
        assert ours.edges.tolist() == sorted(sorted(edge) for edge in other.edges)


def test_the_molecules_are_those_of_rdkit():
    config = pytest.importorskip("rdkit.RDConfig")
    lines = Path(config.RDDataDir, "NCI", "first_5K.smi").read_text().splitlines()
    graphs = load_dataset("molecules")
    assert graphs.ids.tolist() == [line.split()[1] for line in lines]
    assert graphs.name == "molecules"
    assert {"C", "N", "O"} <= set(graphs.node_vocabulary)


@pytest.mark.parametrize("name", ["AIDS42K", "PUBCHEM23K"])
def test_gspan_sets_are_those_of_the_readme(data_root: Path, name: str):
    readme = data_root / "README.md"
    row = re.search(rf"^\| {name} \|(.*)\|$", readme.read_text(), re.MULTILINE) if readme.is_file() else None
    if row is None:
        pytest.skip(f"{readme} does not describe {name}")
    graphs, labels, edge_labels, nodes, edges = [cell.strip() for cell in row[1].split("|")][:5]
    found = load_dataset(name, data_root)
    assert (len(found), len(found.node_vocabulary), len(found.edge_vocabulary)) == (
        int(graphs), int(labels), int(edge_labels),
    )  # fmt: skip
    assert (f"{found.num_nodes.mean():.2f}", f"{found.num_edges.mean():.2f}") == (nodes, edges)
    assert all(type(label) is int for label in (*found.node_vocabulary, *found.edge_vocabulary))
    assert found.name == name


@pytest.mark.parametrize("layout", ["NAME.gspan.gz", "NAME/NAME.gspan"])
def test_gspan_sets_are_found(away: Path, layout: str):
    graphs = replace(GRAPHS, targets=None)
    write_graphs(graphs, away / layout.replace("NAME", "MINE"))
    assert load_dataset("MINE", away) == graphs


@pytest.mark.parametrize("layout", ["NAME.zip", "NAME/NAME.zip", "NAME"])
@pytest.mark.parametrize("place", ["root", "variable", "cache"])
def test_sets_are_found_in_every_place_and_layout(away: Path, monkeypatch: pytest.MonkeyPatch, layout: str, place: str):
    folder = cache_folder() if place == "cache" else away / place
    write_graphs(GRAPHS, folder / layout.replace("NAME", "MINE"))
    if place == "variable":
        monkeypatch.setenv("UGRAPHEMB_DATA", str(folder))
    assert load_dataset("MINE", folder if place == "root" else None) == GRAPHS


def test_the_papers_names_and_any_case_are_understood(away: Path):
    for tu, others in {"IMDB-MULTI": ["IMDBM", "imdbm", "imdb-multi"], "REDDIT-MULTI-12K": ["REDDIT12K"]}.items():
        write_graphs(GRAPHS, away / f"{tu}.zip")
        for name in [tu, *others]:
            assert load_dataset(name, away).name == tu


def test_root_comes_before_the_variable_and_that_before_the_cache(away: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("UGRAPHEMB_DATA", str(away / "variable"))
    for count, folder in enumerate([cache_folder(), away / "variable", away / "root"], start=0):
        write_graphs(GRAPHS[:count], folder / "MINE.zip")
        assert len(load_dataset("MINE", away / "root")) == count


def test_offline_the_error_says_which_file_to_put_where(away: Path):
    with pytest.raises(DatasetNotFoundError, match=rf"put MUTAG.zip at {re.escape(str(away))}/MUTAG.zip"):
        load_dataset("MUTAG", away)
    with pytest.raises(DatasetNotFoundError, match=r"cache/ugraphemb/MUTAG.zip"):
        load_dataset("MUTAG")
    assert list(away.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [("MUTAGG", "Did you mean MUTAG"), ("molecule", "molecules"), ("PTC", "PTC_MR"), ("WEB", "IAM"),
     ("../MUTAG", "cannot be the name"), ("", "cannot be the name"), ("A" * 5_000, "cannot be the name"),
     ("A" * 90 + "\0", "cannot be the name"), ("MUTAG" * 18, "no data set")],
)  # fmt: skip
def test_names_that_lead_nowhere_get_advice(away: Path, name: str, message: str):
    with pytest.raises(DatasetNotFoundError, match=message):
        load_dataset(name)


def test_a_subset_is_never_taken_for_the_whole(away: Path):
    write_graphs(GRAPHS, away / "REDDIT-MULTI-12K-SUBSET" / "REDDIT-MULTI-12K-SUBSET.zip")
    with pytest.raises(DatasetNotFoundError, match=r"Only a part of it is here.*name it 'REDDIT-MULTI-12K-SUBSET'"):
        load_dataset("REDDIT12K", away)
    assert load_dataset("REDDIT-MULTI-12K-SUBSET", away) == GRAPHS


class Server:
    """A server on this machine; `answer` says what it sends."""

    def __init__(self) -> None:
        self.answer: Callable[[BaseHTTPRequestHandler], None] = lambda handler: handler.send_error(404)
        self.requests: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests.append(self.path)
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/sets"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def sends(self, data: bytes, length: int | None = None, then_drop: bool = False) -> None:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            if length != -1:
                handler.send_header("Content-Length", str(len(data) if length is None else length))
            handler.end_headers()
            handler.wfile.write(data)
            if then_drop:
                handler.wfile.flush()
                handler.connection.close()

        self.answer = answer


@pytest.fixture
def server(away: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server()
    monkeypatch.setenv("UGRAPHEMB_DATASET_URL", server.url)
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("good") / "NCI1.zip"
    write_graphs(GRAPHS, path)
    return path.read_bytes()


def test_a_download_is_kept_and_not_repeated(away: Path, server: Server, good: bytes):
    server.sends(good)
    for _ in range(2):
        assert load_dataset("nci1", away / "root") == GRAPHS
    assert server.requests == ["/sets/NCI1.zip"]
    assert sorted(entry.name for entry in (away / "root").iterdir()) == ["NCI1.zip", "NCI1.zip.sha256"]
    assert load_dataset("NCI1", away / "other", url=server.url + "/mirror/") == GRAPHS
    assert server.requests[1:] == ["/sets/mirror/NCI1.zip"]


def test_a_download_goes_to_the_cache_by_default(server: Server, good: bytes):
    server.sends(good, length=-1)
    assert load_dataset("NCI1") == GRAPHS
    assert (cache_folder() / "NCI1.zip").read_bytes() == good


TROUBLES: dict[str, tuple[Callable[[Server, bytes], None], str]] = {
    "404": (lambda server, good: None, "answered 404 Not Found"),
    "truncated": (lambda server, good: server.sends(good[:-40]), "NCI1.zip: not a whole zip file"),
    "dropped": (
        lambda server, good: server.sends(good[:100], length=len(good), then_drop=True),
        r"100 bytes of \d+, then stopped",
    ),
    "dropped at once": (
        lambda server, good: server.sends(b"", length=len(good), then_drop=True),
        r"0 bytes of \d+, then stopped",
    ),
    "cut without length": (lambda server, good: server.sends(good[:100], length=-1), "not a whole zip file"),
    "damaged": (
        lambda server, good: server.sends(good.replace(good[60:64], b"\0\1\2\3")),
        r"NCI1.zip: (member .* is damaged|not)",
    ),
    "a page": (lambda server, good: server.sends(b"<html>try later</html>"), "not a whole zip file"),
    "hung up": (
        lambda server, good: setattr(server, "answer", lambda handler: handler.connection.close()),
        "failed|reached",
    ),
    "no HTTP": (
        lambda server, good: setattr(server, "answer", lambda handler: handler.wfile.write(b"gibberish\r\n\r\n")),
        "failed",
    ),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_download_that_goes_wrong_leaves_nothing(away: Path, server: Server, good: bytes, trouble: str):
    arrange, message = TROUBLES[trouble]
    arrange(server, good)
    with pytest.raises(DatasetNotFoundError, match=message):
        load_dataset("NCI1", away / "root")
    assert not (away / "root").exists() or list((away / "root").iterdir()) == []
    server.sends(good)
    assert load_dataset("NCI1", away / "root") == GRAPHS


def test_lengths_that_are_no_numbers_are_ignored(away: Path, server: Server, good: bytes):
    for length in ("²", "-5", "1e3", "9" * 5_000, "١٢"):

        def answer(handler: BaseHTTPRequestHandler, length: str = length) -> None:
            handler.wfile.write(f"HTTP/1.0 200 OK\r\nContent-Length: {length}\r\n\r\n".encode() + good)

        server.answer = answer
        try:
            assert load_dataset("NCI1", away / f"root{len(server.requests)}") == GRAPHS
        except DatasetNotFoundError as error:
            assert "NCI1" in str(error)  # noqa: PT017  # Python's own client refuses some of them


def test_a_download_is_bounded_in_size_and_time(
    away: Path, server: Server, good: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("UGRAPHEMB_LIMITS", "download=100")
    server.sends(good)
    with pytest.raises(DatasetNotFoundError, match="sends more than 100 bytes"):
        load_dataset("NCI1", away / "root")
    server.sends(good, length=-1)
    with pytest.raises(DatasetNotFoundError, match="sends more than 100 bytes"):
        load_dataset("NCI1", away / "root")
    monkeypatch.setenv("UGRAPHEMB_LIMITS", "seconds=0")
    stopped = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not stopped.wait(0.02):
            handler.wfile.write(b"P")  # for hours

    server.answer = drip
    with pytest.raises(DatasetNotFoundError, match="took longer than 0 s"):
        load_dataset("NCI1", away / "root")
    stopped.set()
    assert not (away / "root").exists()


def test_a_redirect_leads_from_https_to_https_only(server: Server, good: bytes):
    follow = download._Redirects().redirect_request
    secure, plain = Request("https://a.example/X.zip"), Request("http://a.example/X.zip")
    nothing, headers = io.BytesIO(), HTTPMessage()
    for target in ("http://b.example/X.zip", "ftp://b.example/X.zip", "file:///etc/passwd"):
        with pytest.raises(download.DownloadError, match="not protected"):
            follow(secure, nothing, 302, "Found", headers, target)
    for request in (secure, plain):
        moved = follow(request, nothing, 302, "Found", headers, "https://b.example/X.zip")
        assert moved is not None
        assert moved.full_url == "https://b.example/X.zip"


def test_a_redirect_is_followed(away: Path, server: Server, good: bytes):
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if "moved" not in handler.path:
            handler.send_response(302)
            handler.send_header("Location", f"{server.url}/moved/NCI1.zip")
            handler.end_headers()
        else:
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(good)

    server.answer = answer
    assert load_dataset("NCI1", away / "root") == GRAPHS


def test_the_checksum_of_a_download_is_recorded_and_verified(
    away: Path, server: Server, good: bytes, tmp_path_factory: pytest.TempPathFactory
):
    server.sends(good)
    load_dataset("NCI1", away)
    note = (away / "NCI1.zip.sha256").read_text()
    assert note == f"{hashlib.sha256(good).hexdigest()}  NCI1.zip\n"
    other = tmp_path_factory.mktemp("other") / "NCI1.zip"
    write_graphs(GRAPHS[:1], other)
    (away / "NCI1.zip").write_bytes(other.read_bytes())
    with pytest.raises(GraphFormatError, match="not the file that was downloaded"):
        load_dataset("NCI1", away)
    (away / "NCI1.zip").unlink()
    server.sends(other.read_bytes())
    with pytest.raises(DatasetNotFoundError, match="another file than when it was first downloaded"):
        load_dataset("NCI1", away)
    (away / "NCI1.zip.sha256").unlink()
    assert load_dataset("NCI1", away) == GRAPHS[:1]


def test_processes_that_download_at_once_all_get_the_set(away: Path, server: Server, good: bytes):
    together = threading.Barrier(2)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(good)))
        handler.end_headers()
        handler.wfile.write(good[:100])
        together.wait(300)  # both are halfway now
        handler.wfile.write(good[100:])

    server.answer = answer
    root = away / "root"
    code = f"import ugraphemb; print(ugraphemb.load_dataset('NCI1', {str(root)!r}).num_nodes.tolist())"
    workers = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [worker.communicate(timeout=300)[0] for worker in workers] == ["[3, 2]\n"] * 2
    assert sorted(entry.name for entry in root.iterdir()) == ["NCI1.zip", "NCI1.zip.sha256"]
    assert len(server.requests) == 2


def test_a_folder_that_cannot_be_written_is_an_error_of_ours(away: Path, server: Server, good: bytes):
    server.sends(good)
    (away / "file").write_text("")
    with pytest.raises(DatasetNotFoundError, match="failed"):
        load_dataset("NCI1", away / "file")


def test_sets_that_need_no_download_are_the_two_of_the_documentation(away: Path):
    assert set(BUILT_IN) == {"molecules", "atlas"}
    assert len(load_dataset("atlas", away)) == 1253


def molsets(folder: Path, smiles: dict[str, list[str]]) -> None:
    """An installed package molsets, as far as its files go; importing it fails."""
    data = folder / "moses" / "dataset" / "data"
    data.mkdir(parents=True)
    (folder / "moses" / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / "molsets-0.3.1.dist-info").mkdir()
    (folder / "molsets-0.3.1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: molsets\nVersion: 0.3.1\n"
    )
    for name, listed in smiles.items():
        (data / f"{name}.csv.gz").write_bytes(gzip.compress("\n".join(["SMILES", *listed, ""]).encode()))


def test_moses_are_the_molecules_of_an_installed_package_that_is_not_imported(
    away: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("rdkit")
    smiles = {"train": ["CCO", "c1ccccc1"], "test": ["CC(=O)N"], "test_scaffolds": ["C1CC1", "CCN"]}
    molsets(away, smiles)
    monkeypatch.setattr(sys, "path", [str(away), *sys.path])
    expected = GraphSet.from_smiles([text for listed in smiles.values() for text in listed])
    graphs = load_dataset("moses")
    assert graphs == expected
    assert graphs.name == "moses"
    assert load_dataset("moses", limit=3) == expected[:3]
    assert len(load_dataset("moses", limit=0)) == 0
    monkeypatch.setattr(moses, "_CHUNK", 2)  # in processes
    seen: list[tuple[int, int]] = []
    assert moses.read_moses(progress=lambda done, total: seen.append((done, total))) == expected
    assert seen == [(2, 5), (4, 5), (5, 5)]


def test_parsed_molecules_are_kept_for_the_next_time(away: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("rdkit")
    molsets(away, {"train": ["CCO", "c1ccccc1"], "test": ["CC(=O)N"], "test_scaffolds": ["C1CC1", "BrCCN"]})
    monkeypatch.setattr(sys, "path", [str(away), *sys.path])
    monkeypatch.setattr(moses, "_CHUNK", 2)
    cache = away / "moses.parquet"
    graphs = moses.read_moses(cache=cache)
    assert graphs.metadata["smiles"].tolist() == ["CCO", "c1ccccc1", "CC(=O)N", "C1CC1", "BrCCN"]
    monkeypatch.setattr(moses, "_parsed", lambda chunks: pytest.fail("parsed again"))
    for limit in (None, 0, 3, 5):
        again = moses.read_moses(limit, cache=cache)
        assert again == graphs[: len(again)]
        assert len(again) == (5 if limit is None else limit)
        assert again.metadata["smiles"].tolist() == graphs.metadata["smiles"][: len(again)].tolist()
    good = cache.read_bytes()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "path", [str(away), *sys.path])
    for damaged in (good[:-100], good[:100] + bytes(100) + good[200:], b""):
        cache.write_bytes(damaged)
        assert moses.read_moses(3, cache=cache) == graphs[:3]  # parsed anew, or what was read is right


def test_without_molsets_the_error_says_what_to_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(MissingExtraError, match="run  pip install --no-deps molsets"):
        load_dataset("moses")


def test_a_limit_takes_the_first_graphs(away: Path):
    assert load_dataset("atlas", limit=20) == load_dataset("atlas")[:20]
    with pytest.raises(ValueError, match="limit=-1"):
        load_dataset("atlas", limit=-1)
