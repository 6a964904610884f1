"""`ifup` and `ifdown` of a node with ifcfg files."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import ifcfg, links, node
from .wanted import Wanted


def main(name: str, arguments: Sequence[str]) -> int:
    """Bring an interface up from its file, or take it down. Return the exit code."""
    names = [word for word in arguments if not word.startswith("-")]
    if len(names) != 1:
        print(f"Usage: {name} <configuration>", file=sys.stderr)
        return 1
    if node.network_service() != "ifcfg":
        print(f"{name}: the network of this node is not configured by ifcfg files.", file=sys.stderr)
        return 1
    interface = names[0].rpartition("/")[2].removeprefix("ifcfg-")
    wanted = next((wanted for wanted in ifcfg.read(node.IFCFG) if wanted.interface == interface), None)
    if wanted is None:
        print(f"/etc/sysconfig/network-scripts/{name}: configuration for {interface} not found.", file=sys.stderr)
        print(f"Usage: {name} <configuration>", file=sys.stderr)
        return 1
    if interface not in links.interfaces():
        print(f"Device {interface} does not seem to be present, delaying initialization.", file=sys.stderr)
        return 1
    return 0 if links.run(links.brought_up(wanted) if name == "ifup" else down(wanted)) else 1


def down(wanted: Wanted) -> list[str]:
    """Return the commands that take it down; none when it is down."""
    return links.taken_down(wanted) if links.is_up(wanted.interface) else []


def restart() -> int:
    """Take all interfaces down, and bring those with ONBOOT=yes up, as `systemctl restart network` does."""
    present = set(links.interfaces())
    found = [wanted for wanted in ifcfg.read(node.IFCFG) if wanted.interface in present]
    steps = [step for wanted in found for step in down(wanted)]
    steps += [step for wanted in found if wanted.at_boot for step in links.brought_up(wanted)]
    return 0 if links.run(steps) else 1
