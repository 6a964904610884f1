"""Pages of the report, parsed by an independent parser that accepts no fault; and large evidence, made up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import html5lib
import msgspec

from checks.facts import Cluster
from checks.finding import EvidenceRef, Finding, Remedy, Status, Table
from checks.journal import Entry
from checks.report.evidence import Evidence
from checks.report.html import to_html
from checks.result import Report
from checks.traffic.samples import InstanceSample, InterfaceCounts, NodeSample
from checks.traffic.timeline import Timeline, Track
from tests.fixtures.databases import asked, history, losing, past_loss, period, transfers
from tests.fixtures.reports import black_hole, report_of
from tests.unit.recording_support import BEGIN, busy


class Page:
    """A page, parsed."""

    def __init__(self, report: Report, track: Track | None = None) -> None:
        self.source = to_html(Evidence(report, track)).decode()
        self.root = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(self.source)

    def all(self, *tags: str) -> list[Any]:
        """The elements of these names, those of SVG included; all where none is named."""
        return [e for e in self.root.iter() if not tags or name_of(e) in tags]

    def by_id(self, anchor: str) -> Any:
        """The one element of that id."""
        (found,) = [e for e in self.all() if e.get("id") == anchor]
        return found

    def text(self, anchor: str = "") -> str:
        """All words of the page, or of a part of it, with single blanks."""
        return words(self.by_id(anchor) if anchor else self.root)


def name_of(element: Any) -> str:
    """`svg`, whatever namespace it is in."""
    return str(element.tag).rpartition("}")[2]


def words(element: Any) -> str:
    """What can be read in it."""
    return " ".join(" ".join(element.itertext()).split())


def cells(table: Any) -> list[list[str]]:
    """A table as rows of words."""
    return [[words(c) for c in row if name_of(c) in ("td", "th")] for row in table.iter() if name_of(row) == "tr"]


def losing_report() -> Report:
    """Three nodes, a black hole, blocks lost now and in the past."""
    past = history(
        3,
        [past_loss(2)],
        periods=tuple(period(n, day, 37 if (n, day) == (2, 17) else 0) for n in (1, 2, 3) for day in (14, 15, 17, 18)),
        transfers=transfers(3, {(2, 1): 1_204}),
    )
    return report_of(asked(black_hole(3), activity=losing(2, 37, {1: 37}, 3), history=past))


def busy_track(seconds: int) -> Timeline:
    """Two busy nodes with their instances."""
    track = Timeline()
    for events in busy(seconds):
        track.add(events)
    return track


def large_track(nodes: int, seconds: int, *, without: range = range(0)) -> Timeline:
    """Both private interfaces of each node and its instance, each second another figure; rac2 and prod2 were silent in
    some seconds."""
    track = Timeline()
    for second in range(1, seconds + 1):
        for n in range(1, nodes + 1):
            if n == 2 and second in without:
                continue
            at, some = BEGIN + second, 1 + (7 * second + 13 * n) % 97
            counts = InterfaceCounts(rx_bytes=10**7 * some, tx_bytes=9 * 10**6 * some, rx_packets=some, tx_packets=some)
            private = {"eth1": counts, "eth2": counts}
            track.add([NodeSample(f"rac{n}", at, 1.0, private, {"Ip.ReasmFails": some})])
            track.add([InstanceSample(f"prod{n}", n, f"rac{n}", at, 1.0, {"gc blocks lost": some})])
    return track


def large_report(nodes: int, findings: int) -> Report:
    """So many nodes, and so many problems of every kind of status that has to be looked at, each with a table, steps
    and evidence of a few kilobytes."""
    base = report_of(_large_cluster(nodes))
    journal = tuple(
        Entry(
            f"rac{n}",
            f"topic {k}",
            f"ping -n -M do -s 8972 -c 20 -i 0.2 -W 1 -I 192.168.10.{n} 192.168.10.{k}",
            "2026-11-20T14:02:31.100+01:00",
            3.1,
            text=f"{k}: 0 1 2\n" * 250,
        )
        for n in range(1, nodes + 1)
        for k in range(40)
    )
    return msgspec.structs.replace(base, findings=tuple(_problems(base, nodes, findings)), journal=journal)


def _large_cluster(nodes: int) -> Cluster:
    return asked(black_hole(nodes), activity=losing(2, 37, {1: 37}, nodes))


def _problems(base: Report, nodes: int, count: int) -> Iterator[Finding]:
    networks = base.cluster.networks
    assert isinstance(networks, tuple)
    statuses = (Status.FAIL, Status.UNKNOWN, Status.WARN)
    for number in range(count):
        node = f"rac{number % nodes + 1}"
        yield Finding(
            code=f"IC-TEST-{number:03}",
            check="df-ping",
            status=statuses[number * len(statuses) // count],
            title=f"Jumbo frames vanish on 192.168.{number}.0 between {node} and every other node, both ways.",
            subject=f"eth2 {node}: black hole",
            seen=(f"{node}: 56 bytes 20/20; 8972 bytes {number % 20}/20", "largest that passes: 1500"),
            expected=("8972 bytes to pass: the NICs at both ends are set to 9000",),
            why="A switch port on the path has a smaller MTU and drops them silently. Blocks go out as one frame.",
            next=(
                Remedy("Ask the network team for the MTU of both ports.", ("show interface ETH | include MTU",)),
                Remedy("Have the switch raised to its platform's maximum.", is_change=True),
            ),
            evidence=(EvidenceRef(node, f"topic {number % 20}"),),
            sources=("MOS 563566.1, cause 5",),
            table=Table(("from", "rac1", "rac2"), (("rac1", "·", "1500 B"), ("rac2", "1500 B", "·")), "B black hole"),
            network=networks[number % len(networks)].name,
            nodes=(node,),
        )
