"""An index in an S3 bucket, by LanceDB."""

from __future__ import annotations

import pytest
from bulk.s3_server import bucket_of_server, needs_server
from engines.test_laws import found_by
from search.small_index import graphs, model, queries

from ugraphemb import GraphIndex
from ugraphemb.errors import EngineError
from ugraphemb.search.copying import copy_index

pytestmark = needs_server


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    pytest.importorskip("lancedb")
    with bucket_of_server(tmp_path_factory.mktemp("s3")) as found:
        yield found


def test_an_index_lives_in_a_bucket(bucket, tmp_path):
    url = f"{bucket}/some/index"
    embedded = GraphIndex(model(), threads=1).add(graphs()[:50]).remove("g7")
    GraphIndex(model(), threads=1, engine=url).add(graphs()[:50]).remove("g7")
    there = GraphIndex.load(url, threads=1)
    assert there.ids == embedded.ids
    for options in ({}, {"k": 5, "verify": True, "budget": None}, {"k": 3, "where": {"class": 1}},
                    {"within": 3.0, "budget": None}):  # fmt: skip
        assert found_by(there, queries()[:3], **options) == found_by(embedded, queries()[:3], **options)
    there.add(graphs()[:50])  # the same again, and the one that was removed
    assert sorted(there.ids) == sorted(graphs()[:50].ids.tolist())
    copy_index(url, tmp_path / "index", threads=1)
    assert GraphIndex.load(tmp_path / "index").graphs() == there.graphs()


def test_a_bucket_that_is_not_there_is_named(bucket):
    with pytest.raises(EngineError, match="s3://elsewhere/index: could not"):
        GraphIndex(model(), threads=1, engine="s3://elsewhere/index")
