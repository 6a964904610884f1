"""The interfaces of the node, changed by `ip`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from .wanted import Wanted

STANDARD_MTU = 1500
_UP = 0x1


def interfaces() -> list[str]:
    """Return all interfaces except the loopback, in the kernel's order."""
    names = [name for name in os.listdir("/sys/class/net") if name != "lo"]
    return sorted(names, key=lambda name: int(Path(f"/sys/class/net/{name}/ifindex").read_text(encoding="ascii")))


def is_up(interface: str) -> bool:
    """Whether the interface is set up; False when there is no such interface."""
    try:
        return bool(int(Path(f"/sys/class/net/{interface}/flags").read_text(encoding="ascii"), 16) & _UP)
    except OSError:
        return False


def mtu_of(interface: str) -> int:
    """Return the current MTU in bytes."""
    return int(Path(f"/sys/class/net/{interface}/mtu").read_text(encoding="ascii"))


def run(lines: Iterable[str]) -> bool:
    """Run ip commands, each even if another one fails. Return whether all succeeded. Error messages go to stderr."""
    import subprocess  # this import takes half of nmcli's time, and queries do not need it

    batch = "".join(f"{line}\n" for line in lines)
    argv = ["ip", "-force", "-batch", "-"]
    done = subprocess.run(argv, input=batch, text=True, check=False, stdout=sys.stderr)
    return done.returncode == 0


def powered_off(names: Iterable[str]) -> list[str]:
    """Return the commands for the state in which a kernel finds interfaces: down, without addresses, at MTU 1500."""
    steps = []
    for name in names:
        steps += [f"link set {name} down", f"address flush dev {name}", f"link set {name} mtu {STANDARD_MTU}"]
    return [*steps, "neigh flush all"]


def brought_up(wanted: Wanted) -> list[str]:
    """Return the commands that configure an interface. Without a configured MTU, the current one stays."""
    steps = [f"link set {wanted.interface} mtu {wanted.mtu}"] if wanted.mtu else []
    steps.append(f"link set {wanted.interface} up")
    return steps + [f"address replace {address} brd + dev {wanted.interface}" for address in wanted.addresses]


def taken_down(wanted: Wanted) -> list[str]:
    """Return the commands that undo the configuration.

    Addresses that other programs have added stay on the interface.
    """
    steps = [f"address delete {address} dev {wanted.interface}" for address in wanted.addresses]
    return [*steps, f"link set {wanted.interface} down"]
