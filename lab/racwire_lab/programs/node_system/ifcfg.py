"""The files of the network service: /etc/sysconfig/network-scripts/ifcfg-*, assignments of the shell."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

from .wanted import Wanted, files_in, number, text_of

_PASSED_OVER = ("~", ".bak", ".old", ".orig", ".rpmnew", ".rpmorig", ".rpmsave")
"""Suffixes that the network service ignores (/etc/init.d/functions: __sed_discard_ignored_files)."""


def read(directory: Path) -> list[Wanted]:
    """Return the interfaces of the files in the directory, in the order in which the service reads them."""
    found = []
    for path in files_in(directory):
        if path.name.startswith("ifcfg-") and path.name != "ifcfg-lo" and not path.name.endswith(_PASSED_OVER):
            wanted = parse(text_of(path))
            if wanted:
                found.append(wanted)
    return found


def parse(text: str) -> Wanted | None:
    """Return the interface of one file; None when it names no DEVICE: the service ignores it."""
    values = assignments(text)
    device = values.get("DEVICE", "")
    if not device:
        return None
    return Wanted(
        interface=device,
        addresses=tuple(_addresses(values)),
        mtu=number(values.get("MTU", "")),
        at_boot=values.get("ONBOOT", "yes").lower() not in ("no", "false"),
    )


def assignments(text: str) -> dict[str, str]:
    """Return the assignments; the last one of a name is valid, as in a shell."""
    values = {}
    for line in text.splitlines():
        tokens: list[str] = []
        with contextlib.suppress(ValueError):  # a quote that is not closed
            tokens = shlex.split(line, comments=True)
        for token in tokens[:1]:
            name, equals, value = token.partition("=")
            if equals and name.isidentifier():
                values[name] = value
    return values


def _addresses(values: dict[str, str]) -> list[str]:
    addresses = []
    for suffix in ("", "0", "1", "2", "3"):
        address = values.get(f"IPADDR{suffix}")
        if address:
            prefix = values.get(f"PREFIX{suffix}") or _prefix_of(values.get(f"NETMASK{suffix}", "255.255.255.0"))
            addresses.append(f"{address}/{prefix}")
    return addresses


def _prefix_of(netmask: str) -> str:
    return str(sum(int(octet).bit_count() for octet in netmask.split(".") if octet.isdigit()))
