"""Storage that Oracle itself names: the servers of Direct NFS from its views, and the networks of ASM from oifcfg."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.check import InfoKind, UnknownKind
from checks.model.facts import Cluster, Clusterware, ConfiguredInterface, Database, DnfsServer, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.networks import in_subnet
from checks.model.shell_command import shell
from checks.model.wording import few, listed
from checks.plugins.shared.grouping import alike, briefly, named, some

NOT_KNOWN = UnknownKind("IC-STORE-008", "The packet sizes of connections to storage are not known")
ASM = InfoKind(
    "IC-STORE-009",
    "oifcfg names a network for ASM",
    "Flex ASM uses it: instances, and ACFS through its proxy instances, talk to an ASM instance, which can be on "
    "another node. The messages are about files and their places; the data takes the way of the disks, except through "
    "an I/O server. On a private network these messages share the links with the blocks.",
    ("ASM Administrator's Guide, Oracle Flex ASM", "Clusterware Administration Guide, oifcfg"),
)
_NFS_PORT = 2049
_ROLE = "asm"


def asm_networks(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for the private networks with the role `asm` in `oifcfg getif`, and one for the other ones."""
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware) or isinstance(facts.configuration, Unknown):
        return
    lines = [line for line in facts.configuration.interfaces if _ROLE in line.roles]
    for same in alike(lines, lambda line: line.is_private):
        ports = list(dict.fromkeys(port for line in same for port in _ports(cluster, line)))
        mtus = sorted({mtu for _, _, mtu in ports})
        sizes = f", with MTU {listed(str(mtu) for mtu in mtus)}" if mtus else ""
        places = [f"{line.subnet} on {line.name}" for line in same]
        what, also = ("private network", " too") if same[0].is_private else ("network", "")
        yield ASM.finding(
            f"oifcfg names the {what}{'' if len(same) == 1 else 's'} {few(places, 4)} for ASM{also}{sizes}.",
            subject=f"ASM on {briefly((line.name for line in same), what)}",
            data={
                "interfaces": ", ".join(line.name for line in same),
                "is_private": same[0].is_private,
                "mtu": mtus[0] if len(mtus) == 1 else None,
            },
            seen=(
                *(f"oifcfg getif: {line.name}  {line.subnet}  {line.scope}  {','.join(line.roles)}" for line in same),
                *some([f"{node}: {interface} has MTU {mtu}" for node, interface, mtu in ports]),
            ),
            evidence=[(cluster.local_node, "oifcfg getif"), *((node, "interfaces") for node, _, _ in ports)],
        )


def _ports(cluster: Cluster, line: ConfiguredInterface) -> list[tuple[str, str, int]]:
    """Return node, interface and MTU of each interface in the subnet of a line."""
    return [
        (node.name, interface.name, interface.mtu)
        for node in cluster.read_nodes()
        for interface in node.interfaces
        if any(in_subnet(address, line.subnet) for address in interface.addresses)
    ]


def dnfs_lines(cluster: Cluster) -> list[str]:
    """Return the storage servers of Direct NFS, or why the database did not show them."""
    found = _dnfs(cluster)
    if isinstance(found, Unknown):
        return [f"Direct NFS: not known. {found.reason}"]
    return [f"{name}: Direct NFS to {one.name}, port {one.port or 'not shown'}" for name, one in found]


def dnfs_elsewhere(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for Direct NFS at a port that is not among those whose connections were read."""
    found = _dnfs(cluster)
    servers = [] if isinstance(found, Unknown) else [pair for pair in found if pair[1].port not in (None, _NFS_PORT)]
    for same in alike(servers, lambda pair: (pair[1].name, pair[1].port)):
        instances, server = named((name for name, _ in same), "instance"), same[0][1]
        display = (shell("ss -tin dport = :{port}", port=str(server.port)),)
        yield NOT_KNOWN.finding(
            f"The packet sizes of Direct NFS from {instances} to {server.name} are not known: it uses port "
            f"{server.port}, and racwire reads the connections to port {_NFS_PORT}.",
            subject=f"{server.name}: port {server.port}",
            next=[NextStep("Display the sizes of its connections.", display, f"any user on the nodes of {instances}")],
            evidence=[(cluster.local_node, "sql dnfs_servers")],
        )


def _dnfs(cluster: Cluster) -> list[tuple[str, DnfsServer]] | Unknown:
    """Return the servers of Direct NFS, each with the name of the instance."""
    database = cluster.database
    found = (database.dnfs or ()) if isinstance(database, Database) else ()
    if isinstance(found, Unknown) or not isinstance(database, Database):
        return found if isinstance(found, Unknown) else []
    return [(database.instance_name(one.instance), one) for one in found]
