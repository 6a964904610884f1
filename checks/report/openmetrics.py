"""The report as metrics, for the textfile collector of node_exporter and other readers of the Prometheus text format.

`METRICS` is the table of all metrics. The output is valid OpenMetrics, too: all metrics are gauges without timestamps,
and lines that only one of the two formats knows (`# UNIT`, `# EOF`) are comments in the other.

An unknown value has no sample; `racwire_unknown` counts it, with its kind and the kind of its reason. A waived finding
has a sample with a label that says so: an alert can leave it out, and a dashboard can display it. Labels contain names,
and no figures or sentences, so that a cluster has the same series in every run: about six for each path, a few for each
node, instance and problem, and some fifty for each path that was measured. Where two things have equal labels, for
example two nodes with long names that are cut here, the first one is written; problems with equal labels are added up.

The files of the textfile collector end in `.prom`, must appear complete, and must be readable by node_exporter. If
node_exporter runs as another user: `racwire report --format openmetrics > racwire.prom.new; mv racwire.prom.new
racwire.prom` (not `&&`: the exit code of a report is not 0 where it has problems, and the metrics are needed then,
too). If it runs as the same user: `racwire report -o racwire.prom --force`, whose files only their owner can read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

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
from checks.model.interconnect_load import InterconnectLoad, LoadClass, WireTime
from checks.model.packet_sizes import SMALL_PAYLOAD
from checks.model.report import Report, exit_code, exit_code_of
from checks.model.sanitize import sanitize
from checks.model.situation import Episode, Situation, Statement, status_now
from checks.model.sound_measurement import sound
from checks.report.causes import cause_entries
from checks.report.measured.fit import not_shown
from checks.report.measured.measured_samples import Sample, measured_samples, over, unix_time
from checks.report.summary import cluster_name
from checks.rules.cache_fusion import average_cr_receive_ms, average_current_receive_ms, due, lost, received
from checks.rules.load_of_run import interconnect_load


class MetricFamily(NamedTuple):
    """A line of the table."""

    name: str
    labels: tuple[str, ...]
    help: str
    """One sentence."""

    @property
    def unit(self) -> str:
        """The base unit at the end of the name; empty for a count or a rate."""
        last = self.name.rpartition("_")[2]
        return last if last in ("seconds", "bytes", "ratio") else ""


_TABLE = """
racwire_incident_events Events that last, are a problem, and are not planned: more than 0 during an incident.
racwire_events{kind,standing} Events by kind: lasts, not_known, planned, over or verified.
racwire_situation_timestamp_seconds The moment that the metrics describe, in Unix time.
racwire_info{version,cluster,node} The version of racwire, the cluster, and the node that racwire ran on; always 1.
racwire_run_timestamp_seconds When the run started, in Unix time.
racwire_run_duration_seconds How long the run took.
racwire_run_exit_code 0 pass, 1 warnings, 2 failures, 3 could not tell, 130 interrupted.
racwire_saved 1 if the metrics describe a saved state: that of the run, not the present one; else 0.
racwire_findings{status} Findings of each status at that moment, without waived findings.
racwire_findings_not_known Findings of the run that are not known any longer, PASS included.
racwire_findings_waived{status} Waived findings of each status.
racwire_finding{code,check,status,network,nodes,waived} The number of problems with this code at this place.
racwire_cause{cause,standing,network,place} A cause that was found, proved or supported, at its place; always 1.
racwire_waiver{code,check,subject,standing} Waivers: in_force, expired, lifted, not_needed or not_checked.
racwire_check_exit_code{check} The exit code for one check, as in racwire_run_exit_code; absent if it was skipped.
racwire_unknown{what,reason} The number of unknown facts of each kind, by kind of reason.
racwire_network_mtu_bytes{network} The MTU that a private network is meant to carry.
racwire_interface_mtu_bytes{node,interface,network} The MTU of a private interface.
racwire_path_expected_mtu_bytes{network,from,to} The size of the packet that must pass between two nodes.
racwire_path_mtu_bytes{network,from,to} The size of the largest packet that passed between two nodes.
racwire_path_verdict{network,from,to,verdict} How a path treats full-size packets; always 1.
racwire_path_loss_ratio{network,from,to,size} The share of small or full-size pings that had no answer.
racwire_path_rtt_seconds{network,from,to,size} The median round trip of small or full-size pings.
racwire_probe_sent_packets Packets that the run sent over the private networks to probe them.
racwire_probe_sent_bytes Bytes of these packets.
racwire_node_interval_seconds{node} The interval over which a node's kernel counters were compared.
racwire_node_reassembly_failures_per_second{node} Packets that a node could not reassemble.
racwire_node_reassembly_failure_ratio{node} Failed reassemblies per received fragment.
racwire_node_udp_receive_buffer_errors_per_second{node} Datagrams dropped because a receive buffer was full.
racwire_instance_interval_seconds{db_instance,node} The interval over which an instance's counters were compared.
racwire_instance_blocks_received_per_second{db_instance,node} Blocks that an instance received from other instances.
racwire_instance_blocks_lost_per_second{db_instance,node} Blocks that were sent to an instance and did not arrive.
racwire_instance_blocks_lost_ratio{db_instance,node} The share of lost blocks in the blocks received or lost.
racwire_instance_block_receive_seconds{db_instance,node,kind} The average time to receive a block: cr or current.
racwire_load_cluster_wait_ratio The waits for other instances, as a share of DB time, over all instances.
racwire_load_wire_ratio{limit} The share of DB time on the wire: low and high limit, and likely by pings.
racwire_load_kind{kind} The kind of the load by what it needs from the interconnect; always 1.
racwire_interconnect_user_bytes_per_second{db_instance,user,direction,basis} Bytes of cache, dlm, ...
racwire_interconnect_user_messages_per_second{db_instance,user,direction} Messages of a user; of cache, its blocks.
racwire_service_cluster_wait_ratio{service} The waits of a service for other instances, as a share of its DB time.
racwire_measured_timestamp_seconds{kind,ended} When the newest kept result of a kind was started, and how it ended.
racwire_measured_round_trip_seconds{network,from,to,size,pace,quantile} A message of so many bytes, there and back.
racwire_measured_received_bits_per_second{network,from,to,protocol} The highest rate of payload that arrived.
racwire_measured_lost_ratio{kind,network,from,to} The share of messages or datagrams that the network lost.
racwire_measured_flow_seconds{network,from,to,class,company,quantile} The time until a whole flow had arrived.
racwire_measured_source_ports{network,from,to,state} UDP source ports of a path that pass, and that are dead.
racwire_measured_storage_bytes_per_second{directory,direction} The median rate of a file of another server.
racwire_measured_silence_seconds{network,from,to,protocol} The longest time without an answer in the newest drill.
"""
_LINE = re.compile(r"(\w+)(?:\{([\w,]+)\})? (.+)")


def _metrics() -> dict[str, MetricFamily]:
    lines = (_LINE.fullmatch(line) for line in _TABLE.strip().splitlines())
    return {m[1]: MetricFamily(m[1], tuple(m[2].split(",")) if m[2] else (), m[3]) for m in lines if m}


METRICS = _metrics()
"""All metrics by name, in the order of the output."""


_LONGEST = 128
"""Most characters of a label's value. A longer value is cut and ends in `…`."""


