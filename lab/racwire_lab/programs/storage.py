"""Use storage over TCP, as NFS does: `python storage.py ROLE ADDRESS PORT FILE [COUNTS LINES]`.

`serve` answers requests. `mount` sends reads and writes, waits for each answer as long as it takes, as a hard mount
does, and writes its counts into the file COUNTS after the text of the file LINES, in the form of
/proc/self/mountstats. The program ends when FILE is removed. It needs only the standard library, and imports nothing of
racwire.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence

_HEADER, _DATA = 128, 32_768
"""Bytes of a request or an answer without data, and with it."""
_READ, _WRITE = b"R", b"W"
_PAUSE_S, _WAKE_S = 0.05, 0.2


class _EndedError(Exception):
    """The file was removed."""


def main(argv: Sequence[str]) -> int:
    """Serve or mount until the file is gone."""
    role, address, port, file, *counts = argv
    with contextlib.suppress(_EndedError):
        while os.path.exists(file):
            with contextlib.suppress(OSError):
                if role == "serve":
                    _serve((address, int(port)), file)
                else:
                    _mount((address, int(port)), file, *counts)
            time.sleep(_WAKE_S)
    return 0


def _serve(place: tuple[str, int], file: str) -> None:
    """Answer all clients. An answer that a client does not take is kept; it delays no other client."""
    with socket.create_server(place) as server:
        asked: dict[socket.socket, bytearray] = {}
        answers: dict[socket.socket, bytearray] = {}
        while os.path.exists(file):
            waiting = [client for client, answer in answers.items() if answer]
            readable, writable, _ = select.select([server, *asked], waiting, [], _WAKE_S)
            for ready in readable:
                if ready is server:
                    client = server.accept()[0]
                    client.setblocking(False)
                    asked[client], answers[client] = bytearray(), bytearray()
                elif not _take(ready, asked[ready], answers[ready]):
                    del asked[ready], answers[ready]
                    ready.close()
            for client in writable:
                if answers.get(client):
                    with contextlib.suppress(OSError):
                        del answers[client][: client.send(answers[client])]


def _take(client: socket.socket, asked: bytearray, answer: bytearray) -> bool:
    """Take what a client sent and add the answers to whole requests; False where the client has gone."""
    try:
        chunk = client.recv(_DATA)
    except BlockingIOError:
        return True
    except OSError:
        return False
    asked += chunk
    while asked and len(asked) >= (wanted := _HEADER if asked[:1] == _READ else _HEADER + _DATA):
        answer += bytes(_HEADER + (_DATA if asked[:1] == _READ else 0))
        del asked[:wanted]
    return bool(chunk)


def _mount(place: tuple[str, int], file: str, counts: str, lines: str) -> None:
    """Read on one connection and write on another, as a mount with `nconnect` does; write the counts."""
    with open(lines, encoding="utf-8") as text:
        head = text.read()
    done = {_READ: [0, 0.0], _WRITE: [0, 0.0]}
    sizes = {_READ: (0, _DATA), _WRITE: (_DATA, 0)}
    for kind in done:
        threading.Thread(target=_repeat, args=(place, file, kind, *sizes[kind], done[kind]), daemon=True).start()
    while os.path.exists(file):
        _write(counts, head, done)
        time.sleep(_WAKE_S)


def _repeat(place: tuple[str, int], file: str, kind: bytes, sent: int, received: int, done: list[float]) -> None:
    """Send requests of one kind, each after the answer to the one before; connect again where the connection ends."""
    with contextlib.suppress(_EndedError):
        while True:
            with contextlib.suppress(OSError), socket.create_connection(place, timeout=1) as connection:
                connection.settimeout(_WAKE_S)
                while True:
                    began = time.monotonic()
                    _patiently(file, connection.send, kind + bytes(_HEADER - 1 + sent))
                    _receive(file, connection, _HEADER + received)
                    done[0] += 1
                    done[1] += 1000 * (time.monotonic() - began)
                    time.sleep(_PAUSE_S)
            time.sleep(_WAKE_S)


def _patiently(file: str, send: Callable[[bytes], int], data: bytes) -> None:
    while data:
        if not os.path.exists(file):
            raise _EndedError
        with contextlib.suppress(TimeoutError):
            data = data[send(data) :]


def _receive(file: str, connection: socket.socket, size: int) -> None:
    while size:
        if not os.path.exists(file):
            raise _EndedError
        with contextlib.suppress(TimeoutError):
            chunk = connection.recv(min(size, _DATA))
            if not chunk:
                raise ConnectionError
            size -= len(chunk)


def _write(counts: str, head: str, done: dict[bytes, list[float]]) -> None:
    (reads, read_ms), (writes, written_ms) = ((int(n), int(ms)) for n, ms in (done[_READ], done[_WRITE]))
    text = (
        f"{head}"
        f"\tbytes:\t0 0 {reads * _DATA} {writes * _DATA} {reads * _DATA} {writes * _DATA} 0 0\n"
        f"\txprt:\ttcp 0 1 1 0 0 {reads} {reads} 0 {reads} 0 2 0 0\n"
        f"\txprt:\ttcp 0 1 1 0 0 {writes} {writes} 0 {writes} 0 2 0 0\n"
        "\tper-op statistics\n"
        f"\t        READ: {reads} {reads} 0 {reads * _HEADER} {reads * (_HEADER + _DATA)} 0 {read_ms} {read_ms} 0\n"
        f"\t       WRITE: {writes} {writes} 0 {writes * (_HEADER + _DATA)} {writes * _HEADER} 0 {written_ms} "
        f"{written_ms} 0\n"
    )
    with open(f"{counts}.new", "w", encoding="utf-8") as new:
        new.write(text)
    os.replace(f"{counts}.new", counts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
