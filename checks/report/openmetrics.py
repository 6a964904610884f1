"""The report as metrics in text, for node_exporter's textfile collector and all else that reads Prometheus' format.

`metrics.METRICS` is the table of all there are. It is OpenMetrics, too: there are only gauges, without times of their
own, and what only one of the two formats knows (`# UNIT`, `# EOF`) is a comment in the other.

What is not known has no sample, and is counted in `racwire_unknown` with what it is and the sort of its reason. A
waived finding has its sample like any other, marked by a label, so that an alert can leave it out and a board can show
it. Labels hold names and no figures or sentences, so that a cluster has the same series in each run: some six for each
path, a few for each node, instance and problem. Where two things have the same labels, as two nodes whose names differ
only in what is cut off here, the first is told; problems are added up.

The files of the textfile collector end in `.prom`, are put there whole, and must be readable to node_exporter. Where
that runs as another user: `racwire report --format openmetrics > racwire.prom.new; mv racwire.prom.new racwire.prom`
(not `&&`: the exit code of a report tells of problems, and the metrics are to tell them, too). Where it runs as the
same one: `racwire report -o racwire.prom --force`, whose files are readable to their owner alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from checks.model.exit_codes import ExitCode
from checks.model.facts import (
    FACT_GROUPS,
    Activity,
    Cluster,
    CounterChanges,
    Database,
    InstanceActivity,
    NotAsked,
    PathProbe,
    PingSeries,
    Unknown,
    Verdict,
)
from checks.model.finding import PROBLEMS, Finding, Status
from checks.model.packet_sizes import SMALL_PAYLOAD
from checks.model.report import Report, exit_code
from checks.model.sanitize import shown
from checks.report.summary import cluster_name
from checks.rules.cache_fusion import average_cr_receive_ms, average_current_receive_ms, due, lost, received


class MetricFamily(NamedTuple):
    """A line of the table."""

    name: str
    labels: tuple[str, ...]
    help: str
    """One sentence."""

    @property
    def unit(self) -> str:
        """The base unit that its name ends in; empty where it counts, or tells a rate."""
        last = self.name.rpartition("_")[2]
        return last if last in ("seconds", "bytes", "ratio") else ""


_TABLE = """
racwire_info{version,cluster,node} The racwire that looked, at which cluster and from which node; always 1.
racwire_run_timestamp_seconds When the cluster was looked at: the beginning of the run, in Unix time.
racwire_run_duration_seconds How long the run took.
racwire_run_exit_code 0 pass, 1 warnings, 2 failures, 3 could not tell, 130 interrupted.
racwire_saved 1 where this was saved and is told again: the state is that of the run, not of now; else 0.
racwire_findings{status} Findings of each status, without those that are waived.
racwire_findings_waived{status} Findings of each status that are waived.
racwire_finding{code,check,status,network,nodes,waived} Problems: how many of this code and place there are.
racwire_waiver{code,check,subject,standing} Waivers: in_force, expired, lifted, not_needed or not_checked.
racwire_check_exit_code{check} As racwire_run_exit_code, of one check alone; absent where it was left out.
racwire_unknown{what,reason} What is not known: how many of them, and the sort of reason.
racwire_network_mtu_bytes{network} What a private network is meant to carry.
racwire_interface_mtu_bytes{node,interface,network} The MTU of a private interface.
racwire_path_expected_mtu_bytes{network,from,to} The packet that ought to pass between two nodes.
racwire_path_mtu_bytes{network,from,to} The largest packet that was found to pass between two nodes.
racwire_path_verdict{network,from,to,verdict} How a path treats full-size packets; always 1.
racwire_path_loss_ratio{network,from,to,size} Small or full-size pings that were not answered, of those sent.
racwire_path_rtt_seconds{network,from,to,size} The median round trip of small or full-size pings.
racwire_probe_sent_packets Packets that the run sent over the private networks to probe them.
racwire_probe_sent_bytes Bytes of these packets.
racwire_node_interval_seconds{node} The time over which a node's kernel counters are told.
racwire_node_reassembly_failures_per_second{node} Packets that a node could not put together.
racwire_node_reassembly_failure_ratio{node} Such failures, of the fragments that arrived.
racwire_node_udp_receive_buffer_errors_per_second{node} Datagrams thrown away for want of room in a receive buffer.
racwire_instance_interval_seconds{db_instance,node} The time over which an instance's counters are told.
racwire_instance_blocks_received_per_second{db_instance,node} Blocks that an instance received from others.
racwire_instance_blocks_lost_per_second{db_instance,node} Blocks that were sent to an instance and never came.
racwire_instance_blocks_lost_ratio{db_instance,node} Blocks lost, of those received or lost.
racwire_instance_block_receive_seconds{db_instance,node,kind} How long a block took to come on average: cr or current.
"""
_LINE = re.compile(r"(\w+)(?:\{([\w,]+)\})? (.+)")


def _metrics() -> dict[str, MetricFamily]:
    lines = (_LINE.fullmatch(line) for line in _TABLE.strip().splitlines())
    return {m[1]: MetricFamily(m[1], tuple(m[2].split(",")) if m[2] else (), m[3]) for m in lines if m}


METRICS = _metrics()
"""By name, in the order in which they are written."""


_NOT_NEEDED = Cluster(local_node="", taken_at="")
"""Of which nobody asked anything."""
_LONGEST = 128
"""Characters of a label's value; a longer one ends in a sign that it is cut."""

