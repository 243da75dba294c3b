"""A model of what a disk keeps when the power fails, recorded beneath `ugraphemb.files.system`.

Every call is carried out on the real file system and recorded. The model knows what is certainly on the disk: the
content of a file since its last fsync, the entries of a folder since the last fsync of that folder. Everything after
that may be lost: file content in whole or in part, or replaced by zeros; any of the entries that were made, renamed and
removed. A rename or an exchange is one step: it is stored or it is lost. This is weaker than what ext4, XFS and Btrfs
promise, which keep the order of changes to folders.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ugraphemb.files import system

CHANGES = ("open_file", "write", "fsync", "rename", "exchange", "unlink", "mkdir", "rmdir")
"""Calls during which the death of a process changes what is stored."""
CALLS = (*CHANGES, "close", "lock", "list_folder", "status", "status_of", "read")


class KilledError(BaseException):
    """The process is dead: nothing it does after this has an effect."""


@dataclass(eq=False)
class File:
    data: bytearray = field(default_factory=bytearray)
    on_disk: bytes = b""


@dataclass(eq=False)
class Folder:
    entries: dict[str, Node] = field(default_factory=dict)
    on_disk: dict[str, Node] = field(default_factory=dict)


Node = File | Folder
Change = list[tuple[Folder, str, Node | None]]
"""Entries that get another value (None: are removed) in one step."""


class Journal:
    """Records what happens in a folder, while active.

    Args:
        root: Everything in it is taken to be on the disk.
        before: Called with the number and the name of each call before it is carried out; an exception that it
            raises is passed to the caller. It may return the number of bytes to which a write is cut.
    """

    def __init__(self, root: Path, before: Callable[[int, str], int | None] = lambda number, name: None) -> None:
        self.root = _scanned(root)
        self.calls: list[str] = []
        self.pending: list[Change] = []
        self.dead = False
        self._before = before
        self._place = os.path.realpath(root)
        self._open: dict[int, tuple[Node, int]] = {}  # descriptor: what it opened, position of the next write

    @contextmanager
    def active(self) -> Iterator[Journal]:
        real = {name: getattr(system, name) for name in CALLS}
        urandom, os.urandom = os.urandom, random.Random(0).randbytes  # temporary files get the same names each time
        try:
            for name in CALLS:
                setattr(system, name, self._standing_for(name, real[name]))
            yield self
        finally:
            os.urandom = urandom
            for name, function in real.items():
                setattr(system, name, function)
            for descriptor in self._open:  # of a process that died
                os.close(descriptor)
            self._open.clear()

    def _standing_for(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        note = getattr(self, f"_{name}", None)

        def call(*arguments: Any, **options: Any) -> Any:
            if self.dead:
                raise KilledError
            self.calls.append(name)
            try:
                cut = self._before(len(self.calls) - 1, name)
            except KilledError:
                self.dead = True
                raise
            if cut is not None and name == "write":
                arguments = (arguments[0], bytes(arguments[1])[:cut])
            result = real(*arguments, **options)
            if note is not None:
                note(result, *arguments)
            return result

        return call

    # What each call does in the model.

    def _open_file(self, descriptor: int, path: str, flags: int) -> None:
        folder, name = self._found(path)
        if folder is None or flags == system.READ:  # readers close their files in other ways
            return
        if name not in folder.entries:
            assert flags & os.O_CREAT, f"{path} was made by other means than files.system"
            self._change([(folder, name, File())])
        self._open[descriptor] = (folder.entries[name], 0)

    def _close(self, _: None, descriptor: int) -> None:
        self._open.pop(descriptor, None)

    def _write(self, count: int, descriptor: int, data: bytes | memoryview) -> None:
        node, position = self._open[descriptor]
        assert isinstance(node, File)
        node.data[position : position + count] = bytes(data)[:count]
        self._open[descriptor] = (node, position + count)

    def _fsync(self, _: None, descriptor: int) -> None:
        node = self._open[descriptor][0]
        if isinstance(node, File):
            node.on_disk = bytes(node.data)
            return
        mine = [change for change in self.pending if any(folder is node for folder, _, _ in change)]
        self.pending = [change for change in self.pending if change not in mine]
        for change in mine:
            _apply(change, lambda folder: folder.on_disk)

    def _rename(self, _: None, source: str, target: str) -> None:
        (old, old_name), (new, new_name) = self._inside(source), self._inside(target)
        self._change([(new, new_name, old.entries[old_name]), (old, old_name, None)])

    def _exchange(self, _: None, one: str, other: str) -> None:
        (first, first_name), (second, second_name) = self._inside(one), self._inside(other)
        before = first.entries[first_name], second.entries[second_name]
        self._change([(first, first_name, before[1]), (second, second_name, before[0])])

    def _unlink(self, _: None, path: str) -> None:
        self._change([(*self._inside(path), None)])

    def _mkdir(self, _: None, path: str) -> None:
        self._change([(*self._inside(path), Folder())])

    _rmdir = _unlink

    def _change(self, change: Change) -> None:
        _apply(change, lambda folder: folder.entries)
        self.pending.append(change)

    def _inside(self, path: str) -> tuple[Folder, str]:
        folder, name = self._found(path)
        assert folder is not None, f"{path} is changed, which is outside of the folder that is saved to"
        return folder, name

    def _found(self, path: str) -> tuple[Folder | None, str]:
        """The folder of a path and its name there; None for a path outside of the root."""
        place = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
        if place == self._place:
            above = Folder({"": self.root}, {"": self.root})
            return above, ""
        if not place.startswith(self._place + os.sep):
            return None, place
        *above_it, name = os.path.relpath(place, self._place).split(os.sep)
        folder: Node = self.root
        for part in above_it:
            assert isinstance(folder, Folder)
            folder = folder.entries[part]
        assert isinstance(folder, Folder)
        return folder, name

    # What is stored afterwards.

    def check_against(self, root: Path) -> None:
        """Checks that nothing was written, made or removed by other means than `files.system`."""
        found = _scanned(root)
        assert _plain(found) == _plain(self.root), "something is written by other means than files.system"

    def remains(self, loss: str, chance: random.Random) -> Remains:
        """What is on the disk after a power failure.

        Args:
            loss: "none": nothing is lost; "all": all that was not flushed is lost; "names": entries of folders are
                lost, but not the content of files; "content": the reverse; "some": any part of either.
        """
        kept = {
            "none": lambda: True,
            "all": lambda: False,
            "names": lambda: False,
            "content": lambda: True,
            "some": lambda: chance.random() < 0.5,
        }[loss]
        entries: dict[Folder, dict[str, Node]] = {}

        def of(folder: Folder) -> dict[str, Node]:
            return entries.setdefault(folder, dict(folder.on_disk))

        for change in [change for change in self.pending if kept()]:
            _apply(change, of)

        def content(file: File) -> bytes:
            if loss in ("none", "names") or bytes(file.data) == file.on_disk:
                return bytes(file.data)
            return file.on_disk if loss in ("all", "content") else _damaged(file, chance)

        def within(folder: Folder, path: str) -> Iterator[tuple[str, bytes | None]]:
            for name, node in sorted(of(folder).items()):
                if isinstance(node, Folder):
                    yield f"{path}{name}", None
                    yield from within(node, f"{path}{name}/")
                else:
                    yield f"{path}{name}", content(node)

        return tuple(within(self.root, ""))


Remains = tuple[tuple[str, bytes | None], ...]
"""Paths with the content of each file; None for folders, which are listed before their content."""


def write_remains(remains: Remains, place: Path) -> None:
    place.mkdir()
    for name, content in remains:
        if content is None:
            (place / name).mkdir()
        else:
            (place / name).write_bytes(content)


def _damaged(file: File, chance: random.Random) -> bytes:
    """Content of which some was not yet flushed: the old or the new, cut short, or with zeros where data should be."""
    data = bytes(file.data)
    cut = chance.randint(0, len(data))
    return chance.choice([file.on_disk, data, data[:cut], data[:cut] + bytes(len(data) - cut), bytes(len(data))])


def _apply(change: Change, entries_of: Callable[[Folder], dict[str, Node]]) -> None:
    for folder, name, node in change:
        if node is None:
            entries_of(folder).pop(name, None)
        else:
            entries_of(folder)[name] = node


def _scanned(root: Path) -> Folder:
    folder = Folder()
    for entry in root.iterdir():
        node: Node
        if entry.is_dir():
            node = _scanned(entry)
        else:
            data = entry.read_bytes()
            node = File(bytearray(data), data)
        folder.entries[entry.name] = folder.on_disk[entry.name] = node
    return folder


def _plain(folder: Folder) -> dict[str, Any]:
    return {
        name: _plain(node) if isinstance(node, Folder) else bytes(node.data) for name, node in folder.entries.items()
    }
