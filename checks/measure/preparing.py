"""Prepares a measurement: reads the cluster, chooses the paths and what answers on them, and plans. Sends nothing."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from checks.change.record.change_journal import ChangeJournalError
from checks.change.record.journal_files import directory_of
from checks.change.session.open_here import open_here
from checks.measure.far_end.programs import (
    KERNEL,
    PERL,
    PYTHON,
    SYSTEM,
    Interpreter,
    interpreter_at,
    sha256_of,
    text_of,
)
from checks.measure.load_limits import FragmentRoom, LoadLimits
from checks.measure.load_plan import NO_DATABASE, LoadPlan, PlannedLoad
from checks.measure.load_refusals import LoadRefusal, standing_refusals
from checks.measure.measure_error import MeasureError
from checks.measure.paths_to_measure import instance_paths, paths_to_measure, public_paths
from checks.measure.testbed import Experiment
from checks.model.facts import Cluster, Database, NodeSetup, Unknown, UnreadNode
from checks.model.fragment_memory import FRAGMENT_SHARE, LEAST_FRAGMENT_BYTES, USUAL_FRAGMENT_S
from checks.model.journal import Journal
from checks.model.measurement import MeasuredPath
from checks.model.settings import Settings
from checks.model.wording import continued, lasting, listed
from checks.rules.cache_fusion import per_second, received
from checks.rules.node_counts import sysctl
from checks.run.gathering import GATHERERS
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import ShellError
from checks.sources.registry import FAR_ENDS
from checks.traffic.discovery import find_cluster
from checks.traffic.feed import Feed
from checks.traffic.samples import Gap, InstanceSample
from checks.traffic.source_id import DATABASE

_RUNS = re.compile(r"^run (/.*)$", re.MULTILINE)
_SETUPS_S = 30.0
"""Seconds until racwire plans without what runs on the nodes."""
_BLOCKS_S, _BLOCKS_PATIENCE_S = 1.0, 5.0
"""Seconds between the two samples of the instances, and until racwire plans without them."""
Setups = tuple[NodeSetup | UnreadNode, ...] | Unknown


@dataclass(frozen=True, slots=True)
class WantedPaths:
    """What the operator chose."""

    networks: Collection[str] = ()
    peers: Collection[str] = ()
    far_end: str = ""
    """`kernel`, `perl` or `python`; empty for the experiment's own choice."""
    is_one_path: bool = False
    """Whether the first path is enough where no network or peer is named."""
    is_one_network: bool = False
    """Whether the first network is enough where none is named."""
    with_public: bool = False
    """Whether the public network is measured too: `measure rate --public`."""
    with_instances: bool = False
    """Whether the addresses that the instances use are probed too, by UDP where a far end can run: a drill."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A measurement that is ready for consent."""

    cluster: Cluster
    plan: LoadPlan
    candidates: dict[str, tuple[Interpreter, ...]]
    """The interpreters of each peer that can run a far end, the best first."""
    lock_holders: dict[str, tuple[Interpreter, ...]]
    """The same of each peer where no far end answers, so that one only holds the lock."""
    refusals: tuple[LoadRefusal, ...]
    storage_links: tuple[MeasuredPath, ...] = ()
    """The link of this node to the storage that is measured."""

    @property
    def links(self) -> tuple[MeasuredPath, ...]:
        """The paths of which the links carry the measurement, and are watched."""
        return self.paths or self.storage_links

    @property
    def paths(self) -> tuple[MeasuredPath, ...]:
        """The paths of the plan."""
        return self.plan.paths