def to_openmetrics(report: Report) -> bytes:
    """Return all metrics of the report in UTF-8, grouped by name."""
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
    if report.situation is not None:
        yield from _situation(report.situation)
        yield "racwire_findings_not_known", (), len(report.not_known)
    yield from _run(report)
    yield from _findings(report)
    for entry in cause_entries(report):
        for cause in entry.causes if entry.holds else ():
            yield "racwire_cause", (cause.cause, cause.standing, ",".join(cause.networks), ",".join(cause.nodes)), 1
    for waiver in report.waivers:
        yield "racwire_waiver", (waiver.code, waiver.check, waiver.subject, waiver.standing.replace(" ", "_")), 1
    yield from _networks(cluster)
    yield from _paths(cluster)
    if isinstance(cluster.counters, CounterChanges):
        yield from _nodes(cluster.counters)
    if isinstance(cluster.activity, Activity):
        yield from _instances(cluster.activity, cluster.database)
    yield from _load(cluster)
    for measurement in (one for one in sound(report.measurements) if not not_shown(one, cluster)):
        yield from measured_samples(measurement)
    yield from _unknown(cluster)


def _situation(situation: Situation) -> Iterator[Sample]:
    yield "racwire_situation_timestamp_seconds", (), situation.at
    yield "racwire_incident_events", (), len(situation.lasting)
    standings = Counter((episode.event.kind, _standing(episode)) for episode in situation.episodes)
    yield from (("racwire_events", labels, number) for labels, number in standings.items())


