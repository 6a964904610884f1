"""`nmcli` of a node with NetworkManager: show, modify and activate connections.

Its output and exit codes are those of nmcli 1.42. It uses the profiles as NetworkManager last read them: it does not
see an edited file before `nmcli connection reload`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence

from . import boot_plan, links, node
from .nm_connections import NmConnection, connections, find
from .nmcli_changes import modified
from .nmcli_output import Options, RefusalError, print_connections, print_profile, print_table
from .wanted import Wanted

_FAILED, _USAGE, _NOT_RUNNING, _NO_SUCH = 1, 2, 8, 10
_ACTIVE_PATH = "/org/freedesktop/NetworkManager/ActiveConnection/"


def main(_: str, arguments: Sequence[str]) -> int:
    """Run a command. Return the exit code."""
    try:
        options, arguments = _options(arguments)
        if arguments[:1] == ["--version"]:
            print("nmcli tool, version 1.42.4")
            return 0
        return _run(options, arguments)
    except RefusalError as refusal:
        print(f"Error: {refusal}", file=sys.stderr)
        return refusal.code


def _options(arguments: Sequence[str]) -> tuple[Options, list[str]]:
    """The options before the object; `-g` is `-t -f` with one value a line."""
    arguments, options = list(arguments), Options()
    while arguments and arguments[0].startswith("-"):
        word = arguments.pop(0)
        if word in ("-v", "--version"):
            return options, ["--version"]
        if word in ("-t", "--terse"):
            options.terse = True
        elif word in ("-f", "--fields", "-g", "--get-values"):
            if not arguments:
                raise RefusalError(f"missing argument for '{word}' option.", _USAGE)
            options.fields = arguments.pop(0).split(",")
            if word in ("-g", "--get-values"):
                options.terse = options.values_only = True
        elif word in ("-m", "--mode", "-c", "--colors", "-e", "--escape", "-w", "--wait"):
            value = arguments.pop(0) if arguments else ""
            if word in ("-e", "--escape"):
                options.escape = value != "no"
        elif word not in ("-p", "--pretty", "-a", "--ask", "-s", "--show-secrets", "-o", "--overview"):
            raise RefusalError(f"Option '{word}' is unknown, try 'nmcli -help'.", _USAGE)
    return options, arguments


def _run(options: Options, arguments: Sequence[str]) -> int:
    objects = {"connection": _connection, "device": _device, "general": _general}
    name = _one_of(arguments[0] if arguments else "general", objects)
    if node.network_service() != "keyfile":
        raise RefusalError("NetworkManager is not running.", _NOT_RUNNING)
    return objects[name](options, list(arguments[1:]))


def _one_of(word: str, known: Iterable[str]) -> str:
    """The command for an abbreviation, as in nmcli: the first one with that prefix."""
    for name in known:
        if word and name.startswith(word):
            return name
    raise RefusalError(f"argument '{word}' not understood. Try passing --help instead.", _USAGE)


def _general(options: Options, arguments: list[str]) -> int:
    _one_of(arguments[0] if arguments else "status", ["status"])
    state = {"RUNNING": "running", "STATE": "connected", "CONNECTIVITY": "full"}
    fields = options.fields or (["STATE", "CONNECTIVITY"] if not options.terse else ["STATE"])
    print_table(options, [name.upper() for name in fields], [{**state}])
    return 0


def _device(options: Options, arguments: list[str]) -> int:
    verb = _one_of(arguments[0] if arguments else "status", ["status", "reapply"])
    by_interface = {profile.interface: profile for profile in connections()}
    if verb == "reapply":
        name = arguments[1] if len(arguments) > 1 else ""
        if name not in links.interfaces():
            raise RefusalError(f"Device '{name}' not found.", _NO_SUCH)
        if name not in by_interface:
            raise RefusalError(f"Reapplying connection to device '{name}' failed: no active connection.", 6)
        _apply(by_interface[name].wanted)
        print(f"Connection successfully reapplied to device '{name}'.")
        return 0
    rows = []
    for name in links.interfaces():
        managed = name in by_interface and links.is_up(name)
        rows.append(
            {
                "DEVICE": name,
                "TYPE": "ethernet",
                "STATE": "connected" if managed else "disconnected",
                "CONNECTION": by_interface[name].id if managed else "",
            }
        )
    rows.append({"DEVICE": "lo", "TYPE": "loopback", "STATE": "unmanaged", "CONNECTION": ""})
    print_table(options, options.fields or ["DEVICE", "TYPE", "STATE", "CONNECTION"], rows)
    return 0


def _connection(options: Options, arguments: list[str]) -> int:
    verb = _one_of(arguments[0] if arguments else "show", ["show", "up", "down", "modify", "reload"])
    arguments = arguments[1:]
    if verb == "reload":
        _demand_root("failed to reload connections: access denied.", _FAILED)
        boot_plan.load_keyfiles()
        return 0
    if verb == "show":
        active = "--active" in arguments
        arguments = [word for word in arguments if not word.startswith("-")]
        if not arguments:
            print_connections(options, [p for p in connections() if p.is_active or not active])
            return 0
        name = _name(arguments)
        profile = find(name)
        if profile is None:
            raise RefusalError(f"{name} - no such connection profile.", _NO_SUCH)
        print_profile(options, profile)
        return 0
    arguments = [word for word in arguments if word not in ("--temporary", "--ask", "--show-secrets")]
    if not arguments:
        raise RefusalError("neither a valid connection nor device given.", _NO_SUCH)
    name = _name(arguments)
    profile = find(name)
    if profile is None:
        raise RefusalError(f"unknown connection '{name}'.", _NO_SUCH)
    if verb == "modify":
        return _modify(profile, arguments[2 if arguments[0] in _KINDS_OF_NAMES else 1 :])
    return _up(profile) if verb == "up" else _down(profile)


_KINDS_OF_NAMES = ("id", "uuid", "path")


def _name(arguments: Sequence[str]) -> str:
    if arguments[0] in _KINDS_OF_NAMES:
        if len(arguments) < 2:
            raise RefusalError(f"{arguments[0]} argument is missing.", _USAGE)
        return arguments[1]
    return arguments[0]


def _modify(profile: NmConnection, arguments: Sequence[str]) -> int:
    text = modified(profile.text, arguments)
    _demand_root(f"Failed to modify connection '{profile.id}': Insufficient privileges", _FAILED)
    boot_plan.put(node.KEYFILES / profile.path.name, text)
    boot_plan.put(node.LOADED / profile.path.name, text, boot_plan.LOADED_MODE)
    return 0


def _up(profile: NmConnection) -> int:
    if profile.interface not in links.interfaces():
        raise RefusalError(
            "Connection activation failed: No suitable device found for this connection (device lo not available "
            "because profile is not compatible with device (mismatching interface name)).",
            4,
        )
    _apply(profile.wanted)
    print(f"Connection successfully activated (D-Bus active path: {_ACTIVE_PATH}{_number(profile)})")
    return 0


def _down(profile: NmConnection) -> int:
    if not profile.is_active:
        raise RefusalError(
            f"'{profile.id}' is not an active connection.\nError: no active connection provided.", _NO_SUCH
        )
    _demand_root("not all connections deactivated: Not authorized to deactivate connections.", 6)
    number = _number(profile)
    links.run(links.taken_down(profile.wanted))
    print(f"Connection '{profile.id}' successfully deactivated (D-Bus active path: {_ACTIVE_PATH}{number})")
    return 0


def _apply(wanted: Wanted) -> None:
    _demand_root("Connection activation failed: Not authorized to control networking.", 4)
    if not links.run(links.brought_up(boot_plan.taken_by_networkmanager(wanted))):
        raise RefusalError("Connection activation failed: The connection was not supported by the device.", 4)


def _demand_root(refusal: str, code: int) -> None:
    """Raise RefusalError for every user but root: polkit lets other users only read."""
    if os.geteuid() != 0:
        raise RefusalError(refusal, code)


def _number(profile: NmConnection) -> int:
    return 1 + links.interfaces().index(profile.interface)
