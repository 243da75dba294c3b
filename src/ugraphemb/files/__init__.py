"""How this project stores files: atomic, with checksums and versions. No other package writes its formats.

system.py      the calls to the operating system, for tests to replace
drafts.py      files that appear whole or not at all, and drafts of folders
folders.py     folders likewise, with a manifest of the files that this library wrote
documents.py   small JSON files with format, version, migration and checksum
checksums.py   of blocks, verified before their first use
remote.py      files by address: of this machine, and of object stores
locks.py       between processes, never through a link
failures.py    errors of the operating system, as StorageError
labels.py      labels as JSON
"""

from ugraphemb.files.checksums import BLOCK, CheckedFile, Sums, digest
from ugraphemb.files.documents import Format, parsed_json
from ugraphemb.files.drafts import (
    Content,
    NewFile,
    make_folders,
    move_aside,
    remove_dead_drafts,
    remove_empty_folder,
    remove_file,
    sync_folder,
    write_file,
)
from ugraphemb.files.failures import storage_errors
from ugraphemb.files.folders import (
    HIDDEN,
    NewFolder,
    checked_file,
    checked_name,
    read_whole,
    remove_folder,
    write_folder,
    write_with_folder,
)
from ugraphemb.files.labels import label_from_json, label_to_json
from ugraphemb.files.locks import BusyError, Lock, locked
from ugraphemb.files.sealed import sealed, unsealed

__all__ = [
    "BLOCK",
    "HIDDEN",
    "BusyError",
    "CheckedFile",
    "Content",
    "Format",
    "Lock",
    "NewFile",
    "NewFolder",
    "Sums",
    "checked_file",
    "checked_name",
    "digest",
    "label_from_json",
    "label_to_json",
    "locked",
    "make_folders",
    "move_aside",
    "parsed_json",
    "read_whole",
    "remove_dead_drafts",
    "remove_empty_folder",
    "remove_file",
    "remove_folder",
    "sealed",
    "storage_errors",
    "sync_folder",
    "unsealed",
    "write_file",
    "write_folder",
    "write_with_folder",
]
