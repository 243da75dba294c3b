"""Values that are sent once to each worker, and values that workers load themselves and keep."""

from __future__ import annotations

import os
import pickle
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from ugraphemb.errors import ClusterError
from ugraphemb.files import storage_errors

try:  # both come with scikit-learn, the second in older versions
    import cloudpickle as cloudpickle  # type: ignore[import-untyped]
except ImportError:
    from joblib.externals import cloudpickle as cloudpickle  # type: ignore[import-untyped]

_TRIES, _PAUSE = 20, 0.1  # seconds

T = TypeVar("T")


class Kept(Generic[T]):
    """A cache of the last values that a worker has loaded and used; one global object for each kind of value.

    Args:
        most: How many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[str, T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, load: Callable[[], T]) -> T:
        """The value of this key, loaded on first use."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = load()
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value

    def __contains__(self, key: str) -> bool:
        return key in self._values


@dataclass(frozen=True)
class Handle:
    """What is sent to a worker with each task: the value itself, or the file that contains it."""

    token: str
    value: Any
    path: str = ""

    def get(self) -> Any:
        return self.value if not self.path else _loaded.get(self.token, lambda: _read(self.path))


_loaded: Kept[Any] = Kept(4)


def _read(path: str) -> Any:
    with open(path, "rb") as file:
        return pickle.load(file)


class Shared:
    """A value that each worker gets once: from Dask's own memory, or from a file of this machine.

    Args:
        client: A Dask client, or None.
        in_memory: The workers are threads of this process.
        everywhere: Send it to all workers of Dask now.
    """

    def __init__(self, value: object, client: Any, in_memory: bool, everywhere: bool) -> None:
        self._value, self._client, self._everywhere = value, client, everywhere
        self._token = os.urandom(16).hex()
        self._path: Path | None = None
        self.handle: Any = Handle(self._token, value)
        if client is not None:
            self.send()
        elif not in_memory:
            self._write()

    def send(self) -> None:
        """Sends the value again, if the last worker that had it died.

        Raises:
            ClusterError: Workers die repeatedly.
        """
        if self._client is not None:
            held = Handle(self._token, self._value)
            for attempt in range(_TRIES):
                try:
                    self.handle = self._client.scatter(held, broadcast=self._everywhere, hash=False)
                    return
                except OSError as error:  # a worker died meanwhile; the scheduler soon knows
                    if attempt == _TRIES - 1:
                        raise ClusterError(f"nothing can be sent to the workers ({error})") from error
                    time.sleep(_PAUSE)

    def close(self) -> None:
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()
        self.handle = None

    def _write(self) -> None:
        with storage_errors(tempfile.gettempdir()):
            descriptor, name = tempfile.mkstemp(prefix="ugraphemb-", suffix=".pickle")
        self._path = Path(name)
        with storage_errors(name), os.fdopen(descriptor, "wb") as file:
            cloudpickle.dump(self._value, file)  # it may hold functions of a script
        self.handle = Handle(self._token, None, name)
