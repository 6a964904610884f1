"""The gatherers: how each group of facts is gathered, which groups it needs, and its time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from checks.model.broken_dependency import error_text
from checks.model.facts import (
    Activity,
    AddressProbes,
    Cluster,
    Clusterware,
    CounterChanges,
    Database,
    Flows,
    HaipPaths,
    History,
    Managed,
    Node,
    NodeRoutes,
    NodeSetup,
    NotAsked,
    NotGathered,
    PathProbe,
    PrivateNetwork,
    Unknown,
    UnreadNode,
)
from checks.model.networks import private_addresses, private_layers, private_networks, private_nics_of
from checks.model.settings import Settings
from checks.sources.clusterware.clusterware_reader import read_clusterware
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.clusterware.managed import read_managed
from checks.sources.database.connect_proposal import name_served_services, propose_connection
from checks.sources.database.history import read_history
from checks.sources.database.identity import read_database
from checks.sources.database.sampling import read_activity
from checks.sources.node_setup import SETUP
from checks.sources.nodes.counter_change import read_counter_changes
from checks.sources.nodes.local import read_local_node
from checks.sources.nodes.remote import read_peer
from checks.sources.nodes.route_get import queries, read_routes_in_use
from checks.sources.nodes.session import Session
from checks.sources.nodes.setup import read_setup
from checks.sources.nodes.shell import ShellError
from checks.sources.probes.address_probes import probe_addresses
from checks.sources.probes.haip_pings import ping_haip
from checks.sources.probes.paths import PathRun
from checks.sources.probes.safety import UnsafePathError, public_subnets
from checks.sources.probes.udp_flows import send_flows
from checks.sources.probes.udp_plan import AGE_MS

T = TypeVar("T")


@dataclass(frozen=True)
class Gatherer:
    """Gathers one field of `Cluster` from the fields gathered before it."""

    group: str
    needs: tuple[str, ...]
    gather: Callable[[Session, Cluster], Awaitable[object]]
    limit_s: float
    """Seconds after which gathering the group is stopped; each step has its own, shorter limit."""
    after: tuple[str, ...] = ()
    """Groups to wait for where the run gathers them: not for their facts, but to start together with the groups that
    need them."""
    awaits: tuple[str, ...] = ()
    """Groups whose facts it awaits after it has started, by `Session.cluster_with`."""


async def _clusterware(session: Session, cluster: Cluster) -> Clusterware | Unknown:
    session.progress("clusterware", "querying Clusterware", 0, 0)
    found = await read_clusterware(session.settings.cluster, session.journal, session.local_node)
    if isinstance(found, Clusterware) and isinstance(found.local_node, str):
        session.local_node = found.local_node
    return found


async def _nodes(session: Session, cluster: Cluster) -> tuple[Node | UnreadNode, ...] | Unknown:
    async def read(name: str) -> Node:
        if name == session.local_node:
            return await read_local_node(name, session.journal)
        return await read_peer(await session.shell(name), session.journal, session.settings.ssh.read_timeout_s)

    so_far: dict[str, Node | UnreadNode] = {
        name: UnreadNode(name, f"{name} has not been read yet.", is_pending=True)
        for name in _node_names(session, cluster)
    }
    session.nodes_so_far(tuple(so_far.values()))

    def add(name: str, found: Node | UnreadNode) -> None:
        so_far[name] = found
        nodes = _each_once(so_far.values())
        if any(isinstance(node, UnreadNode) and node.is_pending for node in nodes):
            session.nodes_so_far(nodes)

    return _each_once(await _of_every_node(session, cluster, "nodes", "", read, add))


def with_nodes(cluster: Cluster, nodes: tuple[Node | UnreadNode, ...], local_node: str) -> Cluster:
    """Return the cluster with the nodes known so far, and with the private networks as far as these nodes have them."""
    read = [node for node in nodes if isinstance(node, Node)]
    networks = private_networks(cluster.clusterware, cluster.named_networks, read)
    return replace(cluster, nodes=nodes, networks=networks, local_node=local_node)


async def _of_every_node(
    session: Session,
    cluster: Cluster,
    group: str,
    what: str,
    read: Callable[[str], Awaitable[T]],
    add: Callable[[str, T | UnreadNode], None] = lambda name, found: None,
) -> list[T | UnreadNode]:
    """Read every node at the same time; a node that hangs costs its own time limit and delays no other node.

    `what` names the part that is read, `the setup of `; empty for the node itself. `add` receives each node's result
    as soon as the node has answered, or has been given up.
    """
    names = _node_names(session, cluster)
    done = 0

    async def each(name: str) -> T | UnreadNode:
        found = await guarded(name)
        add(name, found)
        return found

    async def guarded(name: str) -> T | UnreadNode:
        nonlocal done
        try:
            return await read(name)
        except ShellError as error:
            return UnreadNode(name, str(error), error.right, is_silent=error.is_silent)
        except Exception as error:  # an error of one node must not lose the others
            return UnreadNode(name, f"Reading {what}{name} failed: {error_text(error)}")
        finally:
            done += 1
            session.progress(group, f"read {what}{name}", done, len(names))

    session.progress(group, f"reading {what}the nodes", 0, len(names))
    return await asyncio.gather(*map(each, names))


def _each_once(nodes: Iterable[Node | UnreadNode]) -> tuple[Node | UnreadNode, ...]:
    """Return the nodes; a node that was read under two names is unread under the second: it has no path to itself."""
    names: dict[frozenset[str], str] = {}
    unique: list[Node | UnreadNode] = []
    for node in nodes:
        if isinstance(node, Node):
            addresses = frozenset(a.ip for i in node.interfaces if i.kind != "loopback" for a in i.addresses)
            known_as = names.setdefault(addresses, node.name) if addresses else node.name
            if known_as != node.name:
                unique.append(
                    UnreadNode(
                        node.name,
                        f"{node.name} is another name of {known_as}: specify the other node, or fix the name in "
                        "/etc/hosts, DNS or ~/.ssh/config.",
                    )
                )
                continue
        unique.append(node)
    return tuple(unique)


def _node_names(session: Session, cluster: Cluster) -> tuple[str, ...]:
    """Return this node and its peers, in the cluster's order; peers in the settings replace the list of olsnodes."""
    local = session.local_node
    if session.settings.cluster.peers:
        peers = (peer for peer in session.settings.cluster.peers if not _is_node(peer, local))
        return tuple(dict.fromkeys((local, *peers)))
    if isinstance(cluster.clusterware, Clusterware) and not isinstance(cluster.clusterware.members, Unknown):
        names = tuple(member.name for member in cluster.clusterware.members)
        return names if local in names else (local, *names)
    return (local,)


