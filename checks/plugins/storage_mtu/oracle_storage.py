"""Storage that Oracle itself names: the servers of Direct NFS from its views, and the networks of ASM from oifcfg."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.check import InfoKind, UnknownKind
from checks.model.facts import Cluster, Clusterware, ConfiguredInterface, Database, DnfsServer, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.networks import in_subnet
from checks.model.shell_command import shell, sql
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
ASM_ELSEWHERE = InfoKind(
    "IC-STORE-010",
    "An instance uses the ASM instance of another node",
    "Flex ASM permits it. The instance asks that ASM instance where its files lie, over the network of ASM, and reads "
    "and writes the disks itself. It stays with that one until it is moved (ALTER SYSTEM RELOCATE CLIENT) or that one "
    "stops, also where an ASM instance runs on its own node again.",
    ("ASM Administrator's Guide, Oracle Flex ASM", "Database Reference, V$ASM_CLIENT"),
)
_NFS_PORT = 2049
_ROLE, _PROXY = "asm", "+APX"


def asm_networks(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for the private networks with the role `asm` in `oifcfg getif`, and one for the other ones."""
    for same in alike(_asm_network_lines(cluster), lambda line: line.is_private):
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
                *some(_asm_lines(cluster)),
            ),
            evidence=[(cluster.local_node, "oifcfg getif"), *((node, "interfaces") for node, _, _ in ports)],
        )


def asm_elsewhere(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for the instances of each ASM instance that runs on another node than they do."""
    hosts, database = _asm_hosts(cluster), cluster.database
    clients = (database.asm or ()) if isinstance(database, Database) else ()
    if isinstance(clients, Unknown) or not isinstance(database, Database):
        return
    own = {instance.number: instance for instance in database.instances}
    far = [(own[c.instance], c.asm) for c in clients if c.instance in own and hosts.get(c.asm)]
    far = [(instance, asm) for instance, asm in far if hosts[asm] != instance.host]
    networks = [line.subnet for line in _asm_network_lines(cluster)]
    over = f", over the network{'' if len(networks) == 1 else 's'} of ASM, {listed(networks)}" if networks else ""
    for same in alike(far, lambda pair: pair[1]):
        asm, instances = same[0][1], [instance for instance, _ in same]
        names = named((f"{one.name} on {one.host}" for one in instances), "instance")
        yield ASM_ELSEWHERE.finding(
            f"{names} {'uses' if len(same) == 1 else 'use'} {asm} on {hosts[asm]}{over}.",
            subject=f"{asm} on {hosts[asm]}",
            data={"instances": len(same), "asm": asm, "node": hosts[asm]},
            seen=some(_asm_lines(cluster)),
            next=[
                NextStep(
                    "Display which ASM instances run, and which one each instance uses.",
                    (sql("SELECT inst_id, instance_name, status FROM gv$asm_client;"), "srvctl status asm -detail"),
                )
            ],
            evidence=[
                (cluster.local_node, "sql asm_clients"),
                *((node, "setup") for node in (hosts[asm], *(one.host for one in instances))),
            ],
            nodes=[one.host for one in instances],
        )


def _asm_lines(cluster: Cluster) -> list[str]:
    """Return which ASM instance each instance uses and which nodes have a proxy instance of ACFS, or why the database
    did not show it."""
    database, hosts = cluster.database, _asm_hosts(cluster)
    if not isinstance(database, Database) or database.asm is None:
        return []
    if isinstance(database.asm, Unknown):
        return [f"Which ASM instance is used: not known. {database.asm.reason}"]
    lines = [
        f"{database.instance_name(one.instance)} uses {one.asm} on {hosts.get(one.asm, 'a node that is not known')}"
        for one in database.asm
    ]
    proxies = [(asm, host) for asm, host in hosts.items() if asm.startswith(_PROXY)]
    return [*lines, *(f"{host} runs {asm}, by which ACFS uses an ASM instance" for asm, host in proxies)]


def _asm_hosts(cluster: Cluster) -> dict[str, str]:
    """Return the node of each ASM instance and proxy instance, by the processes of the nodes."""
    return {
        name: setup.name
        for setup in cluster.read_setups()
        if not isinstance(setup.instances, Unknown)
        for name in setup.instances
        if name.startswith("+")
    }


def _asm_network_lines(cluster: Cluster) -> list[ConfiguredInterface]:
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware) or isinstance(facts.configuration, Unknown):
        return []
    return [line for line in facts.configuration.interfaces if _ROLE in line.roles]


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
