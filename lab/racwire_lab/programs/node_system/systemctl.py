"""`systemctl` of a node, as far as its network is concerned, and `reboot` in all its spellings.

The machine's own programs of these names are out of reach in a node, so that nobody who rehearses there reboots more
than the node. A reboot is an order to the node's first process.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import boot_plan, ifup, links, networkctl, node

_UNITS = {"NetworkManager": "keyfile", "network": "ifcfg", "systemd-networkd": "networkd"}
_ONLY = "A practice node can be rebooted, and not switched off: `racwire lab down` ends the practice cluster."


def main(name: str, arguments: Sequence[str]) -> int:
    """Carry out a command of one of these programs; the exit code."""
    options = [word for word in arguments if word.startswith("-")]
    words = [word for word in arguments if not word.startswith("-")]
    if name == "systemctl":
        return _systemctl(words)
    if name == "shutdown":
        if any(option in ("--reboot", "-r") or option.startswith("-r") for option in options):
            return _shut_down_and_boot(words)
        return _refuse(_ONLY)
    if name in ("init", "telinit"):
        return reboot() if words == ["6"] else _refuse(_ONLY if words == ["0"] else "Only `init 6` is known here.")
    if name == "reboot" and not {"-p", "--poweroff", "--halt", "-w", "--wtmp-only"} & set(options):
        return reboot()
    return _refuse(_ONLY)


def reboot() -> int:
    """Tell the first process of the node to reboot it. This program does not outlive that by much."""
    with (node.HOME / "orders").open("w", encoding="ascii") as orders:
        orders.write("reboot\n")
    return 0


def _shut_down_and_boot(words: Sequence[str]) -> int:
    if words and words[0] not in ("now", "+0", "0"):
        return _refuse("A practice node can be rebooted at once only: `shutdown -r now`.")
    return reboot()


def _systemctl(words: Sequence[str]) -> int:
    verb, names = (words[0], [word.removesuffix(".service") for word in words[1:]]) if words else ("", [])
    if verb in ("reboot", "kexec", "soft-reboot"):
        return reboot()
    if verb in ("poweroff", "halt", "suspend", "hibernate", "rescue", "emergency"):
        return _refuse(_ONLY)
    if verb in ("is-active", "is-enabled") and names:
        return _tell(verb, names)
    if verb in ("restart", "reload", "try-restart", "reload-or-restart") and names:
        return max(_restart(name) for name in names)
    return _refuse("This systemctl knows is-active, is-enabled, restart and reboot: a practice node has no systemd.")


def _tell(verb: str, names: Sequence[str]) -> int:
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
        boot_plan.load_keyfiles()  # it leaves the interfaces as they are
        return 0
    return ifup.restart() if name == "network" else networkctl.reconfigured(links.interfaces())


def _refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1