def _standing(episode: Episode) -> str:
    if episode.step:
        return "planned"
    if episode.until is None:
        return "not_known" if episode.is_open else "lasts"
    return "over" if episode.proved is None else "verified"


def _run(report: Report) -> Iterator[Sample]:
    yield "racwire_info", (report.racwire_version, cluster_name(report), report.cluster.local_node), 1
    yield "racwire_run_timestamp_seconds", (), unix_time(report.started_at)
    yield "racwire_run_duration_seconds", (), report.duration_s
    yield "racwire_run_exit_code", (), exit_code(report)
    yield "racwire_saved", (), int(bool(report.saved_at))


def _findings(report: Report) -> Iterator[Sample]:
    alike: dict[tuple[str, ...], int] = {}
    counts = {(status, waived): 0 for status in Status for waived in (False, True)}
    checks: dict[str, list[tuple[Finding, Statement | None]]] = {}
    for finding, said in report.stated():
        checks.setdefault(finding.check, []).append((finding, said))
        if status_now(finding, said) is finding.status:
            counts[finding.status, finding.waived is not None] += 1
            if finding.status in PROBLEMS:
                key = tuple(map(_plain, _labels(finding)))
                alike[key] = alike.get(key, 0) + 1
    yield from (("racwire_findings", (status,), counts[status, False]) for status in Status)
    yield from (("racwire_findings_waived", (status,), counts[status, True]) for status in Status if status in PROBLEMS)
    for check, found in checks.items():
        if any(finding.status is not Status.SKIPPED for finding, _ in found):
            yield "racwire_check_exit_code", (check,), exit_code_of(found)
    yield from (("racwire_finding", key, number) for key, number in alike.items())


def _labels(finding: Finding) -> tuple[str, ...]:
    waived = "true" if finding.waived else "false"
    return finding.code, finding.check, finding.status, finding.network, ",".join(finding.nodes), waived


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
        # Where it is None, racwire did not search for the largest packet.
        passes = path.verdict is Verdict.PASSES and path.path_mtu is None
        yield "racwire_path_mtu_bytes", way, path.expected_mtu if passes else _known(path.path_mtu)
        yield "racwire_path_verdict", (*way, path.verdict), 1
        for size, series in _by_size(path).items():
            yield "racwire_path_loss_ratio", (*way, size), _loss(series)
            yield "racwire_path_rtt_seconds", (*way, size), over(series.rtt_ms_median, 1000)
    yield "racwire_probe_sent_packets", (), sum(path.packets_sent for path in cluster.paths)
    yield "racwire_probe_sent_bytes", (), sum(path.bytes_sent for path in cluster.paths)


