"""The commands of a practice switch, as they are typed: words that may be cut short, and the ports that they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from racwire_lab.lab_errors import LabUsageError
from racwire_lab.switch import nxos_interface, nxos_tables, nxos_topology
from racwire_lab.switch.view import PortView, SwitchView

_PORT = re.compile(r"(?:e|et|eth|ethe|ether|ethern|etherne|ethernet)?\s?1/(\d+)", re.IGNORECASE)
_CHANNEL = re.compile(r"po(?:rt-channel)?\s?\d+", re.IGNORECASE)


_Answers = Callable[[SwitchView, Sequence[PortView]], Iterator[str]]


def _interfaces(switch: SwitchView, ports: Sequence[PortView]) -> Iterator[str]:
    for port in ports:
        yield from nxos_interface.interface(switch, port)
    if switch.channel and len(ports) in (0, len(switch.ports)):
        yield from nxos_interface.channel_interface(switch, switch.channel)


def _each(of_port: Callable[[PortView], Iterator[str]]) -> _Answers:
    return lambda _, ports: (line for port in ports for line in of_port(port))


def _whole(
    of_switch: Callable[[SwitchView], Iterator[str]],
) -> _Answers:
    return lambda switch, _: of_switch(switch)


_COMMANDS: Mapping[str, _Answers] = {
    "interface": _interfaces,
    "interface counters errors": nxos_tables.counters_errors,
    "interface status": nxos_topology.status,
    "interface trunk": nxos_topology.trunks,
    "interface switchport": nxos_topology.switchport,
    "interface transceiver details": _each(nxos_topology.transceiver),
    "queuing interface": _each(nxos_tables.queuing),
    "policy-map interface": _each(nxos_tables.policy_map),
    "policy-map": _whole(nxos_tables.vlan_policy),
    "policy-map vlan": _whole(nxos_tables.vlan_policy),
    "access-lists": lambda switch, _: nxos_tables.access_lists(switch.acls),
    "access-lists summary": _whole(nxos_tables.access_lists_summary),
    "running-config": nxos_tables.running,
    "running-config interface": nxos_tables.running,
    "mac address-table": _whole(nxos_tables.mac_table),
    "spanning-tree": _whole(nxos_topology.spanning_tree),
    "spanning-tree interface": nxos_topology.spanning_tree_interface,
    "hardware internal errors": _whole(nxos_topology.internal_errors),
    "port-channel summary": _whole(nxos_topology.port_channel_summary),
    "lacp counters": _whole(nxos_topology.lacp_counters),
    "lacp neighbor": _whole(nxos_topology.lacp_neighbor),
    "vpc": _whole(nxos_topology.vpc),
}
COMMANDS = tuple(_COMMANDS)
"""What follows `show`."""


def answer(switch: SwitchView, words: Sequence[str]) -> str:
    """Return what the switch prints for `show WORDS`. Raises LabUsageError for what it does not know."""
    text, _, pattern = " ".join(words).partition("|")
    plain, ports = _without_ports(text.split(), switch)
    command = _command(plain)
    lines = list(_COMMANDS[command](switch, ports))
    found = re.fullmatch(r"\s*(?:i|inc|include|grep)\s+(.+)", pattern)
    try:
        kept = [line for line in lines if re.search(found[1].strip("\"'"), line)] if found else lines
    except re.error as error:
        raise LabUsageError(f"{found[1] if found else ''} is no regular expression: {error}.") from None
    return "".join(f"{line}\n" for line in kept)


def _without_ports(words: Sequence[str], switch: SwitchView) -> tuple[list[str], Sequence[PortView]]:
    """The words that name no port, VLAN or aggregation; and the ports: all where none is named."""
    plain: list[str] = []
    ports: list[PortView] = []
    known = {port.number: port for port in switch.ports}
    is_channel = False
    for word in words:
        if found := _PORT.fullmatch(word):
            number = int(found[1])
            if number not in known:
                names = ", ".join(port.name for port in switch.ports)
                raise LabUsageError(f"{switch.name} has no port {word}: choose one of {names}.")
            ports.append(known[number])
        elif _CHANNEL.fullmatch(word):
            is_channel = True
        elif not word.isdecimal():
            plain.append(word)
    return plain, ports or ([] if is_channel else switch.ports)


def _command(words: Sequence[str]) -> str:
    """The command that these words abbreviate: `int count err` is `interface counters errors`."""
    if words and words[-1] == "vlan" and len(words) > 1 and not "policy-map".startswith(words[0]):
        words = words[:-1]
    for command in _COMMANDS:
        parts = command.split()
        if len(parts) == len(words) and all(p.startswith(w.lower()) for p, w in zip(parts, words, strict=True)):
            return command
    raise LabUsageError(
        f"The practice switch does not know `show {' '.join(words)}`: it knows show {', show '.join(COMMANDS)}."
    )
