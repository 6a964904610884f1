"""The files of NetworkManager: system-connections/*.nmconnection, as nm-settings-keyfile(5) describes them."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from pathlib import Path

from .wanted import Wanted, files_in, number, text_of

_PASSED_OVER = ("~", ".bak", ".orig", ".rej", ".rpmnew", ".rpmorig", ".rpmsave", ".swp", ".pem", ".der")
_SECTIONS = {"802-3-ethernet": "ethernet"}
"""The long names of sections, by their short names."""

Keyfile = Mapping[str, Mapping[str, str]]


def files(directory: Path) -> list[Path]:
    """Return the files that NetworkManager reads: no file that other users may read, since it may contain passwords."""
    return [path for path in loaded(directory) if not stat.S_IMODE(path.stat().st_mode) & 0o077]


def loaded(directory: Path) -> list[Path]:
    """Return the files of the directory with the name of a keyfile."""
    return [
        path for path in files_in(directory) if not path.name.startswith(".") and not path.name.endswith(_PASSED_OVER)
    ]


def read(directory: Path) -> list[Wanted]:
    """Return the interfaces of the files in the directory; of two files for one, the higher autoconnect-priority
    decides."""
    by_interface: dict[str, tuple[int, Wanted]] = {}
    for path in loaded(directory):
        keyfile = parse(text_of(path))
        wanted = wanted_of(keyfile)
        text = keyfile.get("connection", {}).get("autoconnect-priority", "0")
        priority = int(text) if re.fullmatch(r"-?\d+", text) else 0
        known = by_interface.get(wanted.interface)
        if wanted.interface and wanted.at_boot and (known is None or priority > known[0]):
            by_interface[wanted.interface] = (priority, wanted)
    return [wanted for _, wanted in by_interface.values()]


def parse(text: str) -> Keyfile:
    """Return the sections with their keys; the last value of a key is valid."""
    sections: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            section = sections.setdefault(_SECTIONS.get(line[1:-1], line[1:-1]), {})
        elif "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            section[name.strip()] = value.strip()
    return sections


def wanted_of(keyfile: Keyfile) -> Wanted:
    """Return the interface of one file; its name is empty when the file does not name it."""
    connection, ipv4 = keyfile.get("connection", {}), keyfile.get("ipv4", {})
    return Wanted(
        interface=connection.get("interface-name", ""),
        addresses=tuple(addresses(ipv4)) if ipv4.get("method") == "manual" else (),
        mtu=number(keyfile.get("ethernet", {}).get("mtu", "")),
        at_boot=connection.get("autoconnect", "true") not in ("false", "0", "no"),
    )


def addresses(ipv4: Mapping[str, str]) -> list[str]:
    """Return the addresses: `address1=192.168.10.1/24,192.168.10.254` has a gateway, which is dropped."""
    names = sorted(name for name in ipv4 if re.fullmatch(r"address(es)?\d*", name))
    return [ipv4[name].split(",")[0] for name in names]


def changed(text: str, section: str, key: str, value: str | None) -> str:
    """Return the text with that key set, or without the key for None; the rest is unchanged."""
    lines: list[str] = []
    here = done = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            if here and not done and value is not None:
                _put(lines, f"{key}={value}")
                done = True
            name = stripped[1:-1]
            here = _SECTIONS.get(name, name) == section
        elif here and stripped.partition("=")[0].strip() == key:
            if value is not None and not done:
                lines.append(f"{key}={value}")
                done = True
            continue
        lines.append(line)
    if value is not None and not done:
        if not here:
            lines += ["", f"[{section}]"]
        _put(lines, f"{key}={value}")
    return "\n".join(lines) + "\n"


def _put(lines: list[str], line: str) -> None:
    """Insert a line at the end of a section, before the empty lines that separate it from the next section."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    lines.insert(end, line)
