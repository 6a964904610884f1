"""racwire's own footprint: what its probes and measurements may have moved is no finding of the cluster.

A measurement that ran shortly before, or another racwire at the same time, moves the counters that a run reads. A
finding from such a counter stays, with its number; it proves no cause, and advises no change. After a measurement or
during one it warns at most, and so it does where only this run's own probes moved the counter; another racwire that
probes sends too little to make a failure of a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

import msgspec

from checks.model.facts import Cluster, CounterChange, CounterChanges, Flows, RecentLoad
from checks.model.finding import FAULTS, Finding, NextStep, Status, check_again
from checks.model.fragment_memory import USUAL_FRAGMENT_S
from checks.model.measurement_command import command_of
from checks.model.wording import counted, listed, span
from checks.rules.lost_blocks import quiet_tells
from checks.rules.nic_counts import NicFault, faults_of, loss_ends, private_nics_counted
from checks.rules.node_counts import counts_of, own_incomplete, sysctl

_OWN = "may_be_own_footprint"
"""The datum of a finding that racwire's own packets may have caused."""
_MOVED_LATER = ("IC-LOST-002", "IC-REASM-002", "IC-REASM-003", "IC-REASM-005", "IC-FRAG-002")
"""The codes of findings that a measurement still moves after its end: its incomplete datagrams hold the memory for
reassembly until ipfrag_time is over, and then count as failed; blocks in fragments find no room meanwhile."""
_MOVED_BY_PROBES = ("IC-LOST-002", "IC-REASM-002", "IC-UDP-004", "IC-NIC-003", "IC-NIC-004", "IC-NIC-005")
"""Those that the packets of a check can move: too few to fill a memory, and to ports without a socket."""
_MOVED_MEANWHILE = (
    *_MOVED_BY_PROBES,
    *_MOVED_LATER,
    "IC-UDP-002",
    "IC-UDP-005",
    "IC-LOAD-002",
    "IC-NIC-009",
    "IC-NIC-010",
    "IC-NIC-013",
    "IC-NIC-015",
)
_MEASURES = "racwire-measure"
_DATAGRAMS, _PINGS = "racwire-probe", "racwire-pings"
_PROBES = {_DATAGRAMS: "probed", _PINGS: "pinged"}
_NIC_FAULTS = {
    "IC-NIC-003": NicFault.OVERRUN, "IC-NIC-020": NicFault.PORT_BUFFER, "IC-NIC-004": NicFault.DROPPED,
    "IC-NIC-005": NicFault.SEND_QUEUE,
}  # fmt: skip


def may_be_own(finding: Finding) -> bool:
    """Return whether racwire's own packets may have caused a finding: then it proves nothing."""
    return finding.data.get(_OWN) is True


def notices(cluster: Cluster) -> tuple[str, ...]:
    """Return a sentence for each load of racwire, other than this run's probes, that this run may have seen, and one
    that says what follows; nothing where racwire was alone."""
    loads = tuple(_loads(cluster))
    return (*loads, "Counters that racwire moved prove no cause in this report.") if loads else ()


def _loads(cluster: Cluster) -> Iterator[str]:
    for one in cluster.recent_load:
        if _is_recent(cluster, one):
            yield f"{_command(one)} from {one.node} sent until {_clock(one.ended_at)}."
    if nodes := _measuring(cluster):
        yield f"A measurement or drill of racwire ran on {listed(nodes)} meanwhile."
    for did, nodes in _probing(cluster):
        yield f"Another racwire {did} from {listed(nodes)} meanwhile."