async def prepare(
    experiment: Experiment,
    wanted: WantedPaths,
    limits: LoadLimits,
    settings: Settings,
    password: Secret | None = None,
    *,
    known: Cluster | None = None,
) -> Prepared:
    """Read the cluster and plan the experiment. Raises MeasureError where it is not possible.

    `known` are facts that were read before: enough for a plan to look at, too old to send by.
    """
    cluster = await find_cluster(settings, password=password) if known is None else known
    paths = paths_to_measure(cluster, networks=wanted.networks, peers=wanted.peers)
    if wanted.is_one_path and not (wanted.networks or wanted.peers):
        paths = paths[:1]
    if wanted.is_one_network and not wanted.networks:
        paths = tuple(path for path in paths if path.network == paths[0].network)
    if wanted.with_public:
        paths = (paths[0], *public_paths(cluster, paths))
    udp = instance_paths(cluster, paths) if wanted.with_instances else ()
    peers = [node.name for node in cluster.read_nodes() if node.name != cluster.local_node]
    found, setups, blocks_per_s = await read_more(cluster, peers, settings, password)
    cluster = replace(cluster, setups=setups)
    candidates = {node: _chosen(one.candidates, wanted.far_end) for node, one in found.items()}
    chosen = (
        *(_with_far_end(path, candidates[path.target_node], experiment, wanted.far_end) for path in paths),
        *(one for path in udp if (one := _with_any(path, candidates[path.target_node], wanted.far_end)) is not None),
    )
    load = experiment.plan(chosen, limits)
    if load.seconds > limits.whole_s:
        raise MeasureError(
            f"This takes up to {lasting(load.seconds)}, and may take {lasting(limits.whole_s)}: choose fewer "
            "sizes, flows, rounds or paths, or a longer time with --whole."
        )
    rooms = rooms_of(cluster)
    for node in {end for path in chosen for end in (path.source_node, path.target_node)}:
        _demand_room(node, rooms[node], load)
    answering = {path.target_node for path in chosen if path.far_end != KERNEL}
    holders = {node: one.candidates for node, one in found.items() if node not in answering}
    plan = LoadPlan(
        name_of(cluster, settings.cluster.name),
        experiment.kind,
        chosen,
        load,
        limits,
        blocks_per_s,
        {node: candidates[0].path if candidates else "" for node, candidates in holders.items()},
        rooms,
    )
    refusals = [
        *standing_refusals(
            cluster, change=open_change(settings), is_lab="RACWIRE_LAB" in os.environ, link_share=limits.link_share
        ),
        *measuring_elsewhere(found),
    ]
    able = {node: those for node, those in holders.items() if those}
    return Prepared(cluster, plan, candidates, able, tuple(refusals))


def rooms_of(cluster: Cluster) -> dict[str, FragmentRoom]:
    """Return what incomplete datagrams may hold at each node that was read."""
    return {
        node.name: FragmentRoom(
            int((sysctl(cluster, node.name, "net.ipv4.ipfrag_high_thresh") or LEAST_FRAGMENT_BYTES) * FRAGMENT_SHARE),
            sysctl(cluster, node.name, "net.ipv4.ipfrag_time") or USUAL_FRAGMENT_S,
        )
        for node in cluster.read_nodes()
    }


def _demand_room(node: str, room: FragmentRoom, load: PlannedLoad) -> None:
    """Raise MeasureError where a node has no room for one incomplete message of the measurement."""
    if load.most_incomplete_bytes > room.most_bytes:
        raise MeasureError(
            f"A message in fragments holds up to {load.most_incomplete_bytes:,} bytes of a receiver's memory for "
            f"reassembly until it is complete, and racwire uses at most {room.most_bytes:,} of {node} (5 % of "
            "net.ipv4.ipfrag_high_thresh): choose smaller sizes, or shorter trains."
        )


def measuring_elsewhere(found: Mapping[str, PeerFound]) -> Iterator[LoadRefusal]:
    """Yield a refusal for each peer on which another measurement runs."""
    for node, one in found.items():
        if one.is_measuring:
            yield LoadRefusal("ME-LOAD-009", f"Another measurement runs on {node}: wait for its end.")


def name_of(cluster: Cluster, in_settings: str) -> str:
    """Return the name that must be typed: Clusterware's, or where it has none that of the settings; else empty."""
    clusterware = cluster.clusterware
    if isinstance(clusterware, Unknown) or isinstance(clusterware.cluster_name, Unknown):
        return in_settings
    return clusterware.cluster_name


def far_end_texts() -> Iterator[tuple[str, str, str]]:
    """Yield language, SHA-256 and text of each far end."""
    for language in (PERL, PYTHON):
        yield language, sha256_of(language), text_of(language)


