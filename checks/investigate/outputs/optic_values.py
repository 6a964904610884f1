"""Light and temperature of transceivers: `ethtool -m`, `show interfaces diagnostics optics` of Junos, `show interface
transceiver details` of NX-OS and IOS-XE."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.nic_counters import option_values
from checks.investigate.outputs.pasted_text import PasteBlock
from checks.investigate.outputs.port_names import is_port, port_in, port_name
from checks.model.pasted import DeviceSystem, OpticLane, OpticLimits, PastedOutput, PortReading

_DBM = re.compile(r"(-?[0-9]{1,3}(?:\.[0-9]{1,4})?|-inf) ?dBm")
_VALUE = re.compile(r"\s*(\S.{0,60}?) *: +(\S.{0,60}?)\s*")
_LANE = re.compile(r"[Cc]hannel ([0-9]{1,2})|\bLane ([0-9]{1,2})")
_CELSIUS = re.compile(r"(-?[0-9]{1,3}(?:\.[0-9]{1,2})?) ?(?:degrees )?C\b")
_MODULE = re.compile(r"\s*Identifier +:")
_JUNOS_PORT = re.compile(r"\s*Physical interface: ([\w/:.-]{1,40})\s*")
_JUNOS_LANE = re.compile(r"\s*Lane ([0-9]{1,2})\s*")
_RECEIVED = ("receiver signal", "rcvr signal", "laser receiver power", "rx power", "laser rx power")
_SENT = ("laser output power", "transmit avg optical power", "laser tx power")
_LIMITS: Mapping[tuple[str, str], str] = {
    ("rx", "low alarm threshold"): "rx_least_dbm",
    ("rx", "high alarm threshold"): "rx_most_dbm",
    ("tx", "low alarm threshold"): "tx_least_dbm",
    ("tx", "high alarm threshold"): "tx_most_dbm",
}


@dataclass
class _Module:
    """A transceiver that is being read."""

    name: str
    lane: int = 1
    rx: dict[int, float] = field(default_factory=dict)
    tx: dict[int, float] = field(default_factory=dict)
    limits: dict[str, float] = field(default_factory=dict)
    celsius: float | None = None

    def reading(self, device: str) -> PortReading | None:
        """Return what was read; None where it has no light."""
        lanes = tuple(
            OpticLane(lane=n, rx_dbm=self.rx.get(n), tx_dbm=self.tx.get(n)) for n in sorted({*self.rx, *self.tx})
        )
        if not lanes:
            return None
        limits = OpticLimits(**self.limits)
        return PortReading(device=device, name=self.name, optics=lanes, limits=limits, celsius=self.celsius)

    def take(self, name: str, value: str) -> bool:
        """Take one line; return whether it is one of a transceiver."""
        name = name.casefold()
        kind = "rx" if name.startswith(_RECEIVED) else "tx" if name.startswith(_SENT) else ""
        if name.startswith("module temperature"):
            found = _CELSIUS.search(value)
            if found and name == "module temperature":
                self.celsius = float(found[1])
            elif found and name.endswith("high alarm threshold"):
                self.limits["most_celsius"] = float(found[1])
            return True
        if not kind:
            return False
        dbm = _DBM.search(value)
        if dbm is None:
            return True
        # No light at all: the least that a transceiver can tell (SFF-8472, 0.1 uW).
        power = -40.0 if dbm[1] == "-inf" else float(dbm[1])
        limit = next((key for (of, end), key in _LIMITS.items() if of == kind and name.endswith(end)), None)
        if limit:
            self.limits[limit] = power
        elif "threshold" not in name and "alarm" not in name and "warning" not in name:
            lane = _LANE.search(name)
            number = int(lane[1] or lane[2]) if lane else self.lane
            (self.rx if kind == "rx" else self.tx)[number] = power
        return True


def optic_values(block: PasteBlock) -> Iterator[FoundPart]:
    """Find what `ethtool -m` and Junos print: a name and a value in each line."""
    asked = option_values(block.words(), "-m", "--module-info")
    starts = [at for at, line in enumerate(block.lines) if _MODULE.match(line)]
    names = dict(zip(starts, asked, strict=True)) if len(asked) == len(starts) > 1 else {}
    module = _Module(asked[0] if len(asked) == 1 else "" if asked else port_in(block.words()))
    modules = [module]
    used: set[int] = set()
    is_junos = False
    for at, line in enumerate(block.lines):
        if at in names:
            module = _Module(names[at])
            modules.append(module)
        if begun := _JUNOS_PORT.fullmatch(line):
            module, is_junos = _Module(begun[1]), True
            modules.append(module)
        elif lane := _JUNOS_LANE.fullmatch(line):
            module.lane = int(lane[1]) + 1
        elif (found := _VALUE.fullmatch(line)) and module.take(found[1], found[2]):
            used.add(at)
    if used and (ports := tuple(port for one in modules if (port := one.reading(block.device)))):
        # The whole output: what a transceiver is, and its flags, belong to it.
        used = set(range(min(used), max(used) + 1)) | {
            i for i, line in enumerate(block.lines) if _VALUE.fullmatch(line)
        }
        platform = DeviceSystem.JUNOS if is_junos else DeviceSystem.LINUX
        yield FoundPart(output=PastedOutput.OPTICS, platform=platform, lines=frozenset(used), ports=ports)


_CISCO_PORT = re.compile(r"\s*(\S{3,40})\s*")
_CISCO_LANE = re.compile(r"\s*Lane Number:\s*([0-9]{1,2})\b.{0,60}")
_NUMBER = r"(-?[0-9]{1,3}(?:\.[0-9]{1,2})?|N/A|--)"
_CISCO_ROW = re.compile(
    rf"\s*(Temperature|Tx Power|Rx Power)\s+{_NUMBER} ?(?:C|dBm)?\s*(?:--|\+\+|-|\+)?\s+{_NUMBER} ?(?:C"
    rf"|dBm)?\s+{_NUMBER} ?(?:C|dBm)?\b.{{0,60}}"
)


def cisco_optics(block: PasteBlock) -> Iterator[FoundPart]:
    """Find `show interface transceiver details` of NX-OS: value, high and low alarm in one row."""
    modules: list[_Module] = []
    named = port_in(block.words())
    used: set[int] = set()
    for at, line in enumerate(block.lines):
        if (begun := _CISCO_PORT.fullmatch(line)) and is_port(begun[1]):
            modules.append(_Module(port_name(begun[1])))
        elif lane := _CISCO_LANE.fullmatch(line):
            if modules:
                modules[-1].lane = int(lane[1])
        elif row := _CISCO_ROW.fullmatch(line):
            modules = modules or [_Module(named)]
            _row(modules[-1], row)
            used.add(at)
    if used and (ports := tuple(port for one in modules if (port := one.reading(block.device)))):
        used = set(range(max(0, min(used) - 30), max(used) + 1))
        yield FoundPart(output=PastedOutput.OPTICS, platform=DeviceSystem.NXOS, lines=frozenset(used), ports=ports)


def _row(module: _Module, row: re.Match[str]) -> None:
    value, high, low = (None if text in ("N/A", "--") else float(text) for text in row.groups()[1:])
    if row[1] == "Temperature":
        module.celsius = value
        module.limits |= {} if high is None else {"most_celsius": high}
        return
    kind = row[1][:2].casefold()
    if value is not None:
        (module.rx if kind == "rx" else module.tx)[module.lane] = value
    module.limits |= {} if high is None else {f"{kind}_most_dbm": high}
    module.limits |= {} if low is None else {f"{kind}_least_dbm": low}
