"""Does a second host answer for a private address?"""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.check import Kind, check
from checks.model.facts import AddressProbe, AddressProbes, Cluster, NotGathered, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import counted, listed
from checks.plugins.shared.grouping import some
from checks.rules.observed.states import read_at, state

ONE_OWNER = Kind("IC-OWNER-001", "No second host answers for the private addresses")
SECOND = Kind(
    "IC-OWNER-002",
    "A second host answers for a private address",
    "Two hosts have the address. Each neighbour sends to the one whose answer it received last, so packets for the "
    "node reach another host, in turn.",
    ("RFC 5227",),
)
NOT_PROBED = Kind("IC-OWNER-003", "Second owners of private addresses were not looked for")


@check(
    "address-owners",
    question="Does a second host answer for a private address?",
    needs=("nodes", "networks"),
    uses=("owners",),
    kinds=(ONE_OWNER, SECOND, NOT_PROBED),
)
def address_owners(cluster: Cluster) -> Iterator[Finding]:
    """Sends ARP probes for each private address of the cluster, from this node, and compares who answers.

    A probe (RFC 5227) has the sender address 0.0.0.0 and changes no neighbour table; racwire sends two for each address
    and no announcement. An answer from another NIC of the same node is no second owner: see the check neighbours.
    The probes need CAP_NET_RAW, which root has.
    """
    found = cluster.owners
    if not isinstance(found, AddressProbes):
        is_off = isinstance(found, NotGathered)
        yield NOT_PROBED.finding(
            Status.SKIPPED if is_off else Status.UNKNOWN,
            "This run sent no ARP probes." if is_off else f"ARP probes could not be sent: {found.reason}",
            subject="no probes",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )
        return
    if isinstance(found.probes, Unknown):
        yield NOT_PROBED.finding(
            Status.SKIPPED,
            f"Second owners of private addresses were not looked for: {found.probes.reason}.",
            subject="not allowed",
            evidence=[(found.node, "arp probes")],
            next=[Remedy("Run the check as root, or look by hand.", ("racwire check address-owners",), "root")],
        )
        return
    if not found.probes:
        yield NOT_PROBED.finding(
            Status.SKIPPED,
            f"{found.node} has no Ethernet port with IPv4 on a private network, so no ARP probe was sent.",
            subject="no port",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )
        return
    yield from _of_ipv6(cluster)
    doubles = [(probe, macs) for probe in found.probes if (macs := _strange(cluster, probe))]
    for probe, macs in doubles:
        yield _second(cluster, found.node, probe, macs)
    if not doubles:
        sent = sum(p.sent for p in found.probes)
        yield ONE_OWNER.finding(
            Status.PASS,
            f"No second host answered the {counted(sent, 'ARP probe')} of {found.node} for the {len(found.probes)} "
            "addresses of private networks.",
            subject=f"{len(found.probes)} probed",
            seen=some([f"{p.ip} of {p.node}: {listed(p.macs) or 'no answer'}" for p in found.probes]),
            evidence=[(found.node, "arp probes")],
            observed=read_at(ONE_OWNER.code, [(p.node, p.network) for p in found.probes]),
        )


def _of_ipv6(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for the networks that ARP does not serve."""
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    names = [network.name for network in networks if ":" in network.subnet and network.ports]
    if names:
        yield NOT_PROBED.finding(
            Status.SKIPPED,
            f"Second owners on {listed(names)} were not looked for: these are IPv6 addresses, and ARP is for IPv4.",
            subject=f"{listed(names)}: IPv6",
            network=names[0] if len(names) == 1 else "",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )


def _strange(cluster: Cluster, probe: AddressProbe) -> list[str]:
    """Return the MAC addresses that answered and are not of the owner's NICs."""
    node = cluster.node(probe.node)
    own = {interface.mac_address.casefold() for interface in node.interfaces} if node else set()
    return [mac for mac in probe.macs if node and mac.casefold() not in own]


def _second(cluster: Cluster, sender: str, probe: AddressProbe, macs: list[str]) -> Finding:
    of_nodes = [
        f"{interface.name} of {node.name}"
        for node in cluster.read_nodes()
        for interface in node.interfaces
        if interface.mac_address.casefold() in macs
    ]
    who = listed(of_nodes) if of_nodes else f"the NIC {listed(macs)}"
    owner = cluster.node(probe.node)
    own = next((i for i in (owner.interfaces if owner else ()) if any(a.ip == probe.ip for a in i.addresses)), None)
    has = f"{own.name} of {probe.node} has {own.mac_address}" if own else f"{probe.node} has the address"
    return SECOND.finding(
        Status.FAIL,
        f"A second host answers for {probe.ip} of {probe.node} on {probe.network}: {who}.",
        subject=f"{probe.ip}: {listed(macs)}",
        data={"address": probe.ip, "mac": macs[0]},
        seen=(f"{sender} sent {counted(probe.sent, 'ARP probe')}: answers from {listed(probe.macs)}", has),
        expected=(f"Answers from the NICs of {probe.node}",),
        next=[
            Remedy(
                "Repeat the probe by hand.",
                (f"arping -D -c 3 -I {probe.interface} {probe.ip}",),
                f"root on {sender}",
            ),
            Remedy(
                f"Ask the network team for the switch port that learned {listed(macs)}.",
                tuple(f"show mac address-table address {mac}" for mac in macs),
                "the network team, on the switch",
            ),
        ],
        evidence=[(sender, "arp probes"), (probe.node, "interfaces")],
        network=probe.network,
        nodes=[probe.node],
        extent=(len(macs), "hosts"),
        observed=[state(SECOND.code, probe.node, probe.network, own.name if own else "", probe.ip)],
    )