def _is_node(peer: str, node: str) -> bool:
    """Return whether a peer in the settings is that node: the same settings may serve all nodes."""
    host = peer.rpartition("@")[2].casefold()
    return host == "localhost" or node.casefold() in (host, host.partition(".")[0])


async def _setups(session: Session, cluster: Cluster) -> tuple[NodeSetup | UnreadNode, ...] | Unknown:
    """Read the setup of each node, this node included, through the session's shell there."""

    async def read(name: str) -> NodeSetup:
        limit_s = max(session.settings.ssh.read_timeout_s, SETUP.limit_s or 0)
        sudo = session.settings.cluster.sudo
        owner = cluster.clusterware.grid_home.owner if isinstance(cluster.clusterware, Clusterware) else ""
        shell = await session.shell(name)
        nics = private_nics_of(cluster, name)
        return await read_setup(shell, session.journal, limit_s, sudo=sudo, grid_owner=owner, nics=nics)

    return tuple(await _of_every_node(session, cluster, "setups", "the setup of ", read))


async def _managed(session: Session, cluster: Cluster) -> Managed | Unknown:
    if isinstance(cluster.clusterware, Unknown):
        return cluster.clusterware
    session.progress("managed", "querying the databases that Clusterware manages", 0, 0)
    return await read_managed(GridTools(cluster.clusterware.grid_home, session.journal, session.local_node))


