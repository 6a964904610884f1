"""The files and processes of the practice database: each node has a Cache Fusion daemon and a server for clients."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import shutil
import string
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from racwire_lab.cluster.desired import Desired
from racwire_lab.cluster.directory import settings_file
from racwire_lab.cluster.processes import LabJob, Process, into, run_all, waiting_program
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import SCAN_NAME, SERVICE_PORT, Shape
from racwire_lab.lab_errors import LabError
from racwire_lab.programs.cache_fusion.settings import FOLLOWED_BY, mark_of

USER = "RACWIRE"
ADMINISTRATOR = "SYS"
"""The user of the password file, who logs in AS SYSDBA, with the password of USER."""
INSTANCE_FILE = "instance.json"
"""The desired state of a node's instance, as JSON of `instances.DesiredInstance`; one file in each node's directory."""
_DAEMON = Path(__file__).parents[1] / "programs" / "start_cache_fusion.py"
_SERVERS = "racwire_lab.database.servers"
_NEEDED = ("duckdb", "sqlglot", "cryptography", "msgspec")
_READY_S = 30.0
_FOLLOW_S = 10.0

_SETTINGS = """\
# Settings of the practice cluster; `racwire check --lab --settings FILE` reads another file.
[sampling]
interval_s = 4
interval_without_database_s = 1

[change]
directory = "{directory}/changes"
switches = ["practice"]
record_s = 15

[measure]
# The nodes share the CPUs of this machine with all else that runs on it.
loaded_cpu_percent = 100
most_cpu_percent = 100

[thresholds]
# The nodes share the CPUs of this machine, and its hypervisor's steal. Only the fault `steal` exceeds this.
steal_warn_percent = 35
steal_fail_percent = 35
"""
_DATABASE_SETTINGS = """
[database]
connect = "{connect}"
user = "{user}"
password_file = "{password_file}"
diagnostics_pack = true
call_timeout_s = 4
"""


@dataclass(frozen=True)
class DatabaseAccess:
    """The login to the practice database from one of its nodes."""

    connect: str
    user: str
    password_file: Path


def can_start() -> bool:
    """Whether the packages of the practice database are installed."""
    return all(find_spec(name) is not None for name in _NEEDED)


def access(directory: Path, shape: Shape) -> DatabaseAccess:
    """Return the login to the practice database."""
    return DatabaseAccess(f"{SCAN_NAME}:{SERVICE_PORT}/{shape.service}", USER, password_file(directory))


def password_file(directory: Path) -> Path:
    """Return the path of the file with the password of the practice user."""
    return directory / "database" / "password"


def install(directory: Path, shape: Shape) -> None:
    """Write the settings file. For a database, also write its password and the files of its processes."""
    if shape.database:
        alphabet = string.ascii_letters + string.digits
        _write_password(password_file(directory), "".join(secrets.choice(alphabet) for _ in range(24)) + "\n")
        _install_monitors(directory, shape)
    settings_file(directory).write_text(_settings(directory, access(directory, shape), shape), encoding="ascii")


def write_settings(directory: Path, home: Path, shape: Shape) -> None:
    """Write the settings file of a user into that user's home, with a password file of the user's own."""
    login = access(directory, shape)
    own = replace(login, password_file=home / ".racwire" / login.password_file.name)
    if shape.database:
        _write_password(own.password_file, login.password_file.read_text(encoding="ascii"))
    settings_file(home).write_text(_settings(home, own, shape), encoding="ascii")


def _settings(directory: Path, login: DatabaseAccess, shape: Shape) -> str:
    settings = _SETTINGS.format(directory=directory)
    if shape.database:
        settings += _DATABASE_SETTINGS.format(connect=login.connect, user=login.user, password_file=login.password_file)
    return settings


def _write_password(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)


def _install_monitors(directory: Path, shape: Shape) -> None:
    """Copy a program under the names of the PMON processes; the daemons start the copies, which wait until they are
    ended."""
    waiting = waiting_program()
    for node in shape.nodes:
        programs = node_home(directory, node) / "bin"
        programs.mkdir()
        for instance in (shape.instance_of(node), *shape.others_on(node)):
            shutil.copy(waiting, programs / f"ora_pmon_{instance}")


def apply_state(directory: Path, target: Desired) -> None:
    """Write the desired state of the instances, and wait until their programs have reached it.

    The wait ends after a few seconds when a program has ended or hangs.
    """
    changed: list[Path] = []
    for node, instance in target.instances.items():
        text = json.dumps(asdict(instance), indent=1)
        path = node_home(directory, node) / INSTANCE_FILE
        if not path.exists() or path.read_text(encoding="ascii") != text:
            new_path = path.with_suffix(".new")
            new_path.write_text(text, encoding="ascii")
            os.replace(new_path, path)
            changed.append(path)
    deadline = time.monotonic() + _FOLLOW_S
    while not all(_is_followed(path) for path in changed) and time.monotonic() < deadline:
        time.sleep(0.005)


def _is_followed(file: Path) -> bool:
    """Whether each running program has reached the state in the file."""
    confirmed = [file.with_name(FOLLOWED_BY.format(program)) for program in ("daemon", "server")]
    mark = mark_of(str(file))
    return all(path.read_text(encoding="ascii") == mark for path in confirmed if path.exists())


def start_daemons(directory: Path, nodes: Mapping[str, Process], *, rootless: bool) -> None:
    """Start the Cache Fusion daemon of every node. The instance files must exist. Raises LabError on failure."""
    run_all(
        LabJob(
            [
                *into(holder, "mount", "uts", "net", "pid", rootless=rootless),
                *(sys.executable, "-I", "-S", str(_DAEMON), str(node_home(directory, node))),
            ],
            "",
            f"start Cache Fusion on {node}",
        )
        for node, holder in nodes.items()
    )


class Servers:
    """The program that becomes the servers of all nodes: it loads once, and forks into each node."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        with (directory / "database.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _SERVERS, str(directory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    def start(self, nodes: Mapping[str, Process]) -> None:
        """Send the nodes to the program, so that it starts the servers. The instance files must exist.

        Raises RuntimeError when the program has no pipe for its input.
        """
        if self._process.stdin is None:
            raise RuntimeError("subprocess made no pipe")
        document = {node: asdict(holder) for node, holder in nodes.items()}
        with contextlib.suppress(BrokenPipeError):  # the program has failed, and `wait` raises
            self._process.stdin.write(json.dumps(document).encode())
            self._process.stdin.close()

    def wait(self) -> None:
        """Wait until every node has its server. Raises LabError when a server does not start."""
        if self._process.stdout is None:
            raise RuntimeError("subprocess made no pipe")
        ready, _, _ = select.select([self._process.stdout], [], [], _READY_S)
        reply = self._process.stdout.readline().decode(errors="replace").strip() if ready else ""
        if reply != "ready":
            raise LabError(
                f"The practice database did not start ({reply or 'no message'}): see "
                f"{self._directory / 'database.log'}, or run `racwire lab up --no-database`."
            )

    def end(self) -> None:
        """End the starting program; the servers continue."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


@contextlib.contextmanager
def servers(directory: Path, shape: Shape) -> Iterator[Servers | None]:
    """Load the servers' program in the background while the nodes start; None when the cluster has no database."""
    if not shape.database:
        yield None
        return
    program = Servers(directory)
    try:
        yield program
    finally:
        program.end()