def without_footprint(cluster: Cluster, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings; those that racwire's own packets may have caused prove nothing and advise no change."""
    return tuple(_marked(cluster, finding) for finding in findings)


def _marked(cluster: Cluster, finding: Finding) -> Finding:
    if finding.status not in FAULTS or may_be_own(finding):
        return finding
    doubt = _doubt(cluster, finding)
    if doubt is None:
        return finding
    why, step, most = doubt
    return msgspec.structs.replace(
        finding,
        status=max((finding.status, most), key=lambda status: status.gravity),
        data={**finding.data, _OWN: True},
        seen=(why, *finding.seen),
        next=(step, *(one for one in finding.next if not one.is_change)),
    )


def _doubt(cluster: Cluster, finding: Finding) -> tuple[str, NextStep, Status] | None:
    """Return why racwire itself may have caused a finding, the step that shows it, and the worst status that remains;
    None where it cannot have caused it."""
    loads = [one for one in cluster.recent_load if _is_recent(cluster, one) and _touches(one, finding)]
    began = cluster.counters.begun_at if isinstance(cluster.counters, CounterChanges) else ""
    for one in loads:
        if finding.code in (_MOVED_MEANWHILE if _later(one.ended_at, began) else _MOVED_LATER):
            after = _clock(one.ended_at, _fragment_s(cluster))
            return (
                f"may be the footprint of {_command(one)} from {one.node}, which sent until {_clock(one.ended_at)}",
                _again(finding, f"after {after}, with no measurement before"),
                Status.WARN,
            )
    wait = f"{_fragment_s(cluster)} s after"
    if finding.code in _MOVED_MEANWHILE and (nodes := _measuring(cluster)):
        return (
            f"may be the footprint of a measurement or drill of racwire, which ran on {listed(nodes)} meanwhile",
            _again(finding, f"{wait} the measurement has ended"),
            Status.WARN,
        )
    if finding.code in _MOVED_BY_PROBES:
        if number := _own(cluster, finding):
            return number, _again(finding, "while the cluster is busy"), Status.WARN
        for did, nodes in _probing(cluster):
            return (
                f"may be the footprint of another racwire, which {did} from {listed(nodes)}",
                _again(finding, f"{wait} the other racwire has ended"),
                Status.FAIL,
            )
    return None


def _again(finding: Finding, when: str) -> NextStep:
    return NextStep(f"Run the check again {when}.", check_again(finding.check).commands)


# --- other loads ------------------------------------------------------------------------------------------------------


def _command(load: RecentLoad) -> str:
    return f"`{command_of(load.kind)}`"


def _measuring(cluster: Cluster) -> list[str]:
    """Return the nodes on which a measurement or drill ran at the start of the run, or at the readings."""
    at_start = {node.name for node in cluster.read_nodes() if _MEASURES in node.racwires}
    changes = cluster.counters.nodes if isinstance(cluster.counters, CounterChanges) else ()
    return sorted(at_start | {change.node for change in changes if _MEASURES in change.racwires})


def _probing(cluster: Cluster) -> Iterator[tuple[str, list[str]]]:
    """Yield what other racwires did and from which nodes: at the start of the run, or while this one probed."""
    meanwhile = {
        _DATAGRAMS: {other.node for other in cluster.flows.others} if isinstance(cluster.flows, Flows) else set[str](),
        _PINGS: {path.from_node for path in cluster.paths if path.beside_pid}
        if isinstance(cluster.paths, tuple)
        else set[str](),
    }
    for lock, did in _PROBES.items():
        if nodes := meanwhile[lock] | {node.name for node in cluster.read_nodes() if lock in node.racwires}:
            yield did, sorted(nodes)


def _is_recent(cluster: Cluster, load: RecentLoad) -> bool:
    """Return whether a load can have moved what this run counted: it ended within ipfrag_time before, or later."""
    began = cluster.counters.begun_at if isinstance(cluster.counters, CounterChanges) else cluster.taken_at
    return _later(load.ended_at, began, _fragment_s(cluster))


def _touches(load: RecentLoad, finding: Finding) -> bool:
    return not finding.nodes or not set(finding.nodes).isdisjoint(load.nodes)


def _fragment_s(cluster: Cluster) -> int:
    """Return the longest ipfrag_time of the nodes, in seconds."""
    known = [s for node in cluster.read_nodes() if (s := sysctl(cluster, node.name, "net.ipv4.ipfrag_time"))]
    return max(known, default=USUAL_FRAGMENT_S)


def _later(time: str, other: str, by_s: int = 0) -> bool:
    try:
        return datetime.fromisoformat(time) + timedelta(seconds=by_s) >= datetime.fromisoformat(other)
    except (ValueError, TypeError, OverflowError):
        return False


def _clock(time: str, later_s: int = 0) -> str:
    """Return the time of day, so many seconds later: `10:03:12`."""
    return f"{datetime.fromisoformat(time) + timedelta(seconds=later_s):%H:%M:%S}"


# --- this run's own probes --------------------------------------------------------------------------------------------


def _own(cluster: Cluster, finding: Finding) -> str:
    """Return how this run's own probes explain a finding; empty where they do not."""
    if not isinstance(cluster.counters, CounterChanges):
        return ""
    changes = [change for change in cluster.counters.nodes if not finding.nodes or change.node in finding.nodes]
    if finding.code == "IC-REASM-002":
        failing = [counts for change in changes if (counts := counts_of(change)).failed]
        own = [own_incomplete(cluster, counts) for counts in failing]
        if failing and all(number >= counts.failed for number, counts in zip(own, failing, strict=True)):
            return f"may be racwire's own datagrams: {counted(sum(own), 'block')} in fragments got no answer"
        return ""
    if finding.code in ("IC-UDP-004", *_NIC_FAULTS) and changes and _only_while_probing(cluster, changes, finding):
        quiet_s = min(change.seconds for change in cluster.counters.quiet)
        return f"counted only while racwire probed, and not in the {span(quiet_s)} in which it sent nothing"
    return ""


def _only_while_probing(cluster: Cluster, changes: Sequence[CounterChange], finding: Finding) -> bool:
    """Return whether the counters grew only while racwire probed, and the quiet time was long enough to tell."""
    every = cluster.counters.quiet if isinstance(cluster.counters, CounterChanges) else ()
    quiet = [part for change in changes for part in every if part.node == change.node]
    number = _numbers(cluster, changes, finding)
    if len(quiet) < len(changes) or _numbers(cluster, quiet, finding):
        return False
    return all(
        quiet_tells(number, change.seconds - part.seconds, change.seconds)
        for part, change in zip(quiet, changes, strict=True)
    )


def _numbers(cluster: Cluster, changes: Sequence[CounterChange], finding: Finding) -> int:
    fault = _NIC_FAULTS.get(finding.code)
    if fault is None:
        return sum(counts_of(change).backlog_dropped for change in changes)
    nics = private_nics_counted(cluster, changes)
    return sum(
        f.number for nic in nics for f in faults_of(nic, cluster.thresholds, loss_ends(cluster)) if f.fault is fault
    )
