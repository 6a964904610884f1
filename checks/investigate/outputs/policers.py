"""Policers and queues of classes: `show policy-map interface` of IOS-XE and NX-OS, `show firewall` of Junos."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock
from checks.investigate.outputs.port_names import is_port, port_in, port_name
from checks.model.pasted import DeviceSystem, PastedOutput, PortReading

_PORT = re.compile(r"\s*(?:[Ii]nterface )?(\S{2,40}(?: [0-9][0-9/]{0,12})?)\s*")
_POLICY = re.compile(r"\s*Service-policy(?: \(\w{1,10}\))? ?(input|output)?\s?:\s*(\S{1,80})?.{0,40}", re.IGNORECASE)
_CLASS = re.compile(r"\s*Class-map ?(?:\(\w{1,10}\))? ?: *(\S{1,80})\b.{0,60}", re.IGNORECASE)
_PRIORITY_QUEUE = re.compile(r"\s*queue stats for all priority classes:\s*")
_RESULT = re.compile(
    r"\s*(conformed|exceeded|violated) ([0-9]{1,20}) (packets|bytes)(?:, +([0-9]{1,20}) bytes)?(?:, +\S{1,20} bps)?;? *"
    r"(?:actions?: *(\S{1,40})?)?.{0,60}"
)
_BARE_DROP = re.compile(r"\s*drop\s*")
_BPS = re.compile(r"\s*(?:conformed|exceeded|violated) \S{1,20} bps\b.*")
_DEPTHS = re.compile(
    r"\s*\(?(?:queue )?depth/total drops/no-buffer drops(?:/flowdrops)?\)"
    r" ([0-9]{1,20})/([0-9]{1,20})/([0-9]{1,20}).{0,24}"
)
_CATALYST_DROPS = re.compile(r"\s*\(total drops\) ([0-9]{1,20})\s*")
_PRIORITY_DROPS = re.compile(r"\s*Priority: .{1,60}b/w exceed drops: ([0-9]{1,20})\s*")
_NEXUS_DROPS = re.compile(r"\s*queue dropped pkts ?: *([0-9]{1,20})\s*", re.IGNORECASE)


@dataclass
class _Open:
    """A port whose policies are being read."""

    name: str
    direction: str = ""
    classes: list[tuple[int, str]] = field(default_factory=list)
    """The class that is being read, after those whose policy it is in, each with its indentation."""
    last: tuple[int, str] | None = None
    """The number and the unit of `exceeded` or `violated`, whose action follows."""
    queue_drops: dict[str, int] = field(default_factory=dict)
    queue_octets: dict[str, int] = field(default_factory=dict)
    policer_drops: dict[str, int] = field(default_factory=dict)
    policer_octets: dict[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """`input voice`, `output all/voice` of a policy within the class `all`."""
        return f"{self.direction} {'/'.join(name for _, name in self.classes)}".strip()

    def enter(self, indent: int, name: str) -> None:
        """Enter a class, and leave those that are not indented less."""
        self.classes = [(least, one) for least, one in self.classes if least < indent] + [(indent, name)]
        self.last = None

    def policed(self, number: int, unit: str) -> None:
        """Add what the policer of the class dropped."""
        kept = self.policer_drops if unit == "packets" else self.policer_octets
        kept[self.label] = kept.get(self.label, 0) + number

    def reading(self, device: str) -> PortReading:
        """Return what was read."""
        return PortReading(
            device=device,
            name=self.name,
            queue_drops=self.queue_drops,
            queue_drop_bytes=self.queue_octets,
            policer_drops=self.policer_drops,
            policer_drop_bytes=self.policer_octets,
        )


def policy_maps(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the classes of the policies of ports. A policer's packets count only where its action is `drop`."""
    asked = port_in(block.words())
    port = _Open(asked)
    done: list[_Open] = []
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        if (begun := _PORT.fullmatch(line)) and is_port(begun[1].replace(" ", "")) and _has_policy(block.lines, at):
            port = _Open(port_name(begun[1].replace(" ", "")))
        elif policy := _POLICY.fullmatch(line):
            if policy[1]:
                port.direction, port.classes = policy[1].casefold(), []
            if port not in done:
                done.append(port)
        elif port not in done:
            continue
        elif class_ := _CLASS.fullmatch(line):
            port.enter(len(line) - len(line.lstrip()), class_[1])
        elif _PRIORITY_QUEUE.fullmatch(line):
            port.enter(len(line) - len(line.lstrip()), "all priority classes")
        elif _BPS.fullmatch(line):
            port.last = None
        elif result := _RESULT.fullmatch(line):
            _result(port, result)
        elif _BARE_DROP.fullmatch(line):
            if port.last:
                port.policed(*port.last)
        elif depths := _DEPTHS.fullmatch(line):
            port.queue_drops[port.label] = max(int(depths[2]), int(depths[3]))
        elif dropped := _NEXUS_DROPS.fullmatch(line):
            port.queue_drops[port.label] = int(dropped[1])
        elif priority := _PRIORITY_DROPS.fullmatch(line):
            port.policer_drops.setdefault(port.label, int(priority[1]))
        elif catalyst := _CATALYST_DROPS.fullmatch(line):
            port.queue_octets[port.label] = int(catalyst[1])
        elif not line.startswith(" "):
            continue
        used.add(at)
    if done:
        is_nexus = any("Class-map (" in block.lines[at] for at in used)
        yield FoundPart(
            output=PastedOutput.POLICERS,
            platform=DeviceSystem.NXOS if is_nexus else DeviceSystem.IOS_XE,
            lines=frozenset(used),
            ports=tuple(port.reading(block.device) for port in done),
        )


def _has_policy(lines: Sequence[str], at: int) -> bool:
    following = [line for line in lines[at + 1 : at + 4] if line.strip()]
    return bool(following) and _POLICY.fullmatch(following[0]) is not None


def _result(port: _Open, found: re.Match[str]) -> None:
    """A policer that drops nothing is a value, too: 0."""
    number, unit, action = int(found[2]), found[3], found[5]
    if found[1] == "conformed":
        port.last = None
        port.policed(0, unit)
    elif action == "drop":
        port.policed(number, unit)
        port.last = None
    else:
        port.last = (number, unit) if not action else None


_JUNOS_FILTER = re.compile(r"\s*Filter: (\S{1,80})\s*")
_JUNOS_HEAD = re.compile(r"\s*Name\s+Bytes\s+Packets\s*")
_JUNOS_ROW = re.compile(r"\s*(\S{1,80})\s+([0-9]{1,20})\s+([0-9]{1,20})\s*")


def junos_policers(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the policers of `show firewall` and `show policer`: the packets that they found above their rate."""
    drops: dict[str, int] = {}
    used: set[int] = set()
    is_policers = "policer" in block.command
    is_headed = False
    for at, line in enumerate(block.lines):
        if line.strip() in ("Policers:", "Counters:"):
            is_policers, is_headed = line.strip() == "Policers:", False
        elif _JUNOS_FILTER.fullmatch(line):
            is_headed = False
        elif _JUNOS_HEAD.fullmatch(line):
            is_headed = True
        elif is_policers and is_headed and (row := _JUNOS_ROW.fullmatch(line)):
            drops[row[1]] = int(row[3])
        else:
            continue
        used.add(at)
    if drops:
        port = PortReading(device=block.device, name=port_in(block.words()), policer_drops=drops)
        yield FoundPart(output=PastedOutput.POLICERS, platform=DeviceSystem.JUNOS, lines=frozenset(used), ports=(port,))