async def _blocks_per_s(cluster: Cluster, settings: Settings, password: Secret | None) -> float | Unknown:
    """Return the blocks that all instances together receive in a second, from two samples; Unknown with a clause."""
    if not isinstance(cluster.database, Database):
        return NO_DATABASE
    wanted = {instance.name for instance in cluster.database.instances}
    rates: dict[str, float] = {}
    every = replace(settings.traffic, interval_s=_BLOCKS_S)
    try:
        async with (
            asyncio.timeout(_BLOCKS_PATIENCE_S),
            Feed(replace(settings, traffic=every), password=password) as feed,
        ):
            feed.follow(replace(cluster, nodes=()))
            async for event in feed.events():
                if isinstance(event, Gap) and event.source == DATABASE:
                    return Unknown(continued(event.reason).rstrip("."))
                if isinstance(event, InstanceSample):
                    rate = per_second(received(event.statistics), event.seconds)
                    if rate is not None:
                        rates[event.instance] = rate
                if wanted <= rates.keys():
                    break
    except TimeoutError:
        silent = listed(sorted(wanted - rates.keys()))
        return Unknown(f"GV$SYSSTAT had no two samples of {silent} within {_BLOCKS_PATIENCE_S:.0f} s")
    return sum(rates.values())


@dataclass(frozen=True, slots=True)
class PeerFound:
    """What a peer has for a measurement."""

    candidates: tuple[Interpreter, ...]
    is_measuring: bool


async def read_more(
    cluster: Cluster, peers: Collection[str], settings: Settings, password: Secret | None
) -> tuple[dict[str, PeerFound], Setups, float | Unknown]:
    """Return the other inputs of a plan, all read at the same time: far ends, what runs on the nodes, and the blocks.

    Raises MeasureError where a peer does not answer.
    """
    session = Session(settings, Journal())
    session.local_node = cluster.local_node
    others = (
        asyncio.create_task(_setups(session, cluster)),
        asyncio.create_task(_blocks_per_s(cluster, settings, password)),
    )
    try:
        far_ends = await _far_ends(session, peers)
        return far_ends, await others[0], await others[1]
    except ShellError as error:
        raise MeasureError(str(error)) from None
    finally:
        for task in others:
            task.cancel()
        await asyncio.gather(session.close(), *others, return_exceptions=True)


async def _far_ends(session: Session, nodes: Collection[str]) -> dict[str, PeerFound]:
    """Return the interpreters of each node. Raises ShellError."""

    async def one(node: str) -> PeerFound:
        shell = await session.shell(node)
        text = (await shell.run(FAR_ENDS, *(each.path for each in SYSTEM))).text
        return PeerFound(tuple(map(interpreter_at, _RUNS.findall(text))), "measures" in text.splitlines())

    return dict(zip(nodes, await asyncio.gather(*map(one, nodes)), strict=True))


async def _setups(session: Session, cluster: Cluster) -> Setups:
    (gatherer,) = (one for one in GATHERERS if one.group == "setups")
    try:
        async with asyncio.timeout(_SETUPS_S):
            found = await gatherer.gather(session, cluster)
    except TimeoutError:
        return Unknown(f"the nodes did not tell within {_SETUPS_S:.0f} s what runs on them")
    assert isinstance(found, tuple | Unknown)
    return found


def _chosen(candidates: Sequence[Interpreter], language: str) -> tuple[Interpreter, ...]:
    return tuple(one for one in candidates if language in ("", KERNEL, one.language))


def _with_far_end(
    path: MeasuredPath, candidates: Sequence[Interpreter], experiment: Experiment, wanted: str
) -> MeasuredPath:
    """Return the path with what will answer on it. Raises MeasureError where nothing can."""
    if wanted == KERNEL and experiment.needs_program:
        raise MeasureError(f"{experiment.kind} needs a program on the peer; the kernel answers pings only.")
    if wanted == KERNEL or (not wanted and not experiment.needs_program):
        return path
    if not candidates:
        raise MeasureError(
            f"{path.target_node} has no {wanted or 'Perl or Python'} where racwire looks: the Grid home's perl/bin, "
            "and /usr/bin. " + ("" if experiment.needs_program else "Leave out --far-end to let its kernel answer.")
        )
    return replace(path, far_end=candidates[0].language, program=candidates[0].path)


def _with_any(path: MeasuredPath, candidates: Sequence[Interpreter], wanted: str) -> MeasuredPath | None:
    """Return the path with a far end where one can run, else with pings; None where other pings probe it already."""
    if wanted != KERNEL and candidates:
        return replace(path, far_end=candidates[0].language, program=candidates[0].path)
    return path if path.is_haip else None


def open_change(settings: Settings) -> str:
    """Return the name of an open change of this node; empty without one, or where its directory cannot be read."""
    try:
        found = open_here(directory_of(settings), os.uname().nodename)
    except ChangeJournalError:
        return ""
    return found[0].id if found else ""
