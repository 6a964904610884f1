"""Probe every path of the private networks: measure all, check silent ends, search path MTUs, find directions.

`PathRun` stores every result at once, so that a run that is cancelled or out of time loses no measurement.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from checks.model.facts import Node, PathProbe, PrivateNetwork, UnreadNode, Verdict
from checks.sources.entries import Program
from checks.sources.kernel_files import LINK, NEIGHBOUR, ROUTES_IN_USE
from checks.sources.nodes.route_get import Query, parse_routes_in_use
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.probes.limits import BudgetSpentError, GentlePace, PathLimits, turn_to_ping
from checks.sources.probes.lost_leg import find_legs
from checks.sources.probes.path import Path
from checks.sources.probes.path_budget import plan_path
from checks.sources.probes.path_work import PathWork, start_entry
from checks.sources.probes.pinger import CannotPingError
from checks.sources.probes.probe_hosts import ProbeHosts, ProbeSession
from checks.sources.probes.safety import assert_private, public_overlap, two_owners
from checks.sources.probes.verdict import Ends, NeighbourSign


def link_is_up(state: str) -> bool | None:
    """Whether an interface in this state carries packets; None where the state is empty."""
    word = state.strip().lower()
    return None if not word else word in ("up", "unknown")


def neighbour_sign(text: str, run_s: float) -> NeighbourSign:
    """Parse a line of `ip -s neigh`: the state of the neighbour in the last `run_s` seconds.

    The three numbers after `used` are seconds since the entry was used, confirmed and updated. A `reachable` entry may
    be older than the fault, so only a confirmation within the run counts as life.
    """
    words = text.upper().split()
    if not words:
        return NeighbourSign.UNKNOWN
    if words[-1] in ("FAILED", "INCOMPLETE"):
        return NeighbourSign.SILENT
    ages = re.search(r"\bused (\d{1,9})/(\d{1,9})/(\d{1,9})", text, re.ASCII)
    if ages and words[-1] == "REACHABLE" and int(ages[2]) <= run_s:
        return NeighbourSign.CONFIRMED
    return NeighbourSign.UNKNOWN


def neighbour_mac(text: str) -> str:
    """Parse a line of `ip -s neigh`: the MAC address of an entry that is not failed; empty where there is none."""
    found = re.search(r"\blladdr ([0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5,19})(?![0-9a-fA-F:])", text, re.ASCII)
    return found[1].lower() if found and neighbour_sign(text, 0) is not NeighbourSign.SILENT else ""


def neighbour_is_new(text: str, run_s: float) -> bool | None:
    """Parse a line of `ip -s neigh`: whether the entry was confirmed in the last `run_s` seconds; None where no age is
    there."""
    ages = re.search(r"\bused \d{1,9}/(\d{1,9})/\d{1,9}", text, re.ASCII)
    return int(ages[1]) < run_s if ages else None


async def read_ends(path: Path, source: Shell | None, peer: Shell | None, run_s: float) -> Ends:
    """Read the state of both ends. An end without a shell, or whose shell does not answer, is unknown."""
    link_here, neighbour, link_there = await asyncio.gather(
        _read(source, LINK, path.source.interface),
        _read(source, NEIGHBOUR, path.destination.ip, path.source.interface),
        _read(peer, LINK, path.destination.interface),
    )
    return Ends(
        source_link_up=link_is_up(link_here),
        peer_link_up=link_is_up(link_there),
        neighbour=neighbour_sign(neighbour, run_s),
        neighbour_mac=neighbour_mac(neighbour),
        neighbour_is_new=neighbour_is_new(neighbour, run_s),
    )


async def read_neighbour(path: Path, shell: Shell | None) -> str | None:
    """Return the MAC address that the sender has for the destination; empty where it has none, None where the node does
    not show it."""
    if shell is None:
        return None
    try:
        return neighbour_mac((await shell.run(NEIGHBOUR, path.destination.ip, path.source.interface)).text)
    except ShellError:
        return None


async def _read(shell: Shell | None, program: Program, *arguments: str) -> str:
    if shell is None:
        return ""
    try:
        return (await shell.run(program, *arguments)).text
    except ShellError:
        return ""


def known_mtus(path: Path, source: Node | None, peer: Node | None) -> Ends:
    """The MTUs of both interfaces and of the route, from the facts of both nodes."""
    here = source.interface(path.source.interface) if source else None
    there = peer.interface(path.destination.interface) if peer else None
    ways = (path.network.subnet, path.destination.ip)
    route = next((r for r in (source.routes if source else ()) if r.destination in ways and r.mtu), None)
    return Ends(
        source_mtu=here.mtu if here else None,
        peer_mtu=there.mtu if there else None,
        route_mtu=route.mtu if route else None,
    )


STEP_TIMEOUT_S = 60.0
"""Seconds for one step of one path, including the wait for its turn on the sending node; a ping has its own limit."""

MOST_REPEATS = 8
"""Most paths with losses that are pinged once more, one at a time. More are not due to racwire's own traffic."""

