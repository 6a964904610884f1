"""`systemctl` of a node, for its network, and `reboot` under all its names.

A node cannot reach the machine's own programs of these names, so that a rehearsal reboots the node only. A reboot is an
order to the node's first process.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import boot_plan, ifup, links, networkctl, node

_UNITS = {"NetworkManager": "keyfile", "network": "ifcfg", "systemd-networkd": "networkd"}
_ONLY = "A practice node can be rebooted but not switched off: `racwire lab down` stops the practice cluster."


def main(name: str, arguments: Sequence[str]) -> int:
    """Run a command of one of these programs. Return the exit code."""
    options = [word for word in arguments if word.startswith("-")]
    operands = [word for word in arguments if not word.startswith("-")]
    if name == "systemctl":
        return _systemctl(operands)
    if name == "shutdown":
        if any(option in ("--reboot", "-r") or option.startswith("-r") for option in options):
            return _shut_down_and_boot(operands)
        return _refuse(_ONLY)
    if name in ("init", "telinit"):
        return (
            reboot()
            if operands == ["6"]
            else _refuse(_ONLY if operands == ["0"] else "A practice node knows `init 6` only.")
        )
    if name == "reboot" and not {"-p", "--poweroff", "--halt", "-w", "--wtmp-only"} & set(options):
        return reboot()
    return _refuse(_ONLY)


def reboot() -> int:
    """Order the node's first process to reboot the node. This program ends soon after that."""
    with (node.HOME / "orders").open("w", encoding="ascii") as orders:
        orders.write("reboot\n")
    return 0


def _shut_down_and_boot(operands: Sequence[str]) -> int:
    if operands and operands[0] not in ("now", "+0", "0"):
        return _refuse("A practice node can reboot at once only: run `shutdown -r now`.")
    return reboot()


def _systemctl(operands: Sequence[str]) -> int:
    verb, names = (operands[0], [word.removesuffix(".service") for word in operands[1:]]) if operands else ("", [])
    if verb in ("reboot", "kexec", "soft-reboot"):
        return reboot()
    if verb in ("poweroff", "halt", "suspend", "hibernate", "rescue", "emergency"):
        return _refuse(_ONLY)
    if verb in ("is-active", "is-enabled") and names:
        return _print_state(verb, names)
    if verb in ("restart", "reload", "try-restart", "reload-or-restart") and names:
        return max(_restart(name) for name in names)
    return _refuse("A practice node has no systemd: this systemctl knows is-active, is-enabled, restart, reboot.")


def _print_state(verb: str, names: Sequence[str]) -> int:
    mine = [_UNITS.get(name) == node.network_service() for name in names]
    if verb == "is-active":
        for name, active in zip(names, mine, strict=True):
            print("active" if active else "inactive" if name in _UNITS else "unknown")
        return 0 if any(mine) else 3
    for name, enabled in zip(names, mine, strict=True):
        if name in _UNITS:
            print("enabled" if enabled else "disabled")
        else:
            print(f"Failed to get unit file state for {name}.service: No such file or directory", file=sys.stderr)
    return 0 if any(mine) else 1


def _restart(name: str) -> int:
    if _UNITS.get(name) != node.network_service():
        print(f"Failed to restart {name}.service: Unit {name}.service not found.", file=sys.stderr)
        return 5
    if name == "NetworkManager":
        boot_plan.load_keyfiles()  # a restart of NetworkManager does not change the interfaces
        return 0
    return ifup.restart() if name == "network" else networkctl.reconfigured(links.interfaces())


def _refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1
