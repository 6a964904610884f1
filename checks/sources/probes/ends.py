"""What can be seen at both ends of a path on which no ping is answered: links and neighbour entries.

One short read on each end through its shell, by tools that every Linux has. Reading the texts is sans-I/O.
"""

from __future__ import annotations

import asyncio
import re

from checks.model.facts import Node
from checks.sources.entries import Program
from checks.sources.kernel_files import LINK, NEIGHBOUR
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.probes.path import Path
from checks.sources.probes.verdict import Ends, NeighbourSign


def link_is_up(state: str) -> bool | None:
    """Whether an interface in this state carries packets; None where the state is not told."""
    word = state.strip().lower()
    return None if not word else word in ("up", "unknown")


def neighbour_sign(text: str, run_s: float) -> NeighbourSign:
    """What a line of `ip -s neigh` says of the last `run_s` seconds.

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


async def read_ends(path: Path, source: Shell | None, peer: Shell | None, run_s: float) -> Ends:
    """Look at both ends. A shell that is not to be had, or does not answer, leaves its end unknown."""
    link_here, neighbour, link_there = await asyncio.gather(
        _read(source, LINK, path.source.interface),
        _read(source, NEIGHBOUR, path.destination.ip, path.source.interface),
        _read(peer, LINK, path.destination.interface),
    )
    return Ends(
        source_link_up=link_is_up(link_here),
        peer_link_up=link_is_up(link_there),
        neighbour=neighbour_sign(neighbour, run_s),
    )


async def _read(shell: Shell | None, program: Program, *arguments: str) -> str:
    if shell is None:
        return ""
    try:
        return (await shell.run(program, *arguments)).text
    except ShellError:
        return ""


def known_mtus(path: Path, source: Node | None, peer: Node | None) -> Ends:
    """What the facts of both nodes say of their interfaces' and the route's MTU."""
    here = source.interface(path.source.interface) if source else None
    there = peer.interface(path.destination.interface) if peer else None
    ways = (path.network.subnet, path.destination.ip)
    route = next((r for r in (source.routes if source else ()) if r.destination in ways and r.mtu), None)
    return Ends(
        source_mtu=here.mtu if here else None,
        peer_mtu=there.mtu if there else None,
        route_mtu=route.mtu if route else None,
    )
