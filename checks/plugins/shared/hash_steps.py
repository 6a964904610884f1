"""Next steps about the hash of UDP of private NICs, and lines about it, as `rules/flow_hash.py` decides."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.facts import Cluster, NicDriver, Unknown
from checks.model.finding import NextStep
from checks.model.shell_command import for_each
from checks.plugins.shared.grouping import alike, named, nics_named
from checks.rules.flow_hash import CarryingNic, PortsInHash, carrying_nics, ports_in_hash

_SENTENCES = {
    PortsInHash.PRESENT: "The hash of UDP of {} has the ports already.",
    PortsInHash.UNFIT: "Leave the ports out of the hash of UDP (no `sdfn`) of {} while blocks travel in fragments, "
    "which have none.",
    PortsInHash.APART: "The hash of UDP of {} has the ports (`sdfn`) although blocks travel in fragments, which have "
    "none.",
    PortsInHash.BY_SENDER: "For {} the hash of the sender decides (hv_netvsc): no `sdfn` there while blocks travel in "
    "fragments.",
    PortsInHash.NOT_OFFERED: "A hash of UDP is not offered by {}.",
    PortsInHash.NOT_KNOWN: "Whether the hash of UDP of {} may have the ports is not known (no `sdfn` then).",
}


_ADD, _TAKE_OUT = "ethtool -N {nic} rx-flow-hash udp4 sdfn", "ethtool -N {nic} rx-flow-hash udp4 sd"


def spread_text(cluster: Cluster, nodes: Sequence[str]) -> str:
    """Return what is known of the ports in the hashes of these nodes, where they are not to be added."""
    nics = carrying_nics(cluster, nodes)
    found = alike(nics, lambda nic: ports_in_hash(cluster, nic))
    texts = [
        _SENTENCES[verdict].format(_names(same))
        for same in found
        if (verdict := ports_in_hash(cluster, same[0])) in _SENTENCES
    ]
    return (
        " ".join(texts)
        if nics
        else "Leave the ports out of the hash of UDP (no `sdfn`): the private NICs are not known."
    )


def spread_steps(cluster: Cluster, nodes: Sequence[str]) -> list[NextStep]:
    """Return the steps that add the ports to the hash where no fragment arrives."""
    fit = [nic for nic in carrying_nics(cluster, nodes) if ports_in_hash(cluster, nic) is PortsInHash.FIT]
    return [
        _change(same, "Add the ports to the hash of UDP: no fragment arrived there in this run.", _ADD)
        for same in _by_node(fit)
    ]


def without_ports(nics: Sequence[CarryingNic]) -> list[NextStep]:
    """Return the steps that take the ports out of the hash of these NICs."""
    return [
        _change(
            same,
            "Take the ports out of the hash of UDP: fragments do not have them. "
            + (
                "On Azure the hash of each sender counts, and UDP in fragments is lost often where it has the ports; "
                f"the packets leave through {_names(same)}."
                if same[0].is_of_hyper_v
                else "Fragments of one packet then stay in one queue."
            ),
            _TAKE_OUT,
        )
        for same in _by_node(nics)
    ]


def hash_lines(nics: Sequence[CarryingNic]) -> list[str]:
    """Return these NICs, whose hash has the ports, a line each."""
    return [f"{nic.node}: {nic.name} {nic.driver} hashes UDP with the ports ({nic.udp_hash})" for nic in nics]


def hash_text(driver: NicDriver) -> str:
    """Return the hash of UDP of a NIC, for a list."""
    if isinstance(driver.udp_hash, Unknown):
        return f"hash of UDP {driver.udp_hash.reason}"
    return (
        "hash of UDP not offered by this NIC"
        if driver.udp_hash is None
        else f"hash of UDP {driver.udp_hash or 'empty'}"
    )


def _by_node(nics: Sequence[CarryingNic]) -> list[list[CarryingNic]]:
    """Return the NICs in groups of nodes on which one command does the same."""
    names = {node: tuple(nic.name for nic in nics if nic.node == node) for node in {nic.node for nic in nics}}
    return [list(same) for same in alike(nics, lambda nic: (names[nic.node], nic.is_of_hyper_v))]


def _change(same: Sequence[CarryingNic], text: str, command: str) -> NextStep:
    commands = for_each(command, nic=(nic.name for nic in same))
    keep = " Keep it in the configuration of the interface: a boot ends it."
    return NextStep(f"{text}{keep}", commands, f"root on {named((nic.node for nic in same), 'node')}", is_change=True)


def _names(nics: Sequence[CarryingNic]) -> str:
    return nics_named([(nic.node, nic.name) for nic in nics], "NIC")
