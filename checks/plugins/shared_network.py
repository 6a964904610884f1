"""Does storage, backup or copying use the private networks?"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import InfoKind, PassKind, UnknownKind, WarnKind, check
from checks.model.facts import Cluster, PrivateNetwork, PrivateUse, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.networks import subnet_of
from checks.model.shell_command import for_each
from checks.model.wording import counted
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import HOST_TOPIC, not_known_findings, parts_of, skipped_without_hosts
from checks.rules.engineered import is_engineered
from checks.rules.observed.states import read_on, state, states

_SOURCES = ("MOS 563566.1, cause 6", "Grid Infrastructure Installation Guide, private networks")
_WHY = (
    "Large transfers fill the queues of the NICs and the switch ports, and blocks wait behind them or are dropped. The "
    "private networks are for the instances and Clusterware."
)
ALONE = PassKind("IC-SHARE-001", "No storage, backup or copying was seen on the private networks")
SHARED = WarnKind("IC-SHARE-002", "Storage, backup or copying uses a private network", _WHY, _SOURCES)
BY_DESIGN = InfoKind("IC-SHARE-003", "Storage uses the private network, as the vendor built the system")
NOT_KNOWN = UnknownKind("IC-SHARE-004", "Other users of the private networks are not known")


@dataclass(frozen=True)
class _Use:
    node: str
    use: PrivateUse

    @property
    def line(self) -> str:
        use = self.use
        if use.mount:
            return f"{self.node}: {use.service} at {use.mount} from {use.remote_ip}"
        amount = counted(use.connections, "connection")
        return f"{self.node}: {use.service}, {amount} between {use.local_ip} and {use.remote_ip}"


@check(
    "shared-network",
    question="Do the instances have the private networks to themselves?",
    needs=("nodes", "networks", "setups"),
    kinds=(ALONE, SHARED, BY_DESIGN, NOT_KNOWN),
)
def shared_network(cluster: Cluster) -> Iterator[Finding]:
    """Searches the TCP connections and the mounts of each node for storage, backup and copies on private addresses.

    The check knows NFS, SMB, iSCSI, NVMe over TCP, rsync, NetBackup, Commvault, Spectrum Protect and iperf3 by their
    ports. Each on a private network is a warning; on an engineered system, whose storage is on the same network, it is
    reported for information. Users of the network outside the nodes do not show here.
    """
    if isinstance(cluster.networks, Unknown):
        return
    known, unknown = parts_of(cluster, lambda host: host.others)
    found = False
    for network in cluster.networks:
        uses = [_Use(node, use) for node, all_ in known.items() for use in all_ if _is_on(network, use)]
        for same in alike(uses, lambda one: one.use.service):
            found = True
            yield _shared(cluster, network, same)
    if known and not found:
        yield ALONE.finding(
            f"{named(known, 'node')} {'has' if len(known) == 1 else 'have'} no connection and no mount of storage, "
            "backup or copying on a private network.",
            subject="no other users",
            evidence=[(node, HOST_TOPIC) for node in known],
            observed=read_on(ALONE.code, known),
        )
    yield from not_known_findings(NOT_KNOWN, "Other users of the private networks on {} are", unknown, "shared-network")
    if not known and not unknown:
        yield skipped_without_hosts(ALONE)


def _is_on(network: PrivateNetwork, use: PrivateUse) -> bool:
    subnet = subnet_of(network.subnet)
    for text in (use.local_ip, use.remote_ip):
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            continue
        if subnet is not None and (address == subnet if not isinstance(subnet, _NETWORKS) else address in subnet):
            return True
    return False


_NETWORKS = (ipaddress.IPv4Network, ipaddress.IPv6Network)


def _shared(cluster: Cluster, network: PrivateNetwork, uses: Sequence[_Use]) -> Finding:
    nodes, service = list(dict.fromkeys(one.node for one in uses)), uses[0].use.service
    connections, mounts = sum(one.use.connections for one in uses), sum(bool(one.use.mount) for one in uses)
    parts = [counted(connections, "connection")] if connections else []
    parts += [counted(mounts, "mount")] if mounts else []
    what = f"{service} uses the private network {network.name} on {named(nodes, 'node')}, with {' and '.join(parts)}"
    seen, evidence = some([one.line for one in uses]), [(node, HOST_TOPIC) for node in nodes]
    if any(is_engineered(cluster, port.interface) for port in network.ports):
        return BY_DESIGN.finding(
            f"{what}.", subject=f"{network.interface}: {service}", seen=seen, evidence=evidence,
            network=network.name, nodes=nodes, observed=states(BY_DESIGN.code, nodes, network.name),
        )  # fmt: skip
    return SHARED.finding(
        f"{what}.",
        subject=f"{network.interface} {briefly(nodes, 'node')}: {service}",
        data={"service": service, "connections": connections, "mounts": mounts},
        seen=seen,
        expected=("Storage, backup and copies over the public network or one of their own",),
        next=[
            NextStep(
                "Find the processes.",
                for_each("ss -tnp dst {to}", to=(one.use.remote_ip for one in uses[:3])),
                f"root on {named(nodes, 'node')}",
            ),
            NextStep(
                "Plan another network for it: an address of the server outside the private subnets, and the mounts or "
                "jobs changed to that address."
            ),
        ],
        evidence=evidence,
        network=network.name,
        nodes=nodes,
        extent=(len(uses), "users"),
        observed=[state(SHARED.code, node, network.name, value=service) for node in nodes],
    )