SCOUTS = 2
"""Paths with a black hole that are searched one after the other, until one provides a hint for the rest."""

MOST_BESIDE = 32
"""Most paths whose neighbour entry is read although their pings were answered, where others were not."""

RUN_TIMEOUT_S = 90.0
"""Seconds for all paths together. A path that is not complete by then is unknown; complete results remain."""

REPORT_AFTER_S = 0.2
"""Seconds after the measurement of a path until the paths so far are reported, together with others."""

Step = Callable[[PathWork], Awaitable[None]]
SoFar = Callable[[tuple[PathProbe, ...]], None]


def all_paths(networks: Sequence[PrivateNetwork]) -> list[Path]:
    """Every ordered pair of ports of different nodes, network by network."""
    subnets = Counter(network.subnet for network in networks)
    return [
        Path(network, source, destination, network.mtu, subnet_is_shared=subnets[network.subnet] > 1)
        for network in networks
        if isinstance(network.mtu, int)
        for source in network.ports
        for destination in network.ports
        if source.node != destination.node
    ]


class PathRun:
    """One run that probes every ordered pair of nodes on every network. The PathProbe of a path has its failure."""

    def __init__(
        self,
        networks: Sequence[PrivateNetwork],
        nodes: Sequence[Node | UnreadNode],
        session: ProbeSession,
        *,
        public_subnets: Iterable[str] = (),
        so_far: SoFar = lambda probes: None,
    ) -> None:
        """`so_far` gets those that have been measured, now and then.

        Raises UnsafePathError, before anything is sent, for a path that would leave the private networks.
        """
        paths = all_paths(networks)
        subnets = tuple(public_subnets)
        barred = {n.name: overlap for n in networks if n.ports and (overlap := public_overlap(n, subnets))}
        doubled = {path: text for path in paths if (text := two_owners(path))}
        for path in paths:
            if path.network.name not in barred and path not in doubled:
                assert_private(path, subnets)
        self._session = session
        self._sockets = ExitStack()
        self._nodes = ProbeHosts(nodes, session, self._sockets)
        to_node = Counter(path.destination.node for path in paths)
        self._paces = {node: GentlePace(number) for node, number in to_node.items()}
        self._works = [self._work(path) for path in paths]
        self._to_measure = [w for w in self._works if w.path.network.name not in barred and w.path not in doubled]
        for work in self._works:
            if work not in self._to_measure:
                work.fail(barred.get(work.path.network.name) or doubled[work.path])
        self._so_far = so_far
        self._done = [work for work in self._works if work not in self._to_measure]
        self._report_due: asyncio.TimerHandle | None = None
        self._measured = 0
        self._started_s = time.monotonic()

    def _work(self, path: Path) -> PathWork:
        settings = self._session.settings.probe
        plan = plan_path(settings, path.mtu, path.version)
        return PathWork(
            path,
            plan,
            PathLimits(settings, self._paces[path.destination.node]),
            start_entry(self._session.journal, path, plan),
        )

    def results(self) -> tuple[PathProbe, ...]:
        """The results so far, in the order of the networks and their ports."""
        return tuple(work.probe() for work in self._works)

    async def run(self) -> tuple[PathProbe, ...]:
        """Probe all paths and return the results."""
        try:
            async with turn_to_ping() as holder:
                for work in self._works if holder else ():
                    work.beside(holder)
                self._started_s = time.monotonic()
                async with asyncio.timeout(RUN_TIMEOUT_S):
                    await self._probe()
        except TimeoutError:
            for work in self._works:
                work.out_of_time(f"probing all paths took over {RUN_TIMEOUT_S:.0f} s")
        finally:
            if self._report_due is not None:
                self._report_due.cancel()
            self._sockets.close()
            await self._nodes.close()
            for work in self._works:
                self._session.journal.tell(work.entry)
        return self.results()

    async def _probe(self) -> None:
        await self._each(self._to_measure, self._measure)
        refused = [w for w in self._works if w.verdict is Verdict.TOO_BIG and w.full and w.full.refused_locally]
        await self._each(refused, self._ask_route)
        quiet = [w for w in self._works if _is_silent(w) and self._links_are_up(w.path)]
        await self._each(quiet, lambda w: w.ask_again(self._known(w.path)))
        silent = [w for w in self._works if _is_silent(w)]
        await self._each(silent, self._check_ends)
        await self._each(_beside(silent, self._to_measure), self._note_neighbour)
        lossy = [w for w in self._works if w.verdict is Verdict.LOSS]
        for work in lossy if len(lossy) <= MOST_REPEATS else ():
            await self._each([work], lambda w: w.repeat_alone())
        by_network: dict[str, list[PathWork]] = {}
        for work in self._works:
            by_network.setdefault(work.path.network.name, []).append(work)
        await asyncio.gather(*(self._search_network(works) for works in by_network.values()))
        lost = [w for w in self._works if w.verdict is Verdict.BLACK_HOLE]
        await find_legs(lost, self._nodes)

    async def _each(self, works: Sequence[PathWork], step: Step) -> None:
        """Run a step on several paths at the same time. A failure affects only its own path."""
        await asyncio.gather(*(self._guarded(work, step) for work in works))

    async def _guarded(self, work: PathWork, step: Step) -> None:
        try:
            async with asyncio.timeout(STEP_TIMEOUT_S):
                await step(work)
        except (CannotPingError, ShellError, BudgetSpentError) as error:
            work.fail(str(error))
        except TimeoutError:
            work.fail(f"did not finish within {STEP_TIMEOUT_S:.0f} s")
        except OSError as error:
            work.fail(f"{error.strerror or error}")

    async def _measure(self, work: PathWork) -> None:
        path = work.path
        try:
            pinger = await self._nodes.pinger(path, work.limits)
            await work.measure(pinger, self._known(path))
        finally:
            self._measured += 1
            text = f"{path.network.name} {path.source.node} → {path.destination.node}: {work.verdict}"
            self._session.progress("paths", text, self._measured, len(self._to_measure))
            self._done.append(work)
            if self._report_due is None:
                self._report_due = asyncio.get_running_loop().call_later(REPORT_AFTER_S, self._report)

    def _report(self) -> None:
        """Report the paths so far: those of a node are measured at nearly the same time."""
        self._report_due = None
        self._so_far(tuple(done.probe() for done in self._done))

    def _links_are_up(self, path: Path) -> bool:
        """Whether no end is known to have its interface down; a repeated ping over such a path would be useless."""
        facts = [(self._nodes.facts(port.node), port.interface) for port in (path.source, path.destination)]
        return all(nic.is_up for node, name in facts if node and (nic := node.interface(name)))

    def _known(self, path: Path) -> Ends:
        return known_mtus(path, self._nodes.facts(path.source.node), self._nodes.facts(path.destination.node))

    async def _check_ends(self, work: PathWork) -> None:
        path = work.path
        source, peer = await asyncio.gather(
            self._nodes.shell(path.source.node), self._nodes.shell(path.destination.node)
        )
        ends = await read_ends(path, source, peer, time.monotonic() - self._started_s)
        work.conclude(replace(ends, reverse_passes=self._reverse_passes(path)))

    async def _ask_route(self, work: PathWork) -> None:
        """Ask the sender's kernel whether the MTU is that of a route in any table: a learned one expires."""
        here, there = work.path.source, work.path.destination
        text = await _read(await self._nodes.shell(here.node), ROUTES_IN_USE, here.ip, there.ip)
        routes = parse_routes_in_use(text, Query(work.path.network.name, here.ip, ((there.node, there.ip),)))
        if work.full and any(r.expires_s is None and r.mtu == work.full.local_mtu for r in routes):
            work.conclude(replace(work.ends, route_mtu=work.full.local_mtu))

    async def _note_neighbour(self, work: PathWork) -> None:
        shell = await self._nodes.shell(work.path.source.node)
        text = await _read(shell, NEIGHBOUR, work.path.destination.ip, work.path.source.interface)
        run_s = time.monotonic() - self._started_s
        is_new = neighbour_is_new(text, run_s)
        work.ends = replace(work.ends, neighbour_mac=neighbour_mac(text), neighbour_is_new=is_new)

    def _reverse_passes(self, path: Path) -> bool:
        return any(
            w.small is not None and w.small.received > 0
            for w in self._works
            if w.path.network is path.network and (w.path.source, w.path.destination) == (path.destination, path.source)
        )

    async def _search_network(self, works: Sequence[PathWork]) -> None:
        """Find path MTUs: in full on one path with a black hole, then on the others with its result as hint.

        Where a kernel or a router reported an MTU, that MTU is the hint of its path.
        """
        named = [w for w in works if w.verdict in (Verdict.TOO_BIG, Verdict.LOCAL_MTU)]
        holes = [w for w in works if w.verdict is Verdict.BLACK_HOLE]
        # A path from this node is fastest: it starts no process for each size.
        holes.sort(key=lambda w: (w.path.source.node != self._session.local_node, w.limits.packets_sent))
        # A peer with a smaller MTU explains only its own paths, so it is no hint for other paths.
        small_peers = [w for w in holes if (w.ends.peer_mtu or w.path.mtu) < w.path.mtu]
        await asyncio.gather(
            self._each(named, lambda w: w.search(_named_mtu(w))),
            self._each(small_peers, lambda w: w.search(w.ends.peer_mtu)),
            self._search_holes([w for w in holes if w not in small_peers]),
        )

    async def _search_holes(self, holes: Sequence[PathWork]) -> None:
        hint: int | None = None
        for scout in holes[:SCOUTS]:
            await self._each([scout], lambda w: w.search(None))
            if isinstance(scout.path_mtu, int):
                hint = scout.path_mtu
                break
        await self._each([w for w in holes if w.path_mtu is None], lambda w: w.search(hint))


def _is_silent(work: PathWork) -> bool:
    return work.small is not None and not work.small.received


def _beside(silent: Sequence[PathWork], works: Sequence[PathWork]) -> list[PathWork]:
    """The other paths of the nodes between which pings got no answer: whose NIC answered there shows more."""
    nodes = {port.node for w in silent for port in (w.path.source, w.path.destination)}
    beside = [w for w in works if w not in silent and nodes.intersection((w.path.source.node, w.path.destination.node))]
    return beside[:MOST_BESIDE]


def _named_mtu(work: PathWork) -> int | None:
    """The MTU that a router reported, or that this node's kernel remembers from a router."""
    if work.full is None:
        return None
    return work.full.too_big_mtu if work.full.too_big_mtu is not None else work.full.local_mtu
