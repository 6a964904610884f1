"""The output of nmcli: as tables, terse, and value by value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .keyfile import addresses
from .nm_connections import NmConnection

_COLUMN = 40
_COLUMNS = ("NAME", "UUID", "TYPE", "AUTOCONNECT", "ACTIVE", "DEVICE", "STATE", "FILENAME")

_OTHER_SETTINGS = ("infiniband", "bond", "bond-port", "bridge", "bridge-port", "team", "team-port", "vlan")
"""Settings of other types of connections: nmcli accepts their fields, and prints nothing for a connection without
them."""


class RefusalError(Exception):
    """An error message of nmcli, with its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class Options:
    """The format of the output."""

    terse: bool = False
    values_only: bool = False
    """Whether a connection is printed with one value a line, as `-g` does."""
    escape: bool = True
    fields: list[str] = field(default_factory=list)


def print_connections(options: Options, found: Iterable[NmConnection]) -> None:
    """Print the list of connections."""
    rows = [
        {
            "NAME": profile.id,
            "UUID": profile.uuid,
            "TYPE": "802-3-ethernet" if options.terse else "ethernet",
            "AUTOCONNECT": "yes" if profile.wanted.at_boot else "no",
            "ACTIVE": "yes" if profile.is_active else "no",
            "DEVICE": profile.interface if profile.is_active else "",
            "STATE": "activated" if profile.is_active else "",
            "FILENAME": str(profile.file),
        }
        for profile in found
    ]
    chosen = [name.upper() for name in options.fields or ("NAME", "UUID", "TYPE", "DEVICE")]
    if chosen == ["ALL"]:
        chosen = list(_COLUMNS)
    print_table(options, chosen, rows)


def print_table(options: Options, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    """Print rows under a heading, or tersely with a colon between the values; a colon in a value gets a backslash.

    Raises RefusalError for an unknown field.
    """
    known = rows[0] if rows else dict.fromkeys(_COLUMNS, "")
    for name in columns:
        if name not in known:
            raise RefusalError(f"invalid field '{name}'; allowed fields: {','.join(known)}.", 2)
    if options.terse:
        for row in rows:
            print(":".join(_escaped(row[name], options) for name in columns))
        return
    lines = [list(columns)] + [[row[name] or "--" for name in columns] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " ")


def print_profile(options: Options, profile: NmConnection) -> None:
    """Print one connection with its properties, or the requested ones."""
    properties = _properties(profile)
    chosen = [name for wanted in options.fields or ("all",) for name in _matching(wanted.lower(), properties)]
    for name in chosen:
        value = properties[name]
        if options.values_only:
            print(_escaped(value, options))
        elif options.terse:
            print(f"{name}:{value}")
        else:
            print(f"{name + ':':<{_COLUMN}}{value or '--'}")


def _properties(profile: NmConnection) -> dict[str, str]:
    ipv4 = profile.sections.get("ipv4", {})
    return {
        "connection.id": profile.id,
        "connection.uuid": profile.uuid,
        "connection.type": "802-3-ethernet",
        "connection.interface-name": profile.interface,
        "connection.autoconnect": "yes" if profile.wanted.at_boot else "no",
        "connection.autoconnect-priority": profile.value("connection", "autoconnect-priority") or "0",
        "connection.master": "",
        "connection.slave-type": "",
        "802-3-ethernet.mac-address": "",
        "802-3-ethernet.mtu": profile.value("ethernet", "mtu") or "auto",
        "ipv4.method": ipv4.get("method", "auto"),
        "ipv4.addresses": ", ".join(addresses(ipv4)),
        "ipv4.gateway": "",
        "ipv6.method": profile.value("ipv6", "method") or "auto",
        "ipv6.addresses": ", ".join(addresses(profile.sections.get("ipv6", {}))),
    }


def _matching(wanted: str, properties: Mapping[str, str]) -> list[str]:
    if wanted in ("all", "common"):
        return list(properties)
    wanted = f"802-3-ethernet{wanted.removeprefix('ethernet')}" if wanted.startswith("ethernet") else wanted
    found = [name for name in properties if name == wanted or name.startswith(f"{wanted}.")]
    if not found and wanted.partition(".")[0] not in _OTHER_SETTINGS:
        settings = dict.fromkeys(name.partition(".")[0] for name in properties)
        raise RefusalError(
            f"invalid field '{wanted}'; allowed fields: {','.join(settings)}, or a property of these.", 2
        )
    return found


def _escaped(value: str, options: Options) -> str:
    return value.replace("\\", "\\\\").replace(":", "\\:") if options.escape else value
