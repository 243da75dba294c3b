"""Runs a command in a separate network, so that only the command can reach the servers that it starts.

    python tests/engines/alone.py COMMAND ...

Milvus 2.3 listens on all interfaces, whatever its settings say. A network namespace has only a loopback
interface, and its ports are separate from those of the machine. Linux only; if the kernel or a container does not
permit it, the command runs without a namespace, and a warning is printed.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path

_NEW_USER, _NEW_NETWORK = 0x1000_0000, 0x4000_0000
_SET_FLAGS, _UP = 0x8914, 0x1  # SIOCSIFFLAGS, IFF_UP


def enter() -> None:
    """Leaves the network of the machine; possible only for a process with one thread.

    Raises:
        OSError: It is not permitted.
    """
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK) != 0:  # without the permission: in a user namespace, as the same user
        if libc.unshare(_NEW_USER | _NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    with socket.socket() as some:
        fcntl.ioctl(some, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))


def possible() -> bool:
    """Whether a separate network works here: tried in a child process, which connects to itself in it."""
    child = os.fork()
    if child == 0:
        try:
            enter()
            with socket.create_server(("127.0.0.1", 0)) as server:
                socket.create_connection(server.getsockname(), timeout=5).close()
        except BaseException as error:
            print(f"no network of its own ({error}): Milvus will listen on all interfaces", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def interfaces() -> list[str]:
    return sorted(name for _, name in socket.if_nameindex())


def main() -> None:
    if possible():
        enter()
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
