"""A stand-in for ssh and sshd inside the practice cluster, for machines where the real ones are missing or do not
start.

`remote_shell.py serve ADDRESS NODE_HOME LOGIN_SCRIPT` is a node's server; `remote_shell.py call [OPTIONS] HOST
COMMAND…` takes the arguments of ssh. It uses the cluster's public network, so an unreachable node is unreachable here
too. There is no encryption and no authentication: the network ends inside the cluster. The server refuses all clients
while the node's authorized_keys is empty, as sshd would.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import IO

_PORT = 22
_COMMAND, _STDIN, _STDOUT, _STDERR, _EXIT = range(5)
_HEADER = struct.Struct("!BI")
_CHUNK = 65536
_FAILED = 255
_OPTIONS_WITH_VALUE = set("bcDEeFIiJLlmOopQRSWw")
_DEFAULT_TIMEOUT_S = 5.0


def main(argv: Sequence[str]) -> int:
    """Serve or call, depending on the first argument. Return the exit code."""
    if argv[0] == "serve":
        address, home, login = argv[1:]
        return _serve(address, home, login)
    return _call(argv[1:])


def _send(connection: socket.socket, channel: int, data: bytes) -> None:
    connection.sendall(_HEADER.pack(channel, len(data)) + data)


def _receive(stream: IO[bytes]) -> tuple[int, bytes] | None:
    """The next message; None when the other side has gone."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    channel, size = _HEADER.unpack(header)
    return channel, stream.read(size)


def _serve(address: str, home: str, login: str) -> int:
    """Listen, and continue in a background process.

    The end of this process shows the caller that the server listens.
    """
    listener = socket.create_server((address, _PORT), backlog=64)
    if os.fork():
        return 0
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve_client, args=(connection, home, login), daemon=True).start()


def _serve_client(connection: socket.socket, home: str, login: str) -> None:
    with connection, connection.makefile("rb") as stream, contextlib.suppress(ConnectionError):
        request = _receive(stream)
        if request is None:
            return
        if not os.path.getsize(f"{home}/authorized_keys"):
            _send(connection, _STDERR, b"Permission denied (publickey).\n")
            _send(connection, _EXIT, bytes([_FAILED]))
            return
        environment = {
            **os.environ,
            "SHELL": "/bin/sh",
            "SSH_ORIGINAL_COMMAND": request[1].decode(errors="surrogateescape"),
        }
        shell = subprocess.Popen(
            ["/bin/sh", login, home],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
        _run(connection, stream, shell)


def _run(connection: socket.socket, stream: IO[bytes], shell: subprocess.Popen[bytes]) -> None:
    turn = threading.Lock()

    def outward(channel: int, source: IO[bytes]) -> None:
        with contextlib.suppress(ConnectionError):
            while data := os.read(source.fileno(), _CHUNK):
                with turn:
                    _send(connection, channel, data)

    def inward(stdin: IO[bytes]) -> None:
        with contextlib.suppress(OSError):
            while message := _receive(stream):
                if not message[1]:
                    break
                os.write(stdin.fileno(), message[1])
        with contextlib.suppress(OSError):
            stdin.close()
        if stream.read(1) == b"":
            # The caller has gone: as with ssh, its command gets a signal.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGHUP)

    stdin, stdout, stderr = shell.stdin, shell.stdout, shell.stderr
    if stdin is None or stdout is None or stderr is None:
        raise RuntimeError("subprocess made no pipes")
    threading.Thread(target=inward, args=(stdin,), daemon=True).start()
    pumps = [
        threading.Thread(target=outward, args=(_STDOUT, stdout)),
        threading.Thread(target=outward, args=(_STDERR, stderr)),
    ]
    for pump in pumps:
        pump.start()
    for pump in pumps:
        pump.join()
    code = shell.wait()
    stdout.close()
    stderr.close()
    _send(connection, _EXIT, bytes([code if code >= 0 else 128 - code]))


def _call(arguments: Sequence[str]) -> int:
    timeout_s, host, command = _parse(arguments)
    try:
        connection = socket.create_connection((host, _PORT), timeout_s)
    except OSError as error:
        reason = "Connection timed out" if isinstance(error, TimeoutError) else error.strerror
        print(f"ssh: connect to host {host} port {_PORT}: {reason}", file=sys.stderr)
        return _FAILED
    connection.settimeout(None)
    _send(connection, _COMMAND, command.encode(errors="surrogateescape"))

    def feed() -> None:
        with contextlib.suppress(OSError):
            while data := os.read(0, _CHUNK):
                _send(connection, _STDIN, data)
            _send(connection, _STDIN, b"")

    threading.Thread(target=feed, daemon=True).start()
    stream = connection.makefile("rb")
    with contextlib.suppress(ConnectionError):
        while message := _receive(stream):
            channel, data = message
            if channel == _EXIT:
                return data[0]
            target = sys.stdout.buffer if channel == _STDOUT else sys.stderr.buffer
            target.write(data)
            target.flush()
    print(f"Connection to {host} closed by remote host.", file=sys.stderr)
    return _FAILED


def _parse(arguments: Sequence[str]) -> tuple[float, str, str]:
    """The connection timeout, the host and the command from ssh's arguments; other options are ignored."""
    operands = list(arguments)
    timeout_s = _DEFAULT_TIMEOUT_S
    while operands and operands[0].startswith("-"):
        option = operands.pop(0)
        if option == "--":
            break
        if len(option) == 2 and option[1] in _OPTIONS_WITH_VALUE and operands:
            option += operands.pop(0)
        name, _, value = option[2:].replace(" ", "=").partition("=")
        if option.startswith("-o") and name == "ConnectTimeout":
            timeout_s = float(value)
    if not operands:
        print("usage: rsh [OPTIONS] HOST COMMAND...", file=sys.stderr)
        sys.exit(_FAILED)
    return timeout_s, operands[0].rpartition("@")[2], " ".join(operands[1:])


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(ended)  # the thread that reads stdin may wait for ever
