"""Read what oifcfg prints (Clusterware Administration and Deployment Guide, appendix on OIFCFG)."""

from __future__ import annotations

import ipaddress
import re

from checks.model.facts import ConfiguredInterface, InterfaceConfiguration, ListedInterface, ToolMessage, Unknown
from checks.sources.clusterware.oracle_text import no_known_shape, printed_lines, read_message

_SCOPES = ("global", "node-specific")
_GUESSES = ("PRIVATE", "PUBLIC", "UNKNOWN")
_ROLE = re.compile(r"[a-z_]+")
_ONLY_IN_OCR = re.compile(r"only in ocr\s*:\s*(.*)", re.IGNORECASE)


def parse_getif(text: str) -> InterfaceConfiguration:
    """Read `oifcfg getif`: `<name>  <subnet>  <scope>  <role>[,<role>]` a line, in any order, no header, no netmask.

    Messages can be between the entries (PRIF-29 warns of a wildcard name, PRIF-30 of a difference between OCR and GPnP
    profile). `Only in OCR:` applies to the entry on the same line; on a line without an entry, it applies to the
    following entries up to the next message. An empty output means that nothing is configured. Never raises; a line of
    another format is in `not_understood`.
    """
    interfaces: list[ConfiguredInterface] = []
    only_in_ocr: list[ConfiguredInterface] = []
    messages: list[ToolMessage] = []
    not_understood: list[str] = []
    entries = interfaces
    for line in printed_lines(text):
        heading = _ONLY_IN_OCR.fullmatch(line)
        if heading and not heading[1]:
            entries = only_in_ocr
        elif heading and (entry := _configured(heading[1])):
            only_in_ocr.append(entry)
        elif message := read_message(line):
            messages.append(message)
            entries = interfaces
        elif entry := _configured(line):
            entries.append(entry)
        else:
            not_understood.append(line)
    return InterfaceConfiguration(tuple(interfaces), tuple(messages), tuple(only_in_ocr), tuple(not_understood))


def _configured(line: str) -> ConfiguredInterface | None:
    """An entry of getif. The name is any word: `eth*`, `"*"`, `bond1.200`, `enccw0.0.f400` on s390x."""
    match line.split(maxsplit=3):
        case [name, subnet, scope, roles] if scope.lower() in _SCOPES and _is_subnet(subnet):
            words = {role.strip() for role in roles.lower().split(",")}
            bare_name = name.strip("'\"")
            if bare_name and all(_ROLE.fullmatch(word) for word in words):
                return ConfiguredInterface(bare_name, subnet, scope.lower(), tuple(sorted(words)))
    return None


def parse_iflist(text: str) -> tuple[ListedInterface, ...] | Unknown:
    """Read `oifcfg iflist`, with or without `-p` (PRIVATE, PUBLIC, UNKNOWN) and `-n` (netmask).

    HAIP addresses have rows of their own, in 169.254.0.0/16. An IPv6 prefix length is printed as `64` or `/64`.
    Lines of another format are left out; Unknown where no line is a row.
    """
    rows = tuple(row for line in printed_lines(text) if (row := _listed(line)))
    return rows or no_known_shape("oifcfg iflist -p -n", text)


def _listed(line: str) -> ListedInterface | None:
    """A row of iflist."""
    match line.split():
        case [name, subnet, *columns] if _is_subnet(subnet):
            guess = columns.pop(0).upper() if columns and columns[0].upper() in _GUESSES else ""
            if not columns:
                return ListedInterface(name, subnet, guess)
            prefix_length = _prefix_length(subnet, columns[0])
            if len(columns) == 1 and prefix_length is not None:
                return ListedInterface(name, subnet, guess, prefix_length)
    return None


def _is_subnet(word: str) -> bool:
    """Whether the word is an IP address, with or without a prefix length."""
    try:
        ipaddress.ip_interface(word)
    except ValueError:
        return False
    return True


def _prefix_length(subnet: str, netmask: str) -> int | None:
    """The prefix length of a netmask column: `255.255.255.0`, `64` or `/64`; None for other text."""
    address = subnet.partition("/")[0]
    try:
        return ipaddress.ip_network(f"{address}/{netmask.removeprefix('/')}", strict=False).prefixlen
    except ValueError:
        return None
