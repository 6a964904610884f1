"""Engines without a network: gatherers that return the facts of a made-up cluster, at a pace that the test sets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

import msgspec

from checks.model.check import Check, Kind, check
from checks.model.facts import Cluster, Leg, NotAsked, UnreadNode, Verdict
from checks.model.finding import Finding, NextStep, Status, Table
from checks.model.report import Report
from checks.model.settings import Settings
from checks.run.check_discovery import discover
from checks.run.engine import Engine
from checks.run.gathering import Gatherer
from checks.sources.nodes.session import Session
from tests.fixtures.clusters import cluster, clusterware, node, path, with_paths
from tests.fixtures.databases import counters

GROUPS: dict[str, tuple[str, ...]] = {
    "clusterware": (),
    "nodes": ("clusterware",),
    "networks": ("clusterware", "nodes"),
    "paths": ("nodes", "networks"),
    "counters": ("nodes",),
    "database": (),
    "activity": ("database",),
    "history": ("database",),
    "setups": ("clusterware",),
}

Gather = Callable[[Session, Cluster], Awaitable[object]]


class TimelessEngine(Engine):
    """An engine whose report has the same time in every run."""

    def report(self, *, interrupted: bool = False) -> Report:
        """Return the report, with a fixed date."""
        return msgspec.structs.replace(
            super().report(interrupted=interrupted), started_at="2026-11-20T14:02:31.000+01:00", duration_s=1.9
        )


def healthy() -> Cluster:
    """Return three healthy nodes."""
    return without_database(cluster(3))


def black_hole() -> Cluster:
    """Return a cluster that loses jumbo frames to and from rac3 on eth2: the switch port of rac3 has a smaller MTU."""
    base = without_database(cluster(3))
    assert isinstance(base.networks, tuple)
    eth2 = next(n for n in base.networks if n.interface == "eth2")
    lost = [("rac1", "rac3", Leg.REQUEST), ("rac2", "rac3", Leg.REQUEST)]
    lost += [("rac3", "rac1", Leg.REQUEST), ("rac3", "rac2", Leg.REQUEST)]
    return with_paths(base, *(path(eth2, a, b, Verdict.BLACK_HOLE, leg) for a, b, leg in lost))


def node_unread(reason: str = "ssh asked for a password.") -> Cluster:
    """Return three nodes, of which rac3 could not be read."""
    return without_database(cluster([node(1), node(2), UnreadNode("rac3", reason)], clusterware(3)))


def without_database(built: Cluster) -> Cluster:
    """Return the cluster with healthy kernel counters, without a database."""
    left_out = NotAsked(
        "No database connection is set; prod1 runs here.", ("racwire check --connect HOST:1521/SERVICE",)
    )
    known = counters(len(built.read_nodes()))
    return msgspec.structs.replace(built, counters=known, database=left_out, activity=left_out, history=left_out)


def gatherers(facts: Cluster, **instead: Gather) -> Sequence[Gatherer]:
    """Return gatherers of these facts; `instead` has other functions for some groups."""

    def give(group: str) -> Gather:
        async def gather(session: Session, known: Cluster) -> object:
            session.local_node = facts.local_node
            with session.journal.entry(facts.local_node, "oifcfg getif", "oifcfg getif") as entry:
                entry.text = "eth1  192.168.10.0  global  cluster_interconnect"
            if group == "paths":
                for number in range(3):
                    session.progress("paths", "probing", number + 1, 3)
                    await asyncio.sleep(0)
                _record_pings(session, facts)
            return getattr(facts, group)

        return gather

    return [Gatherer(g, needs, instead.get(g, give(g)), limit_s=30) for g, needs in GROUPS.items()]


def _record_pings(session: Session, facts: Cluster) -> None:
    for probe in facts.paths if isinstance(facts.paths, tuple) else ():
        topic = f"path {probe.network} {probe.from_node} {probe.to_node}"
        with session.journal.entry(probe.from_node, topic, f"DF ping -s 8972 {probe.destination_ip}") as entry:
            entry.text = f"{probe.verdict}: 8972 bytes {probe.series[1].received}/20"


def engine(facts: Cluster, checks: Sequence[Check] | None = None, **instead: Gather) -> Engine:
    """Return an engine that judges these facts by the built-in checks."""
    return TimelessEngine(checks or tuple(discover()), Settings(), gatherers=gatherers(facts, **instead))


_KIND = Kind(
    "IC-PATH-003", "Jumbo frames vanish", "Blocks of 8 KB go out as one frame, and are lost.", ("MOS 563566.1",)
)
_CALM = Kind("IC-IFACE-001", "All there")


@check("df-ping", question="Do full-size packets pass?", needs=("paths",), kinds=(_KIND,))
def _df_ping(facts: Cluster) -> Iterator[Finding]:
    """Yield always the same finding, so that pictures with it are stable."""
    yield _KIND.finding(
        "Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac3, both ways.",
        status=Status.FAIL,
        subject="eth2: black hole",
        seen=("1472 bytes 5/5 answered", "8972 bytes 0/5, no error"),
        expected=("8972 bytes to pass: both NICs are set to 9000",),
        next=[
            NextStep("Ask the network team for the MTU of both ports."),
            NextStep("See it.", ("ping -c 3 -M do -I 192.168.11.1 -s 8972 192.168.11.3",), "any user on rac1"),
            NextStep("Have the switch raised to 9216.", is_change=True),
        ],
        table=Table(("from", "rac1", "rac3"), (("rac1", "·", "1500 B"), ("rac3", "1500 B", "·")), "B black hole"),
        network="eth2",
        nodes=["rac3"],
    )


@check("interfaces", question="Are they there?", needs=("networks",), kinds=(_CALM,))
def _interfaces(facts: Cluster) -> Iterator[Finding]:
    """Yield always the same finding of an unread node."""
    yield _CALM.finding("eth1 is there.", status=Status.PASS, subject="eth1 192.168.10.0/24")
    yield _CALM.finding(
        "rac2 could not be read: ssh asked for a password.", status=Status.UNKNOWN, subject="rac2 not read"
    )


UNCHANGING = (_df_ping, _interfaces)
"""Checks whose texts are independent of those of the real checks."""
