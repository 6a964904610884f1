"""Causes below the NIC of a node and above its switch port: hypervisors, clouds, tunnels; and filters of HAIP."""

from __future__ import annotations

from checks.diagnosis.cause import At, Cause, CauseForm, Way, look, mos
from checks.diagnosis.fitting_places import below_nics, in_tunnel, of_haip
from checks.diagnosis.touches import FULL, MESSAGES, touch
from checks.model.facts import Cluster
from checks.model.hypothesis import How
from checks.model.signs import Sign
from checks.model.traffic import Traffic
from checks.rules.below_nics import Below, below


def _has_cables(cluster: Cluster) -> str:
    """Return why nothing can be below the NICs but a cable: it is known of each private port."""
    layers = {below(cluster, network, port.node) for network in cluster.read_networks() for port in network.ports}
    if cluster.unread_nodes() or layers != {Below.CABLE}:
        return ""
    return "The CPUs of the nodes report no hypervisor, and no private NIC is one of a container."


_HAIP = tuple(touch(How.STOPS, way, addresses=("haip",)) for way in Way)

BELOW_NICS = (
    Cause(
        code="CAUSE-67",
        name="A hypervisor, cloud or container host filters the packets of a node",
        patterns=(
            *(touch(How.STOPS, way) for way in Way),
            *(touch(How.STOPS, way, protocols=("udp",)) for way in Way),
            *(touch(How.STOPS, way, protocols=("udp",), sizes=MESSAGES) for way in Way),
            touch(How.STOPS, Way.TO, protocols=("icmp",)),
            *(touch(How.STOPS, way, forms=("fragment",)) for way in Way),
        ),
        at=(At.NODE, At.PATH),
        fits=below_nics,
        excluded_by=("IC-PATH-001", "IC-FLOW-001"),
        covers="for the pings and datagrams of this run",
        ruled_out=_has_cables,
        kinds=(CauseForm(signs=(Sign.HOST_FILTER,)),),
        further_sources=(mos(8), "VMware vSphere Security, MAC address changes and forged transmits"),
        look=(
            *look("Read the kind and the MAC address of the NIC.", "ip -details link show ETH"),
            *look(
                "Capture on both nodes: what leaves one and does not reach the other vanishes between them. Then ask "
                "the operators of the hypervisor, cloud or container host for the policies of the NIC: MAC address "
                "changes, forged transmits, spoof check, source/destination check, security lists.",
                "timeout 30 tcpdump -p -c 50 -s 96 -nei ETH udp",
                where="root on each node",
            ),
        ),
    ),
    Cause(
        code="CAUSE-68",
        name="A tunnel below the NICs leaves less room than their MTU",
        patterns=tuple(touch(How.STOPS, way, sizes=FULL) for way in Way),
        at=(At.NODE, At.PATH, At.SIDES, At.NETWORK),
        fits=in_tunnel,
        kinds=(CauseForm(may_show=(Sign.TUNNEL,)),),
        further_sources=(mos(5), "RFC 7348", "RFC 7637", "RFC 8926"),
        supported_by=("IC-PATH-033",),
        excluded_by=("IC-PATH-001",),
        covers="for the flows of these pings",
        look=look(
            "Find out which size still passes. Then ask the operators of the hypervisor, cloud or container host which "
            "tunnel carries the private network, and for the MTU of the network below it.",
            "racwire check df-ping",
            where="",
        ),
    ),
    Cause(
        code="CAUSE-69",
        name="Something on the way drops packets of HAIP's range, 169.254.0.0/16",
        beside=Traffic(addresses=("private",)),
        patterns=(touch(How.STOPS, addresses=("haip",)),),
        at=(At.NODE, At.PATH, At.NETWORK),
        fits=of_haip,
        kinds=(
            CauseForm(name="node", at=(At.NODE,), patterns=_HAIP, signs=(Sign.NODE_RULE,), is_above_nic=True),
            CauseForm(
                name="switch port", at=(At.NODE,), patterns=_HAIP, signs=(Sign.PORT_ACL,), may_show=(Sign.WITH_PORT,)
            ),
            CauseForm(name="network", at=(At.NETWORK,), signs=(Sign.PORT_ACL,)),
            CauseForm(name="on the way", at=(At.PATH,), may_show=(Sign.PORT_ACL,)),
        ),
        further_sources=("MOS 1210883.1", "RFC 3927, 7"),
        supported_by=("IC-HAIP-010",),
        excluded_by=("IC-HAIP-001",),
        covers="for the HAIP addresses that the instances use",
        look=look(
            "Ping between the HAIP addresses, and capture them at both ends.",
            "racwire check haip-path",
            "ip neigh show to HAIP_ADDRESS",
        ),
    ),
)
