"""The words of what a session of guided troubleshooting suspects: a cause at a place, and what is seen there.

These texts decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from checks.model.hypothesis import Place
from checks.model.investigation import Suspect
from checks.model.signs import Sign, SignAt
from checks.model.wording import few, listed

NONE_OF_THESE = "none of the causes that racwire knows"

_KINDS = {
    ("CAUSE-01", "cable"): "a bad cable or transceiver",
    ("CAUSE-01", "port"): "a bad switch port",
    ("CAUSE-01", "NIC"): "a bad NIC",
    ("CAUSE-01", "on the way"): "a bad link on the way",
    ("CAUSE-20", "port"): "full buffers of the switch port",
    ("CAUSE-20", "switch"): "full buffers inside the switch",
    ("CAUSE-71", "lossy"): "a link of an aggregation that loses packets",
    ("CAUSE-71", "dead"): "a link of an aggregation that carries nothing",
    ("CAUSE-73", "node's filter"): "a rate limit for UDP in the packet filter of the node",
    ("CAUSE-75", "node"): "a packet filter of the node for pings",
    ("CAUSE-75", "filter of a switch port"): "a filter of the switch port for pings",
    ("CAUSE-75", "policer of a switch port"): "a rate limit of the switch port for pings",
    ("CAUSE-75", "filter of the network"): "a filter inside the network for pings",
    ("CAUSE-75", "policer of the network"): "a rate limit inside the network for pings",
    ("CAUSE-85", "down"): "a switch port that is down",
    ("CAUSE-85", "blocked"): "a switch port that does not forward",
    ("CAUSE-85", "VLAN"): "a switch port in another VLAN",
    ("CAUSE-85", "on the way"): "a switch on the way that does not forward",
}
"""A cause of one kind, where its words and those of the kind do not say it."""
_WHERE = {
    "node": "of the node",
    "port": "of the switch port",
    "switch port": "of the switch port",
    "switch": "of the switch",
    "network": "inside the network",
    "trunk": "between two switches",
    "on the way": "on the way",
}
"""A kind that says where its cause is."""
_CAUSES = {
    "CAUSE-01": "a bad cable, NIC or switch port",
    "CAUSE-05": "another MTU on the way",
    "CAUSE-08": "a packet filter",
    "CAUSE-11": "a bond that is misconfigured or flaps",
    "CAUSE-12": "a small MTU",
    "CAUSE-14": "pause frames that stop a port",
    "CAUSE-16": "receive rings that are too small",
    "CAUSE-18": "a saturated link",
    "CAUSE-20": "full buffers",
    "CAUSE-21": "a quality-of-service limit",
    "CAUSE-22": "a port that spanning tree blocks",
    "CAUSE-34": "a fault of the virtual NIC or the hypervisor",
    "CAUSE-39": "a second host with the same address",
    "CAUSE-64": "a NIC that does not answer ARP",
    "CAUSE-67": "a filter of the hypervisor, cloud or container host",
    "CAUSE-68": "a tunnel below the NICs",
    "CAUSE-69": "a filter for HAIP's addresses",
    "CAUSE-70": "a link of an aggregation that carries no full-size packets",
    "CAUSE-71": "a link of an aggregation that loses packets",
    "CAUSE-72": "a filter for fragments",
    "CAUSE-73": "a rate limit for UDP",
    "CAUSE-74": "HAIP addresses that do not reach each other",
    "CAUSE-75": "a filter or rate limit for pings",
    "CAUSE-80": "two NICs with the same MAC address",
    "CAUSE-82": "crossed cables or VLANs",
    "CAUSE-84": "a link between two switches that carries nothing",
    "CAUSE-85": "a switch port that does not forward",
}
_SIGNS = {
    Sign.PORT_CRC: "the switch port{of} counts damaged frames",
    Sign.NIC_CRC: "the NIC{of} counts damaged frames",
    Sign.WITH_CABLE: "the loss{of} goes with the cable",
    Sign.WITH_PORT: "the loss{of} ends at another switch port",
    Sign.WITH_NIC: "the loss{of} stays with another cable and another port",
    Sign.WITH_MEMBER: "the loss{of} ends while one member is down",
    Sign.NIC_MISSED: "the NIC{of} has no receive buffer free",
    Sign.NEIGHBOURS_FAIL: "neighbour entries{of} fail and return",
    Sign.OPTICS: "the optical power{of} is out of its range",
    Sign.PORT_DISCARDS: "the switch port{of} drops packets from a full queue",
    Sign.PORT_POLICED: "a policer of the switch port{of} drops packets",
    Sign.PORT_ACL: "an access list of the switch port{of} drops packets",
    Sign.PORT_MTU: "the switch port{of} has a smaller MTU",
    Sign.TRUNK_MTU: "a link between the switches has a smaller MTU",
    Sign.SWITCH_MTU: "the switch has a smaller MTU",
    Sign.PORT_DOWN: "the switch port{of} is down",
    Sign.PORT_BLOCKED: "the switch port{of} does not forward",
    Sign.PORT_VLAN: "the switch port{of} is in another VLAN",
    Sign.TRUNK_DOWN: "a link between the switches carries nothing",
    Sign.MEMBER_DOWN: "a member of the aggregation{of} carries nothing",
    Sign.MEMBER_CRC: "a member of the aggregation{of} counts damaged frames",
    Sign.MEMBER_MTU: "a member of the aggregation{of} has a smaller MTU",
    Sign.SECOND_MAC: "the address{of} is learned at a second port",
    Sign.NODE_RULE: "the packet filter{of} drops packets",
    Sign.NODE_QDISC: "a queue or policer (tc){of} drops packets",
    Sign.NODE_DROPS: "the kernel{of} drops packets",
    Sign.FABRIC: "the switch counts drops inside",
    Sign.PAUSED: "pause frames stop the port{of}",
    Sign.TUNNEL: "a tunnel is below the NIC{of}",
    Sign.HOST_FILTER: "the host of the virtual machine{of} drops packets",
}
_NAMED = 2
"""The most suspects that a sentence names."""


def suspect_text(suspect: Suspect, on: str = "") -> str:
    """Return `a bad switch port at rac2, 192.168.11.0/24`. The network `on` is known to the reader, and left out."""
    return f"{suspect_name(suspect)} {place_text(suspect.place, on)}".rstrip()


def suspects_in_short(suspects: Sequence[Suspect], on: str = "") -> str:
    """Return `a bad cable or a bad switch port at rac2, 192.168.11.0/24`: each place once; of many, the first ones and
    the number of the others."""
    if not suspects:
        return NONE_OF_THESE
    groups = _by_place(suspects, on)
    if len(groups) > _NAMED:
        return few((suspect_text(suspect, on) for suspect in suspects), _NAMED)
    return "; or ".join(f"{_in_short(names)} {place}".rstrip() for place, names in groups.items())


def suspects_by_place(suspects: Sequence[Suspect], on: str = "") -> tuple[str, ...]:
    """Return `at rac2, 192.168.11.0/24: a bad cable, a bad switch port` for each place."""
    groups = _by_place(suspects, on)
    return tuple(f"{place or 'on the whole network'}: {', '.join(names)}" for place, names in groups.items())


def network_of(suspects: Iterable[Suspect]) -> str:
    """Return the network that all of them are on; empty where they are on several."""
    networks = {network for suspect in suspects for network in suspect.place.networks}
    return networks.pop() if len(networks) == 1 else ""


def suspect_names(suspects: Iterable[Suspect]) -> tuple[str, ...]:
    """Return the names of suspects without their places, each once."""
    return tuple(dict.fromkeys(map(suspect_name, suspects)))


def names_in_short(suspects: Sequence[Suspect]) -> str:
    """Return `a bad cable or a bad switch port`, without their places."""
    return _in_short(suspect_names(suspects)) or NONE_OF_THESE


def _by_place(suspects: Iterable[Suspect], on: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for suspect in suspects:
        names = groups.setdefault(place_text(suspect.place, on), [])
        if (name := suspect_name(suspect)) not in names:
            names.append(name)
    return groups


def _in_short(names: Sequence[str]) -> str:
    return listed(names, "or") if len(names) <= _NAMED + 1 else few(names, _NAMED)


def place_text(place: Place, on: str = "") -> str:
    """Return `at rac2, 192.168.11.0/24`, `from rac1 to rac2, 192.168.11.0/24`; empty where it is not known. The network
    `on` is left out."""
    networks = listed(network for network in place.networks if network != on)
    if place.nodes and place.to:
        where = f"from {few(place.nodes)} to {few(place.to)}"
    elif place.nodes:
        where = f"at {few(place.nodes)}"
    elif place.to:
        where = f"on the way to {few(place.to)}"
    else:
        return f"on {networks}" if networks else "" if place.networks else place.text
    return f"{where}, {networks}" if networks else where


def sign_text(sign: SignAt, on: str = "") -> str:
    """Return `the switch port of rac2 counts damaged frames`, with the network after it unless it is `on`."""
    of = f" of {sign.node}" if sign.node else ""
    where = f" ({sign.network})" if sign.network != on else ""
    return f"{_SIGNS[sign.sign].format(of=of)}{where}"


def suspect_name(suspect: Suspect) -> str:
    """Return the suspect without its place: `a bad cable or transceiver`."""
    if text := _KINDS.get((suspect.cause, suspect.kind)):
        return text
    text = _CAUSES.get(suspect.cause) or f"{suspect.name[:1].lower()}{suspect.name[1:]}"
    return f"{text} {_WHERE.get(suspect.kind, f'({suspect.kind})')}" if suspect.kind else text
