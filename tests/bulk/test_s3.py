"""Embedding from and to an S3 server on this machine, on processes; `make test-engines` installs it (moto)."""

from __future__ import annotations

import pytest
from bulk.s3_server import bucket_of_server, needs_server
from bulk.test_embedding import SMILES, assert_same, expected, model, vectors_in

import ugraphemb as ug
from ugraphemb.errors import GraphFormatError, StorageError
from ugraphemb.files import remote

pytestmark = needs_server


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    with bucket_of_server(tmp_path_factory.mktemp("s3")) as found:
        yield found


def test_files_of_a_bucket_become_vectors_in_it(bucket):
    for start in (0, 6):
        lines = [f"{text} m{start + i:02d}" for i, text in enumerate(SMILES[start : start + 6])]
        remote.write_whole(f"{bucket}/in/{start:02d}.smi", "\n".join(lines).encode())
    done = ug.embed_files(f"{bucket}/in/*.smi", f"{bucket}/out", model(), executor=2)
    assert (done.graphs, done.partitions, done.kept) == (11, 2, 0)
    wanted = dict(zip([f"m{i:02d}" for i in range(11)], expected().values(), strict=True))
    assert_same(vectors_in(f"{bucket}/out"), wanted)
    assert ug.embed_files(f"{bucket}/in", f"{bucket}/out", model()).kept == 2


def test_errors_of_a_store_are_ours(bucket):
    with pytest.raises(GraphFormatError, match=r"s3://molecules/none/\*\.smi: no such file"):
        ug.embed_files(f"{bucket}/none/*.smi", f"{bucket}/out", model())
    with pytest.raises(StorageError, match="s3://elsewhere/a: cannot write"):
        remote.write_whole("s3://elsewhere/a", b"no such bucket")
