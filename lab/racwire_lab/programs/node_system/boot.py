"""The reboot of a node: all its processes end, and it boots from its own files.

The first process of the node runs `boot`. It remains, and with it the namespaces and the interfaces. The interfaces get
the state in which a kernel finds them: down, at MTU 1500, without addresses and neighbours. Then the files of the
network service, rc.local and the autostart of Clusterware (`ohasdstr`) configure the node. When `boot` is killed
halfway, the first process starts it again from the beginning.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import boot_plan, boot_sysctls, links, node
from .wanted import text_of

_MACHINERY = ("start_cache_fusion.py", "racwire_lab.database.servers")
"""Programs of the database instances: they are not processes of the node itself; they follow Clusterware."""
_END_S = 5.0
_RC_LOCAL_S = 5.0


def main(_: str, __: Sequence[str]) -> int:
    """Reboot the node. Return 0 when it runs again."""
    end_all()
    with lab_locked():
        node_boot_id()
        links.run(links.powered_off(links.interfaces()))
        if node.network_service() == "keyfile":
            boot_plan.load_keyfiles()
        here = set(links.interfaces())
        found = [wanted for wanted in boot_plan.wanted() if wanted.at_boot and wanted.interface in here]
        if node.network_service() == "keyfile":
            found = [boot_plan.taken_by_networkmanager(wanted) for wanted in found]
        links.run(step for wanted in found for step in links.brought_up(wanted))
        boot_sysctls.main()
        # The lab's own changes after the files: the active faults of the network, which a reboot does not fix.
        links.run(text_of(node.HOME / "after_boot").splitlines())
    start(["sh", str(node.HOME / "serve")], wait_s=_END_S)
    if os.access(node.ETC / "rc.d/rc.local", os.X_OK):
        start([str(node.ETC / "rc.d/rc.local")], wait_s=_RC_LOCAL_S)
    home = node.HOME.resolve()
    if autostart(home.name):
        start([str(home / "grid/bin/crsctl"), "start", "crs"])
    (node.HOME / "booted").write_text(text_of(node.HOME / "boot_id"), encoding="ascii")
    return 0


def end_all() -> None:
    """End every process of the node except the first one, this one, and the programs of its database instance."""
    deadline = time.monotonic() + _END_S
    while doomed := _doomed():
        for pid in doomed:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            print(f"boot: {len(doomed)} processes did not end", file=sys.stderr)
            return
        time.sleep(0.005)


def _doomed() -> list[int]:
    spared = {1, os.getpid()}
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) not in spared and _ends(name)]


def _ends(pid: str) -> bool:
    try:
        state = Path("/proc", pid, "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        arguments = Path("/proc", pid, "cmdline").read_bytes().decode(errors="replace").split("\0")
    except (OSError, IndexError):
        return False
    return state not in "ZX" and not any(word.endswith(_MACHINERY) for word in arguments)


@contextlib.contextmanager
def lab_locked() -> Iterator[None]:
    """Lock the lab's directory, so that no command of the lab changes the network meanwhile."""
    handle = os.open(node.HOME.resolve().parents[1], os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def node_boot_id() -> None:
    """Write a new boot id into the file that stands for the kernel's file."""
    boot_id = Path("/proc/sys/kernel/random/uuid").read_text(encoding="ascii")
    (node.HOME / "boot_id").write_text(boot_id, encoding="ascii")


def autostart(name: str) -> bool:
    """Whether Clusterware starts with the node of that name (`crsctl enable crs`, `crsctl disable crs`)."""
    return text_of(node.ETC / f"oracle/scls_scr/{name}/root/ohasdstr").strip() == "enable"


def start(argv: Sequence[str], wait_s: float = 0.0) -> None:
    """Start a program in a session of its own, and wait up to `wait_s` seconds for its end; it may continue."""
    log = os.open(node.HOME / "boot.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        if wait_s:
            process.wait(wait_s)
    except subprocess.TimeoutExpired:
        print(f"boot: {argv[0]} continues in the background", file=sys.stderr)
    except OSError as error:
        print(f"boot: {argv[0]}: {error.strerror}", file=sys.stderr)
    finally:
        os.close(log)
