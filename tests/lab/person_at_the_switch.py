"""A person who reads the practice switch, and touches its cables, for a step of guided troubleshooting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import racwire_lab
from checks.model.facts import Cluster
from checks.model.investigation import Fared, Step
from checks.model.signs import Sign, SignAt
from racwire_lab.cluster.topology import PortId
from racwire_lab.switch.commands import answer
from racwire_lab.switch.view import PortView, SwitchView

PORT = "PORT"
"""What a printed command has in place of a port that LLDP does not name."""


def switch_of(cluster: Cluster, network: str) -> SwitchView:
    """Return what the switch of a private network has now."""
    lab = racwire_lab.find()
    assert lab
    return lab.read_switch(number_of(cluster, network))


def number_of(cluster: Cluster, network: str) -> int:
    """Return the number of a private network in the practice cluster."""
    known = cluster.network(network)
    assert known
    return int(known.ports[0].interface.removeprefix("eth"))


def shown(cluster: Cluster, step: Step) -> str:
    """Return what the commands of a step at the switch print, as a person pastes it: with the prompt, and the port."""
    (network,) = step.place.networks
    view = switch_of(cluster, network)
    text = ""
    for command in step.commands:
        typed = str(getattr(command, "text", command))
        if step.place.nodes:
            typed = typed.replace(PORT, port_of(view, step.place.nodes[0]).name)
        try:
            printed = answer(view, typed.removeprefix("show ").split())
        except racwire_lab.LabUsageError:
            printed = "                   ^\n% Invalid command at '^' marker.\n"
        text += f"{view.name}# {typed}\n{printed}{view.name}# \n"
    return text


def port_of(view: SwitchView, node: str) -> PortView:
    """Return the port that a node is connected to."""
    return next(port for port in view.ports if port.description.startswith(f"{node}-") and port.is_up)


@dataclass(frozen=True)
class Person:
    """Reads the switch twice, around datagrams, and states which signs are seen."""

    cluster: Cluster
    before: SwitchView
    after: SwitchView

    def sees(self, sign: SignAt) -> bool | None:
        """Whether a sign is seen; None where the switch does not show it."""
        look = _LOOKS.get(sign.sign)
        return None if look is None else look(self, sign)

    def port(self, view: SwitchView, sign: SignAt) -> PortView | None:
        name = f"{sign.node}-"
        found = [port for port in view.ports if sign.node and port.description.startswith(name)]
        return next((port for port in found if port.is_up), found[0] if found else None)

    def grew(self, sign: SignAt, count: Callable[[PortView], int]) -> bool:
        """Whether a counter of the port, or of any port of a whole network, grew."""
        if sign.node:
            then, now = self.port(self.before, sign), self.port(self.after, sign)
            return bool(then and now and count(now) > count(then))
        then_all = {port.number: count(port) for port in self.before.ports}
        return any(count(port) > then_all.get(port.number, 0) for port in self.after.ports)


def _is_dropped(person: Person, sign: SignAt) -> bool:
    """Whether an access list of the place drops packets of the sign."""
    for acl in person.after.acls:
        port = person.port(person.after, sign)
        at = port.name if port else ""
        if acl.port == at and any(_meets(line.rule, sign, person) for line in acl.lines):
            return True
    return False


def _meets(rule: str, sign: SignAt, person: Person) -> bool:
    if not rule.startswith("deny "):
        return False
    words, of = rule.split(), sign.packets
    if words[1] in ("udp", "icmp") and of.protocols and words[1] not in of.protocols:
        return False
    if words[3].startswith("169.254") and of.addresses and "haip" not in of.addresses:
        return False
    if words[3].endswith("/32") and of.addresses and "private" not in of.addresses:
        return False
    return not (words[-1] == "fragments" and of.forms and "fragment" not in of.forms)


def _violated(person: Person, sign: SignAt) -> bool:
    def packets(view: SwitchView) -> int:
        port = person.port(view, sign)
        policed = port.policed if sign.node and port else view.policed
        return policed.violated.packets if policed else 0

    return packets(person.after) > packets(person.before)


def _second_mac(person: Person, sign: SignAt) -> bool:
    number = number_of(person.cluster, sign.network)
    lab = racwire_lab.find()
    assert lab
    known = {_mac(lab, PortId(node, number)) for node in lab.nodes}
    return any(learned.mac not in known for learned in person.after.macs)


def _mac(lab: racwire_lab.Lab, port: PortId) -> str:
    from racwire_lab.cluster.layer2 import mac

    return mac(port, frozenset(lab.faults))


def _trunk(person: Person, is_it: Callable[[PortView], bool]) -> bool:
    return any(port.is_trunk and is_it(port) for port in person.after.ports)


def _members(person: Person) -> tuple[PortView, ...]:
    return person.after.channel.ports if person.after.channel else ()


_LOOKS: Mapping[Sign, Callable[[Person, SignAt], bool]] = {
    Sign.PORT_CRC: lambda p, s: p.grew(s, lambda port: port.crc),
    Sign.PORT_DISCARDS: lambda p, s: p.grew(s, lambda port: port.discards),
    Sign.PORT_MTU: lambda p, s: (port := p.port(p.after, s)) is not None and port.mtu < 9000,
    Sign.PORT_DOWN: lambda p, s: (port := p.port(p.after, s)) is not None and not port.is_up,
    Sign.PORT_ACL: _is_dropped,
    Sign.PORT_POLICED: _violated,
    Sign.SECOND_MAC: _second_mac,
    Sign.PORT_VLAN: lambda p, s: False,
    Sign.PORT_BLOCKED: lambda p, s: False,
    Sign.PAUSED: lambda p, s: False,
    Sign.TRUNK_MTU: lambda p, s: _trunk(p, lambda port: port.mtu < 9000),
    Sign.TRUNK_DOWN: lambda p, s: _trunk(p, lambda port: not port.is_up),
    Sign.SWITCH_MTU: lambda p, s: all(port.mtu < 9000 for port in p.after.ports),
    Sign.MEMBER_DOWN: lambda p, s: any(port.number not in (p.after.channel.bundled if p.after.channel else ()) for port in _members(p)),
    Sign.MEMBER_CRC: lambda p, s: any(
        port.crc > then.crc for port in _members(p) for then in p.before.ports if then.number == port.number
    ),
    Sign.MEMBER_MTU: lambda p, s: any(port.mtu < 9000 for port in _members(p)),
    Sign.FABRIC: lambda p, s: p.after.fabric_drops > p.before.fabric_drops,
}


def by_hand(step: Step, network: int, lost: Callable[[str], bool]) -> Iterable[Sign]:
    """Do a step by hand, and take it back; yield the sign of what was seen. `lost` sends to and from a node, and says
    whether packets were lost."""
    lab = racwire_lab.find()
    assert lab
    node, *other = step.place.nodes
    match step.declared:
        case "swap-cable":
            lab = lab.hand("swap-cable", [node, *other], network)
            went = not lost(node) and lost(other[0])
            lab.hand_back()
            if went:
                yield Sign.WITH_CABLE
        case "move-port":
            lab = lab.hand("move-port", [node], network)
            ended = not lost(node)
            lab.hand_back()
            if ended:
                yield Sign.WITH_PORT
        case _:
            raise AssertionError(step.declared)


def is_lossy(fared: Iterable[Fared]) -> bool:
    """Whether packets of a step were lost."""
    return any(one is not Fared.NONE_LOST for one in fared)