Sample = tuple[str, tuple[str, ...], float | int | None]
"""A metric's name, the values of its labels in the order of the table, and its value; None is not known."""


def to_openmetrics(report: Report) -> bytes:
    """All metrics of the report, in UTF-8; those of one name together."""
    families: dict[str, dict[tuple[str, ...], float]] = {name: {} for name in METRICS}
    for name, labels, value in _samples(report):
        number = _number(value)
        if number is not None:
            families[name].setdefault(tuple(map(_plain, labels)), number)
    lines = [line for name, series in families.items() if series for line in _family(METRICS[name], series)]
    return ("\n".join([*lines, "# EOF"]) + "\n").encode()


def _family(metric: MetricFamily, series: dict[tuple[str, ...], float]) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} gauge"
    if metric.unit:
        yield f"# UNIT {metric.name} {metric.unit}"
    for labels, value in series.items():
        named = zip(metric.labels, labels, strict=True)
        pairs = ",".join(f'{name}="{_escaped(label)}"' for name, label in named if label)  # an empty one is none
        yield f"{metric.name}{{{pairs}}} {_written(value)}" if pairs else f"{metric.name} {_written(value)}"


def _samples(report: Report) -> Iterator[Sample]:
    cluster = report.cluster
    yield from _run(report)
    yield from _findings(report)
    for waiver in report.waivers:
        yield "racwire_waiver", (waiver.code, waiver.check, waiver.subject, waiver.standing.replace(" ", "_")), 1
    yield from _networks(cluster)
    yield from _paths(cluster)
    if isinstance(cluster.counters, CounterChanges):
        yield from _nodes(cluster.counters)
    if isinstance(cluster.activity, Activity):
        yield from _instances(cluster.activity, cluster.database)
    yield from _unknown(cluster)


def _run(report: Report) -> Iterator[Sample]:
    yield "racwire_info", (report.racwire_version, cluster_name(report), report.cluster.local_node), 1
    yield "racwire_run_timestamp_seconds", (), _unix_time(report.started_at)
    yield "racwire_run_duration_seconds", (), report.duration_s
    yield "racwire_run_exit_code", (), exit_code(report)
    yield "racwire_saved", (), int(bool(report.saved_at))


def _findings(report: Report) -> Iterator[Sample]:
    alike: dict[tuple[str, ...], int] = {}
    counts = {(status, waived): 0 for status in Status for waived in (False, True)}
    checks: dict[str, int | None] = {}
    for finding in report.findings:
        counts[finding.status, finding.waived is not None] += 1
        checks[finding.check] = _graver(checks.get(finding.check), _code(finding))
        if finding.status in PROBLEMS:
            key = tuple(map(_plain, _labels(finding)))
            alike[key] = alike.get(key, 0) + 1
    yield from (("racwire_findings", (status,), counts[status, False]) for status in Status)
    yield from (("racwire_findings_waived", (status,), counts[status, True]) for status in Status if status in PROBLEMS)
    yield from (("racwire_check_exit_code", (check,), code) for check, code in checks.items())
    yield from (("racwire_finding", key, number) for key, number in alike.items())


def _labels(finding: Finding) -> tuple[str, ...]:
    waived = "true" if finding.waived else "false"
    return finding.code, finding.check, finding.status, finding.network, ",".join(finding.nodes), waived


def _code(finding: Finding) -> int | None:
    """What the exit code would be of this finding alone; None of one that was left out."""
    if finding.status is Status.SKIPPED:
        return None
    if finding.waived:
        return ExitCode.PASS
    codes = {
        Status.FAIL: ExitCode.FAILURES,
        Status.UNKNOWN: ExitCode.COULD_NOT_TELL,
        Status.WARN: ExitCode.WARNINGS,
    }
    return codes.get(finding.status, ExitCode.PASS)


_WORST_LAST = (None, ExitCode.PASS, ExitCode.WARNINGS, ExitCode.COULD_NOT_TELL, ExitCode.FAILURES)


def _graver(one: int | None, other: int | None) -> int | None:
    return max(one, other, key=_WORST_LAST.index)


def _networks(cluster: Cluster) -> Iterator[Sample]:
    for network in () if isinstance(cluster.networks, Unknown) else cluster.networks:
        yield "racwire_network_mtu_bytes", (network.name,), _known(network.mtu)
        for port in network.ports:
            if interface := cluster.interface(port):
                yield "racwire_interface_mtu_bytes", (port.node, port.interface, network.name), interface.mtu


