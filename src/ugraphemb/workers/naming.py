"""What `executor=` may be, everywhere."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, TypeAlias

from ugraphemb.errors import ClusterError, needs_extra, type_of

if TYPE_CHECKING:
    from distributed import Client

Workers: TypeAlias = "int | str | Executor | Client"
"""A number of processes of this machine, the address of a Dask scheduler ("tcp://host:8786"), a Dask client, or any
concurrent.futures.Executor. Functions take None, too: this process alone."""

_IDLE = 300.0  # seconds after which idle processes of `executor=N` end; the next job starts new ones
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_pools: dict[int, Any] = {}  # pools are reused for later jobs, with what their processes have loaded
_lock = threading.Lock()


def client_of(address: str, timeout: float = 10) -> Any:
    """A Dask client of the scheduler at this address, if it answers within so many seconds.

    Raises:
        MissingExtraError: Dask is not installed.
        ClusterError: There is no answer.
    """
    with needs_extra("cluster"):
        from distributed import Client
    try:
        return Client(address, timeout=timeout, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ClusterError(f"{address}: no Dask scheduler answers there ({error or type(error).__name__})") from error


def pool_of(size: int) -> Any:
    """Processes of this machine; the same ones for every job of this size.

    They are spawned (no fork of a program with threads) and need no guard around a script's main part. If one
    dies, the others end, too; after `drop_pool` new ones are started.
    """
    from joblib.externals.loky import ProcessPoolExecutor  # type: ignore[import-untyped]

    # A process that has grown is replaced by loky after its task, with a warning that is of no use here.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given to the executor", UserWarning)
    with _lock:
        if size not in _pools:
            _pools[size] = ProcessPoolExecutor(size, timeout=_IDLE, initializer=_ignore_interrupts, env=_ONE_THREAD)
        return _pools[size]


def drop_pool(size: int, pool: Any) -> None:
    """Ends the processes of a pool now, whatever they are doing."""
    with _lock:
        if _pools.get(size) is pool:
            del _pools[size]
    pool.shutdown(wait=True, kill_workers=True)


def checked(executor: object) -> Any:
    """Returns the argument if it names workers.

    Raises:
        TypeError: It is something else.
        ValueError: The number of processes is less than 1.
    """
    if isinstance(executor, int) and not isinstance(executor, bool):
        if executor < 1:
            raise ValueError(f"executor is {executor}; a number of processes must be at least 1")
        return executor
    if isinstance(executor, str | Executor) or hasattr(executor, "get_executor"):
        return executor
    raise TypeError(
        f"executor is {type_of(executor)}; it must be a number of processes, the address of a Dask scheduler, "
        "a Dask client or a concurrent.futures.Executor"
    )


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which ends its processes


def host() -> str:
    """The name of this machine, for messages."""
    return os.uname().nodename