async def _networks(session: Session, cluster: Cluster) -> tuple[PrivateNetwork, ...] | Unknown:
    return private_networks(cluster.clusterware, cluster.named_networks, cluster.read_nodes())


async def _paths(session: Session, cluster: Cluster) -> tuple[PathProbe, ...] | Unknown:
    if isinstance(cluster.networks, Unknown):
        return cluster.networks
    if isinstance(cluster.nodes, Unknown):
        return cluster.nodes
    try:
        subnets = public_subnets(cluster)
        run = PathRun(cluster.networks, cluster.nodes, session, public_subnets=subnets, so_far=session.paths_so_far)
        return await run.run()
    except UnsafePathError as error:
        return Unknown(f"No packet was sent: {error}")


async def gather_own_flows(session: Session, cluster: Cluster) -> Flows | Unknown:
    """Send the datagrams without the results of another racwire, which may be older than the last step of a change."""
    return await _flows(session, cluster, oldest_ms=0)


async def _flows(session: Session, cluster: Cluster, *, oldest_ms: int = AGE_MS) -> Flows | Unknown:
    if isinstance(cluster.networks, Unknown):
        return cluster.networks
    if isinstance(cluster.nodes, Unknown):
        return cluster.nodes

    async def pings() -> tuple[PathProbe, ...]:
        paths = (await session.cluster_with("paths")).paths
        return () if isinstance(paths, Unknown) else paths

    subnets, interval_s = public_subnets(cluster), counters_interval_s(session.settings)

    async def pause() -> None:
        if session.databases.settings.is_set:
            await session.keep_quiet(interval_s)

    try:
        return await send_flows(
            cluster.networks,
            cluster.nodes,
            pings,
            session,
            interval_s=interval_s,
            public_subnets=subnets,
            pause=pause,
            oldest_ms=oldest_ms,
        )
    except UnsafePathError as error:
        return Unknown(f"No datagram was sent: {error}")


async def _owners(session: Session, cluster: Cluster) -> AddressProbes | Unknown:
    if isinstance(cluster.networks, Unknown):
        return cluster.networks
    node = cluster.node(session.local_node)
    if node is None:
        return AddressProbes(session.local_node, Unknown("this node could not be read"))
    subnets = public_subnets(cluster)
    return await probe_addresses(cluster.networks, cluster.read_nodes(), node, session, public_subnets=subnets)


async def _haip_paths(session: Session, cluster: Cluster) -> HaipPaths:
    return await ping_haip(cluster, session)


async def _effective_routes(session: Session, cluster: Cluster) -> tuple[NodeRoutes, ...]:
    async def read(name: str) -> NodeRoutes:
        asked = queries(cluster, name)
        return await read_routes_in_use(await session.shell(name), session.journal, asked, name)

    found = await _of_every_node(session, cluster, "effective_routes", "the routes in use of ", read)
    return tuple(NodeRoutes(n.name, Unknown(n.reason, n.right)) if isinstance(n, UnreadNode) else n for n in found)


async def _counters(session: Session, cluster: Cluster) -> CounterChanges | Unknown:
    if isinstance(cluster.nodes, Unknown):
        return cluster.nodes
    nodes = cluster.read_nodes()
    networks = private_networks(cluster.clusterware, cluster.named_networks, nodes)
    if isinstance(networks, Unknown):
        networks = ()
    nics, addresses = private_layers(networks, nodes), private_addresses(networks, nodes)
    return await read_counter_changes(session, nodes, counters_interval_s(session.settings), nics, addresses)


def counters_interval_s(settings: Settings) -> float:
    """Return the interval of the kernels' counters in seconds: that of the instances where a database is queried."""
    sampling = settings.sampling
    return sampling.interval_s if settings.database.is_set else sampling.interval_without_database_s