def _paths(cluster: Cluster) -> Iterator[Sample]:
    if isinstance(cluster.paths, Unknown):
        return
    for path in cluster.paths:
        way = path.network, path.from_node, path.to_node
        yield "racwire_path_expected_mtu_bytes", way, path.expected_mtu
        passes = path.verdict is Verdict.PASSES and path.path_mtu is None  # then nothing larger was looked for
        yield "racwire_path_mtu_bytes", way, path.expected_mtu if passes else _known(path.path_mtu)
        yield "racwire_path_verdict", (*way, path.verdict), 1
        for size, series in _by_size(path).items():
            yield "racwire_path_loss_ratio", (*way, size), _loss(series)
            yield "racwire_path_rtt_seconds", (*way, size), _over(series.rtt_ms_median, 1000)
    yield "racwire_probe_sent_packets", (), sum(path.packets_sent for path in cluster.paths)
    yield "racwire_probe_sent_bytes", (), sum(path.bytes_sent for path in cluster.paths)


def _by_size(path: PathProbe) -> dict[str, PingSeries]:
    """The pings that any link carries, and those that are as large as they ought to pass."""
    header = 48 if ":" in path.destination_ip else 28
    names = {SMALL_PAYLOAD: "small", path.expected_mtu - header: "full"}
    return {names[series.payload]: series for series in path.series if series.payload in names}


def _loss(series: PingSeries) -> float | None:
    """What the node's own kernel refused was never on the way."""
    sent = series.sent - series.refused_locally
    return _over(sent - series.received, sent)


def _nodes(changes: CounterChanges) -> Iterator[Sample]:
    for change in changes.nodes:
        node, value = (change.node,), change.counters.value
        yield "racwire_node_interval_seconds", node, change.seconds
        failed = value("Ip", "ReasmFails")
        yield "racwire_node_reassembly_failures_per_second", node, _over(failed, change.seconds)
        yield "racwire_node_reassembly_failure_ratio", node, _over(failed, value("Ip", "ReasmReqds"))
        overflowed = _over(value("Udp", "RcvbufErrors"), change.seconds)
        yield "racwire_node_udp_receive_buffer_errors_per_second", node, overflowed


def _instances(activity: Activity, database: Database | Unknown | NotAsked) -> Iterator[Sample]:
    for own in activity.instances:
        if not isinstance(own, InstanceActivity):
            continue
        known = database.instance(own.instance) if isinstance(database, Database) else None
        of = (known.name, known.host) if known else (f"instance {own.instance}", "")
        gone, came = lost(own.statistics), received(own.statistics)
        yield "racwire_instance_interval_seconds", of, own.seconds
        yield "racwire_instance_blocks_received_per_second", of, _over(came, own.seconds)
        yield "racwire_instance_blocks_lost_per_second", of, _over(gone, own.seconds)
        yield "racwire_instance_blocks_lost_ratio", of, _over(gone, due(own.statistics))
        for kind, time_ms in (
            ("cr", average_cr_receive_ms(own.statistics)),
            ("current", average_current_receive_ms(own.statistics)),
        ):
            yield "racwire_instance_block_receive_seconds", (*of, kind), _over(time_ms, 1000)


def _unknown(cluster: Cluster) -> Iterator[Sample]:
    for group in FACT_GROUPS:
        fact = getattr(cluster, group)
        if isinstance(fact, Unknown | NotAsked) and fact != getattr(_NOT_NEEDED, group):
            yield "racwire_unknown", (group, "not_asked" if isinstance(fact, NotAsked) else "not_gathered"), 1
    yield "racwire_unknown", ("node", "not_read"), len(cluster.unread_nodes()) or None
    if not isinstance(cluster.paths, Unknown):
        judged = sum(path.verdict is Verdict.UNKNOWN for path in cluster.paths)
        yield "racwire_unknown", ("path", "not_told"), judged or None
        sizes = sum(isinstance(path.path_mtu, Unknown) for path in cluster.paths)
        yield "racwire_unknown", ("path_mtu", "not_found"), sizes or None
    if isinstance(cluster.counters, CounterChanges):
        yield "racwire_unknown", ("node_counters", "not_read"), len(cluster.counters.unread) or None
    if isinstance(cluster.activity, Activity):
        gaps = sum(not isinstance(own, InstanceActivity) for own in cluster.activity.instances)
        yield "racwire_unknown", ("instance_counters", "not_told"), gaps or None
    if isinstance(cluster.database, Database):
        yield "racwire_unknown", ("instance", "not_asked"), len(cluster.database.unasked) or None


def _known(value: int | Unknown | None) -> int | None:
    return None if isinstance(value, Unknown) else value


def _over(dividend: float | None, divisor: float | None) -> float | None:
    """None where one of them is not known, or there is nothing to divide by."""
    if dividend is None or divisor is None or not divisor > 0:
        return None
    try:
        return dividend / divisor
    except OverflowError:
        return None


def _unix_time(time: str) -> float | None:
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None


def _number(value: float | None) -> float | None:
    """A value that every reader takes; None for what is not known, or no number that means something."""
    try:
        number = None if value is None else float(value)
    except OverflowError:
        return None
    return number if number is not None and math.isfinite(number) else None


def _written(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.15g}"


def _plain(text: str) -> str:
    """Text from anywhere on one line, and not too long."""
    plain = shown(text)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"')
