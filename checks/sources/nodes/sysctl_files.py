"""Read what sets the kernel settings of a node at its next boot, and the receive buffers of its UDP sockets.

The order of the files: sysctl.d(5) for systemd-sysctl, which applies them at boot; sysctl(8) for `sysctl --system`;
tuned-main.conf(5), reapply_sysctl, for tuned, which applies /etc/run files and then /etc/sysctl.conf after its profile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from checks.model.facts import SysctlFiles, SysctlLine, TunedProfile, UdpSocket, Unknown
from checks.model.journal import Journal
from checks.sources.nodes.sections import ConfigFile, OutputSection, config_files, sections
from checks.sources.nodes.shell import Shell
from checks.sources.settings_files import (
    SYSCTL_CONF,
    SYSCTL_DIRECTORIES,
    SYSCTL_FILES,
    TUNED_ACTIVE,
    TUNED_DIRECTORIES,
    TUNED_MAIN,
    UDP_SOCKETS,
)

_OFF = frozenset({"0", "false", "no", "n", "off"})
_MOST_INCLUDED = 50
_SOCKET = re.compile(r"\s(?P<ip>[0-9A-Fa-f.:*\[\]]+)(?:%[^\s:]+)?:(?P<port>\d+)\s")
_BUFFER = re.compile(r"skmem:\([^)]*?\brb(\d{1,18})\b")


async def read_sysctl_files(shell: Shell, journal: Journal, timeout_s: float) -> SysctlFiles:
    """Read the files of sysctl and the profile of tuned. Raises ShellError where the node does not answer in time."""
    (topic,) = SYSCTL_FILES.topics
    with journal.entry(shell.node, topic, SYSCTL_FILES.action(topic)) as entry:
        entry.text = (await shell.run(SYSCTL_FILES, timeout_s=timeout_s)).text
        return parse_sysctl_files(entry.text)


async def read_udp_sockets(shell: Shell, journal: Journal, timeout_s: float) -> tuple[UdpSocket, ...] | Unknown:
    """Read the UDP sockets with their receive buffers. Raises ShellError where the node does not answer in time."""
    (topic,) = UDP_SOCKETS.topics
    with journal.entry(shell.node, topic, UDP_SOCKETS.action(topic)) as entry:
        entry.text = (await shell.run(UDP_SOCKETS, timeout_s=timeout_s)).text
        return parse_udp_sockets(shell.node, sections(entry.text).get("sockets", OutputSection(exit_status=255)))


def parse_sysctl_files(text: str) -> SysctlFiles:
    """Parse what the program printed: the lines in the order of the boot, and the profile of tuned."""
    parts = sections(text)
    files = config_files(parts.get("sysctl", OutputSection()).text)
    places = {place: number for number, place in enumerate(SYSCTL_DIRECTORIES)}
    chosen: dict[str, ConfigFile] = {}
    for file in sorted((f for f in files if f.directory in places), key=lambda f: places[f.directory]):
        if file.name.endswith(".conf"):
            chosen.setdefault(file.name, file)
    conf = next((file for file in files if file.path == SYSCTL_CONF), None)
    read = [chosen[name] for name in sorted(chosen) if not chosen[name].is_masked]
    unread = [file.path for file in files if not file.is_readable and chosen.get(file.name, file) is file]
    return SysctlFiles(
        at_boot=tuple(line for file in read for line in _lines(file)),
        last=tuple(_lines(conf)) if conf else (),
        files=tuple(file.path for file in (*read, *((conf,) if conf else ())) if file.is_readable),
        unread=tuple(dict.fromkeys(unread)),
        tuned=_tuned(parts),
    )


def parse_line(text: str, file: str) -> SysctlLine | None:
    """Parse one line of a file; None for a comment, an empty line, or a line that sets nothing."""
    stripped = text.strip()
    if not stripped or stripped[0] in "#;":
        return None
    may_fail = stripped.startswith("-")
    name, equals, value = stripped.removeprefix("-").partition("=")
    key = key_of(name.strip())
    if not key or not (equals or may_fail):
        return None
    return SysctlLine(key, " ".join(value.split()), file, is_exception=not equals)


def key_of(name: str) -> str:
    """Return the key of a name with dots or slashes between its parts; the name of an interface keeps its dots.

    With slashes between the parts, dots belong to them; with dots, a slash stands for a dot in a part: sysctl.d(5).
    """
    return name.replace("/", ".")


def _lines(file: ConfigFile) -> Iterator[SysctlLine]:
    for text in file.lines:
        if line := parse_line(text, file.path):
            yield line


# --- tuned ------------------------------------------------------------------------------------------------------------


def _tuned(parts: dict[str, OutputSection]) -> TunedProfile | Unknown | None:
    if "enabled" not in parts.get("tuned", OutputSection()).text.split():
        return None
    settings = {file.path: file for file in config_files(parts.get("tuned settings", OutputSection()).text)}
    active = settings.get(TUNED_ACTIVE)
    if active is None:
        return None
    if not active.is_readable:
        return Unknown(f"this user may not read {TUNED_ACTIVE}")
    names = " ".join(active.lines).split()
    if not names:
        return None
    profiles = _profiles(config_files(parts.get("tuned profiles", OutputSection()).text))
    sets, missing = _followed(names, profiles)
    closed = [file.path for file in (*profiles.values(), *settings.values()) if not file.is_readable]
    if closed:
        return Unknown(f"this user may not read {closed[0]}")
    main = settings.get(TUNED_MAIN, ConfigFile(TUNED_MAIN))
    values = [line.partition("=")[2].strip().casefold() for line in main.lines if "reapply_sysctl" in line]
    return TunedProfile(
        name=" ".join(names),
        sets=tuple(sets),
        reapplies=not (values and values[-1] in _OFF),
        not_found=tuple(missing),
    )


def _profiles(files: Iterable[ConfigFile]) -> dict[str, ConfigFile]:
    """Return the file of each profile by its name."""
    places = {place: number for number, place in enumerate(TUNED_DIRECTORIES)}
    found: dict[str, ConfigFile] = {}
    for file in sorted(files, key=lambda f: places.get(f.directory.rpartition("/")[0], len(places))):
        found.setdefault(file.directory.rpartition("/")[2], file)
    return found


def _followed(names: Iterable[str], profiles: dict[str, ConfigFile]) -> tuple[list[SysctlLine], list[str]]:
    """Return the settings of these profiles, each after those of the profiles that it includes, and missing names."""
    sets: list[SysctlLine] = []
    missing: list[str] = []
    seen: set[str] = set()

    def follow(name: str) -> None:
        if name in seen or len(seen) > _MOST_INCLUDED:
            return
        seen.add(name)
        file = profiles.get(name)
        if file is None:
            missing.append(name)
            return
        section = ""
        own: list[SysctlLine] = []
        for text in file.lines:
            line = text.strip()
            if line.startswith("["):
                section = line.strip("[]").strip()
            elif section == "main" and line.partition("=")[0].strip() == "include":
                for included in re.split(r"[\s,;]+", line.partition("=")[2].strip()):
                    if included:
                        follow(included)
            elif section == "sysctl" and (parsed := parse_line(line, file.path)):
                own.append(parsed)
        sets.extend(own)

    for name in names:
        follow(name)
    return sets, missing


# --- sockets ----------------------------------------------------------------------------------------------------------


def parse_udp_sockets(node: str, section: OutputSection) -> tuple[UdpSocket, ...] | Unknown:
    """Parse `ss -u -a -n -m`: a line for each socket, with its memory in that line or in the next."""
    if section.exit_status != 0:
        return Unknown(f"{node} has no ss that lists the memory of sockets")
    found: list[UdpSocket] = []
    ip, port = "", 0
    for line in section.text.splitlines():
        if line[:1].strip() and (socket := _SOCKET.search(line)):
            ip, port = socket["ip"].strip("[]"), int(socket["port"])
        if ip and (buffer := _BUFFER.search(line)):
            found.append(UdpSocket(ip, port, int(buffer[1])))
            ip = ""
    return tuple(found)