def _by_size(path: PathProbe) -> dict[str, PingSeries]:
    """The ping series by size: `small` ones, which any link carries, and `full` ones, of the size that must pass."""
    names = {SMALL_PAYLOAD: "small", path.full_payload: "full"}
    return {names[series.payload]: series for series in path.series if series.payload in names}


def _loss(series: PingSeries) -> float | None:
    """The share of lost pings. Pings that the node's own kernel refused were never sent and do not count."""
    sent = series.sent - series.refused_locally
    return over(sent - series.received, sent)


def _nodes(changes: CounterChanges) -> Iterator[Sample]:
    for change in changes.nodes:
        node, value = (change.node,), change.counters.value
        yield "racwire_node_interval_seconds", node, change.seconds
        failed = value("Ip", "ReasmFails")
        yield "racwire_node_reassembly_failures_per_second", node, over(failed, change.seconds)
        yield "racwire_node_reassembly_failure_ratio", node, over(failed, value("Ip", "ReasmReqds"))
        overflowed = over(value("Udp", "RcvbufErrors"), change.seconds)
        yield "racwire_node_udp_receive_buffer_errors_per_second", node, overflowed


def _instances(activity: Activity, database: Database | Unknown | NotAsked) -> Iterator[Sample]:
    for own in activity.instances:
        if not isinstance(own, InstanceActivity):
            continue
        known = database.instance(own.instance) if isinstance(database, Database) else None
        of = (known.name, known.host) if known else (f"instance {own.instance}", "")
        gone, came = lost(own.statistics), received(own.statistics)
        yield "racwire_instance_interval_seconds", of, own.seconds
        yield "racwire_instance_blocks_received_per_second", of, over(came, own.seconds)
        yield "racwire_instance_blocks_lost_per_second", of, over(gone, own.seconds)
        yield "racwire_instance_blocks_lost_ratio", of, over(gone, due(own.statistics))
        for kind, time_ms in (
            ("cr", average_cr_receive_ms(own.statistics)),
            ("current", average_current_receive_ms(own.statistics)),
        ):
            yield "racwire_instance_block_receive_seconds", (*of, kind), over(time_ms, 1000)


def _load(cluster: Cluster) -> Iterator[Sample]:
    load = interconnect_load(cluster)
    if not isinstance(load, InterconnectLoad):
        return
    if isinstance(load.wire, WireTime):
        yield "racwire_load_cluster_wait_ratio", (), load.wire.cluster_percent / 100
        for limit in ("low", "likely", "high"):
            yield "racwire_load_wire_ratio", (limit,), over(getattr(load.wire, f"{limit}_percent"), 100)
    if isinstance(load.load_class, LoadClass):
        yield "racwire_load_kind", (load.load_class.kind,), 1
    for user in load.users:
        of = (user.instance, user.client)
        basis = "estimated" if user.is_estimate else "counted"
        for direction, value, messages in (
            ("sent", user.sent, user.messages_sent),
            ("received", user.received, user.messages_received),
        ):
            yield "racwire_interconnect_user_bytes_per_second", (*of, direction, basis), value
            yield "racwire_interconnect_user_messages_per_second", (*of, direction), messages
    for service in () if isinstance(load.services, Unknown) else load.services:
        yield "racwire_service_cluster_wait_ratio", (service.service,), service.cluster_percent / 100


def _unknown(cluster: Cluster) -> Iterator[Sample]:
    for group in FACT_GROUPS:
        fact = getattr(cluster, group)
        if isinstance(fact, Unknown | NotAsked) and cluster.is_gathered(group):
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


def _number(value: float | None) -> float | None:
    """A value that every reader accepts; None for an unknown value, NaN or infinity."""
    try:
        number = None if value is None else float(value)
    except OverflowError:
        return None
    return number if number is not None and math.isfinite(number) else None


def _written(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.15g}"


def _plain(text: str) -> str:
    """Text of any origin, sanitized, on one line, and cut at `_LONGEST` characters."""
    plain = sanitize(text)
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"')
