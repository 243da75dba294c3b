"""Work on more graphs than memory holds: files in, files out, a partition at a time, on many workers."""

from ugraphemb.bulk.embedding import EmbeddedFiles, embed_files

__all__ = ["EmbeddedFiles", "embed_files"]
