"""`networkctl` of a node with systemd-networkd."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import links, networkd, node


def main(_: str, arguments: Sequence[str]) -> int:
    """Run one of: list, status, reload, reconfigure, up, down. Return the exit code."""
    operands = [word for word in arguments if not word.startswith("-")] or ["list"]
    verb, names = operands[0], operands[1:]
    running = node.network_service() == "networkd"
    if verb in ("list", "status"):
        if not running:
            print("WARNING: systemd-networkd is not running, output will be incomplete.\n", file=sys.stderr)
        return _list(running) if verb == "list" else _status(names, running)
    if verb not in ("reload", "reconfigure", "up", "down"):
        print(f"Unknown command verb '{verb}'.", file=sys.stderr)
        return 1
    if not running:
        print("Failed to connect system bus: systemd-networkd is not running", file=sys.stderr)
        return 1
    if verb == "reload":
        # It reconfigures changed interfaces; unchanged ones have the configuration of their file already.
        return reconfigured(links.interfaces())
    if not names:
        print(f"Too few arguments for '{verb}'.", file=sys.stderr)
        return 1
    for name in names:
        if name not in links.interfaces():
            print(f'Interface "{name}" not found.', file=sys.stderr)
            return 1
    if verb in ("up", "down"):
        return 0 if links.run(f"link set {name} {verb}" for name in names) else 1
    return reconfigured(names)


def reconfigured(names: Sequence[str]) -> int:
    """Configure the interfaces from their files. Return the exit code."""
    found = [wanted for wanted in networkd.read(node.NETWORKD, names) if wanted.at_boot]
    return 0 if links.run(step for wanted in found for step in links.brought_up(wanted)) else 1


def _list(running: bool) -> int:
    print(f"{'IDX':>3} {'LINK':<6} {'TYPE':<8} {'OPERATIONAL':<11} SETUP")
    managed = {wanted.interface for wanted in networkd.read(node.NETWORKD, links.interfaces())}
    for index, name in enumerate(["lo", *links.interfaces()], start=1):
        kind, state = ("loopback", "carrier") if name == "lo" else ("ether", "routable")
        if name != "lo" and not links.is_up(name):
            state = "off"
        setup = "configured" if running and name in managed else "unmanaged"
        print(f"{index:>3} {name:<6} {kind:<8} {state:<11} {setup}")
    print(f"\n{len(links.interfaces()) + 1} links listed.")
    return 0


def _status(names: Sequence[str], running: bool) -> int:
    for name in names or links.interfaces():
        if name not in links.interfaces():
            print(f'Interface "{name}" not found.', file=sys.stderr)
            return 1
        found = networkd.read(node.NETWORKD, [name])
        state = "routable" if links.is_up(name) else "off"
        print(f"* {name}")
        print(f"                     Type: ether\n                    State: {state} ", end="")
        print("(configured)" if running and found else "(unmanaged)")
        print(f"                      MTU: {links.mtu_of(name)}")
    return 0