async def _database(session: Session, cluster: Cluster) -> Database | Unknown | NotAsked:
    if not session.databases.settings.is_set:
        return await propose_connection(session.settings.cluster, session.journal, session.local_node)
    found = await read_database(session.databases, session.progress)
    if isinstance(found, Unknown):
        return await why_no_database(session, found, await session.databases.failed_with())
    if _is_single(found):
        return NotAsked(
            f"{found.name} is not a RAC database (cluster_database is FALSE) and uses no interconnect.",
            ("racwire check --connect SCAN:1521/SERVICE_OF_A_RAC_DATABASE --user RACWIRE",),
        )
    return found


async def why_no_database(session: Session, failure: Unknown, code: int | None) -> Unknown:
    """Return the failure of a login with that ORA- code; with the services to connect to instead, if a listener does
    not serve the service of the settings."""
    settings = session.settings
    connect = settings.database.connect
    return await name_served_services(failure, code, connect, settings.cluster, session.journal, session.local_node)


def _is_single(database: Database) -> bool:
    """Return whether the database has one instance and cannot have more."""
    if isinstance(database.parameters, Unknown):
        return False
    return {p.value.upper() for p in database.parameters if p.name == "cluster_database"} == {"FALSE"}


async def _activity(session: Session, cluster: Cluster) -> Activity | Unknown | NotAsked:
    if not isinstance(cluster.database, Database):
        return cluster.database
    interval_s = session.settings.sampling.interval_s
    return await read_activity(session.databases, cluster.database, interval_s, session.progress, session)


async def _history(session: Session, cluster: Cluster) -> History | Unknown | NotAsked:
    if not isinstance(cluster.database, Database):
        return cluster.database
    return await read_history(session.databases, cluster.database, session.progress)


async def _for_no_change(session: Session, cluster: Cluster) -> NotGathered:
    return NotGathered()


async def _for_investigate(session: Session, cluster: Cluster) -> NotAsked:
    return NotAsked("Only a step of racwire investigate reads this, with your consent.", ("racwire investigate",))


CHANGING = Gatherer("changing", ("clusterware",), _for_no_change, limit_s=300)
"""The additional facts of a change; `change_evidence` has the gatherer that replaces this one."""

PROBING = ("paths", "flows", "owners", "haip_paths")
"""The groups whose facts are the answers to packets that racwire sends on private networks."""
GATHERERS = (
    Gatherer("clusterware", (), _clusterware, limit_s=30),
    Gatherer("nodes", ("clusterware",), _nodes, limit_s=150),
    Gatherer("networks", ("clusterware", "nodes"), _networks, limit_s=5),
    Gatherer("paths", ("nodes", "networks"), _paths, limit_s=150),
    # Beside the pings, whose results it awaits before it examines what got no answer.
    Gatherer("flows", ("nodes", "networks"), _flows, limit_s=520, awaits=("paths",)),
    Gatherer("owners", ("nodes", "networks"), _owners, limit_s=20),
    # With the instances' samples: the packets that the kernels dropped in that time may be the lost blocks.
    Gatherer("counters", ("nodes",), _counters, limit_s=900, after=("database",)),
    Gatherer("database", (), _database, limit_s=300),
    # After the other pings: many at once are lost by chance.
    Gatherer("haip_paths", ("nodes", "networks", "database"), _haip_paths, limit_s=60, after=("paths",)),
    # After the pings, from which a kernel learns that a router on the path has a smaller MTU.
    Gatherer("effective_routes", ("nodes", "networks"), _effective_routes, limit_s=60, after=("paths",)),
    Gatherer("activity", ("database",), _activity, limit_s=1200),
    Gatherer("history", ("database",), _history, limit_s=1200),
    # After the more urgent reads in the same shells; the shells are idle while the kernels count.
    Gatherer("setups", ("clusterware",), _setups, limit_s=150, after=("nodes", "paths")),
    Gatherer("managed", ("clusterware",), _managed, limit_s=150),
    Gatherer("optics", (), _for_investigate, limit_s=5),
    Gatherer("kernel_drops", (), _for_investigate, limit_s=5),
)
