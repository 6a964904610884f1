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
    """All but the loopback, in the order in which the kernel found them."""
    names = [name for name in os.listdir("/sys/class/net") if name != "lo"]
    return sorted(names, key=lambda name: int(Path(f"/sys/class/net/{name}/ifindex").read_text(encoding="ascii")))


def is_up(interface: str) -> bool:
    """Whether somebody brought it up; False where there is no such interface."""
    try:
        return bool(int(Path(f"/sys/class/net/{interface}/flags").read_text(encoding="ascii"), 16) & _UP)
    except OSError:
        return False


def mtu_of(interface: str) -> int:
    """The MTU that holds now, in bytes."""
    return int(Path(f"/sys/class/net/{interface}/mtu").read_text(encoding="ascii"))


def run(lines: Iterable[str]) -> bool:
    """Carry out ip commands, each even when another fails; whether all went well. Complaints go to stderr."""
    import subprocess  # half of the time that nmcli takes, and not needed where it only tells

    batch = "".join(f"{line}\n" for line in lines)
    argv = ["ip", "-force", "-batch", "-"]
    done = subprocess.run(argv, input=batch, text=True, check=False, stdout=sys.stderr)
    return done.returncode == 0


def powered_off(names: Iterable[str]) -> list[str]:
    """The steps after which the interfaces are as a kernel finds them: down, without addresses, at MTU 1500."""
    steps = []
    for name in names:
        steps += [f"link set {name} down", f"address flush dev {name}", f"link set {name} mtu {STANDARD_MTU}"]
    return [*steps, "neigh flush all"]


def brought_up(wanted: Wanted) -> list[str]:
    """The steps that make an interface be as wanted. Where no MTU is wanted, the one that it has stays."""
    steps = [f"link set {wanted.interface} mtu {wanted.mtu}"] if wanted.mtu else []
    steps.append(f"link set {wanted.interface} up")
    return steps + [f"address replace {address} brd + dev {wanted.interface}" for address in wanted.addresses]


def taken_down(wanted: Wanted) -> list[str]:
    """The steps that undo it. Addresses that others put there stay with the interface."""
    steps = [f"address delete {address} dev {wanted.interface}" for address in wanted.addresses]
    return [*steps, f"link set {wanted.interface} down"]
