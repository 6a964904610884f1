"""Find lines that set an MTU outside of the network service: boot scripts, udev rules, local units. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.model.facts import FragileMtu
from checks.sources.nodes.boot_config.device import parse_mtu
from checks.sources.nodes.boot_config.shell_assignments import IGNORED_SUFFIXES
from checks.sources.nodes.sections import ConfigFile

_MTU = re.compile(r"""\bmtu\b["'\]}]*\s*={0,2}\s*["']?([0-9]{2,5})\b""", re.IGNORECASE)
_ECHOED = re.compile(r"""\b([0-9]{2,5})["']?\s*>\s*["']?/sys/class/net/""")
_NAMED = (
    re.compile(r"""/sys/class/net/([^/\s"']+)/mtu"""),
    re.compile(r"""\bdev\s+["']?([^\s"';]+)"""),
    re.compile(r"""\bip\s+(?:-\S+\s+)*link\s+set\s+["']?([^\s"';]+)"""),
    re.compile(r"""\bifconfig\s+["']?([^\s"';]+)"""),
    re.compile(r"""\b(?:KERNEL|NAME|ENV\{INTERFACE\})\s*={1,2}\s*"([^"]*)\""""),
)
_IS_ONE_NAME = re.compile(r"[A-Za-z0-9_.@-]{1,15}")


def parse_fragile(files: Sequence[ConfigFile]) -> tuple[FragileMtu, ...]:
    """Every line that sets an MTU. A line of a cron table counts only with @reboot."""
    # /etc/rc.local is usually a link to the one in rc.d.
    once = {(file.name, file.lines): file for file in reversed(files) if not file.path.endswith(IGNORED_SUFFIXES)}
    return tuple(found for file in reversed(once.values()) for found in _lines(file))


def _lines(file: ConfigFile) -> Iterator[FragileMtu]:
    stanza = ""
    is_cron = "/cron" in file.path
    for raw in file.lines:
        line = raw.strip()
        words = line.split()
        if words and words[0] == "iface":
            stanza = words[1] if len(words) > 1 else ""
        if "mtu" not in line.lower() or line.startswith("#") or (is_cron and "@reboot" not in line):
            continue
        number = _MTU.search(line) or _ECHOED.search(line)
        mtu = parse_mtu(number[1]) if number else None
        if mtu is None and "/sys/class/net/" not in line and not re.search(r"\bmtu\b", line, re.IGNORECASE):
            continue
        yield FragileMtu(_interface(line) or stanza, file.path, line, mtu)


def _interface(line: str) -> str:
    """The interface that a line names; empty where it is a pattern or a variable, or there is none."""
    for pattern in _NAMED:
        if (found := pattern.search(line)) and _IS_ONE_NAME.fullmatch(found[1]):
            return found[1]
    return ""
