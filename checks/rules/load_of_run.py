"""What the load of a run asks of the interconnect, from the activity between its two samples. It judges nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from checks.model.facts import (
    Activity,
    ActivityGap,
    Cluster,
    CounterChanges,
    Database,
    InstanceActivity,
    InstancePing,
    NotAsked,
    PathProbe,
    Unknown,
)
from checks.model.interconnect_load import (
    ClientRates,
    ExchangeRates,
    InterconnectLoad,
    LoadClass,
    LoadWeight,
    ServiceLoad,
    WireTime,
)
from checks.model.networks import nics_of
from checks.model.packet_sizes import SMALL_PAYLOAD, USUAL_BLOCK_BYTES, payload_for
from checks.model.wording import counted
from checks.rules import cache_fusion
from checks.rules.interconnect_users import in_order, users_of
from checks.rules.load_class import BusiestLink, classify, gains_on_one_node
from checks.rules.load_weight import UsedLink, weigh
from checks.rules.nic_counts import LinkLoad, link_load, private_nics_counted
from checks.rules.waits import for_blocks
from checks.rules.wire_time import WirePath, wire_time

_MULTIBLOCK = re.compile(r"gc (?:cr|current) multi block request")
_MOST_US = 10**18
_LEAST_SERVICE_S = 0.1
"""DB time in seconds below which the share of a service says nothing."""


def interconnect_load(cluster: Cluster) -> InterconnectLoad | Unknown | NotAsked:
    """Return what the load asks of the interconnect; where no activity was read, the reason."""
    activity, database = cluster.activity, cluster.database
    if not isinstance(activity, Activity):
        return activity
    names = _Names(database if isinstance(database, Database) else None)
    known = [own for own in activity.instances if isinstance(own, InstanceActivity)]
    missing = {names.of(a.instance): a.reason for a in activity.instances if isinstance(a, ActivityGap)}
    statistics = {names.of(own.instance): own.statistics for own in known}
    waits_are_known = activity.why_unread("GV$SYSTEM_EVENT") is None
    waits_s = _block_waits_s(known) if waits_are_known and not missing else None
    wire = wire_time(statistics, activity.seconds, wire_path(cluster), waits_s)
    load_class: LoadClass | Unknown
    if isinstance(wire, WireTime):
        events = [event for own in known for event in own.events] if waits_are_known else None
        load_class = classify(wire, [own.statistics for own in known], events, _busiest(cluster))
    else:
        load_class = wire
    users = _users(activity, known, names, cluster.block_size_bytes)
    return InterconnectLoad(
        seconds=activity.seconds,
        instances=tuple(statistics),
        missing=missing,
        wire=wire,
        load_class=load_class,
        load_weight=weight_of_run(cluster),
        exchanges=tuple(_exchanges(own, names.of(own.instance)) for own in known),
        clients=tuple(u for u in users if not u.is_estimate)
        if isinstance(activity.clients, tuple)
        else activity.clients,
        estimated_clients=tuple(user for user in users if user.is_estimate),
        block_bytes=cluster.block_size_bytes,
        services=_services(activity, names),
        force_local=_force_local(database, known, names),
    )


class _Names:
    """The names of the instances."""

    def __init__(self, database: Database | None) -> None:
        self._database = database

    def of(self, number: int) -> str:
        return self._database.instance_name(number) if self._database else f"instance {number}"


def _block_waits_s(known: Sequence[InstanceActivity]) -> float:
    """Return the seconds of the waits that ended with blocks."""
    return sum(
        _in_seconds(event.time_us)
        for own in known
        for event in (
            *for_blocks(own, "cr"),
            *for_blocks(own, "current"),
            *(e for e in own.events if _MULTIBLOCK.fullmatch(e.name)),
        )
    )


def _busiest(cluster: Cluster) -> BusiestLink | None:
    most = busiest_link(cluster)
    return BusiestLink(most.nic.place, most.percent) if most else None


def _in_seconds(us: int) -> float:
    """Return microseconds in seconds; a recording can contain any figures."""
    return min(max(us, 0), _MOST_US) / 1e6


# --- the way between the nodes ----------------------------------------------------------------------------------------


def wire_path(cluster: Cluster) -> WirePath:
    """Return what the run measured of the private networks: block size, MTU, link speed, round-trip times."""
    networks = cluster.read_networks()
    version = 6 if any(":" in network.subnet for network in networks) else 4
    # The lower limit must hold for every block: it goes over the fastest link with the fewest headers.
    mtus = [network.mtu for network in networks if isinstance(network.mtu, int)]
    small, full, pings = _round_trips(cluster, version)
    return WirePath(
        block_bytes=cluster.block_size_bytes or USUAL_BLOCK_BYTES,
        mtu=max(mtus) if mtus and len(mtus) == len(networks) else None,
        speed_mbps=_fastest_mbps(cluster),
        small_rtt_ms=small,
        block_rtt_ms=full,
        pings=pings,
        version=version,
    )


def _fastest_mbps(cluster: Cluster) -> int | None:
    """Return the speed of the fastest private NIC that is up; None where one is not known."""
    speeds: list[int] = []
    for network in cluster.read_networks():
        for port in network.ports:
            node = cluster.node(port.node)
            for name in nics_of(cluster, port):
                nic = node.interface(name) if node else None
                if nic is None or not isinstance(nic.speed_mbps, int) or nic.speed_mbps <= 0:
                    return None
                if nic.is_up:
                    speeds.append(nic.speed_mbps)
    return max(speeds, default=None)


def _round_trips(cluster: Cluster, version: int) -> tuple[float | None, float | None, str]:
    """Return the round-trip times of a small ping and of one near a block's size, and which pings they are.

    The pings of the run leave out the processes of the instances; the instances' own pings are the second choice.
    """
    paths = [p for p in cluster.paths if isinstance(p, PathProbe)] if isinstance(cluster.paths, tuple) else []
    small, full = (
        [
            series.rtt_ms_median
            for path in paths
            for series in path.series
            if series.payload == (SMALL_PAYLOAD if is_small else payload_for(path.expected_mtu, version))
            and series.rtt_ms_median is not None
        ]
        for is_small in (True, False)
    )
    # At MTU 1500 a full-size ping carries less than a fifth of a block: it says nothing of six packets.
    has_size = bool(paths) and all(path.expected_mtu >= USUAL_BLOCK_BYTES for path in paths)
    if small and full and has_size:
        return median(small), median(full), f"DF pings of this run, median of {counted(len(full), 'path')}"
    activity = cluster.activity
    pings = activity.pings if isinstance(activity, Activity) and isinstance(activity.pings, tuple) else ()
    of_500b, of_8k = (_mean_ms(pings, large=is_large) for is_large in (False, True))
    return of_500b, of_8k, "the instances' own pings of 500 B and 8 KB" if of_500b and of_8k else ""


def _mean_ms(pings: Iterable[InstancePing], *, large: bool) -> float | None:
    counts = [(p.count_8k, p.time_8k_us) if large else (p.count_500b, p.time_500b_us) for p in pings]
    number = sum(count for count, _ in counts)
    return 1000 * _in_seconds(sum(us for _, us in counts)) / number if number > 0 else None


def busiest_link(cluster: Cluster) -> LinkLoad | None:
    """Return the private NIC with the highest use in one direction; None where no use is known."""
    changes = cluster.counters
    if not isinstance(changes, CounterChanges):
        return None
    nodes = [change for change in changes.nodes if not isinstance(change.machine.nics, Unknown)]
    nics = [nic for nic in private_nics_counted(cluster, nodes) if nic.is_lowest and nic.is_up]
    try:
        loads = [load for nic in nics if (load := link_load(nic, cluster.thresholds))]
        return max(loads, key=lambda load: load.percent, default=None)
    except OverflowError:  # a recording can contain any figures
        return None


def weight_of_run(cluster: Cluster) -> LoadWeight:
    """Return how heavy the load is by the NICs' counters of the run. Its pings have no busy and quiet seconds."""
    most = busiest_link(cluster)
    link = None
    if most is not None and isinstance(cluster.counters, CounterChanges):
        speed = most.speed_mbps
        link = UsedLink(
            most.nic.place,
            100 * most.received_mbit_s / speed,
            100 * most.sent_mbit_s / speed,
            cluster.counters.ended_at[11:19],
            most.nic.seconds,
        )
    return weigh(link, ())


# --- blocks, messages, users and services -----------------------------------------------------------------------------


def _exchanges(own: InstanceActivity, name: str) -> ExchangeRates:
    def rate(counts: Mapping[str, int], statistic: str) -> float | None:
        return cache_fusion.per_second(counts.get(statistic), own.seconds)

    statistics, messages = own.statistics, own.messages
    return ExchangeRates(
        name,
        cr_received=rate(statistics, cache_fusion.CR_RECEIVED),
        current_received=rate(statistics, cache_fusion.CURRENT_RECEIVED),
        cr_served=rate(statistics, cache_fusion.CR_SERVED),
        current_served=rate(statistics, cache_fusion.CURRENT_SERVED),
        gcs_sent=rate(statistics, "gcs messages sent"),
        ges_sent=rate(statistics, "ges messages sent"),
        gcs_received=rate(messages, "gcs msgs received"),
        ges_received=rate(messages, "ges msgs received"),
        px_sent=rate(statistics, cache_fusion.PX_SENT),
        px_received=rate(statistics, cache_fusion.PX_RECEIVED),
    )


def _users(
    activity: Activity, known: Sequence[InstanceActivity], names: _Names, block_bytes: int | None
) -> tuple[ClientRates, ...]:
    own_bytes: dict[int, dict[str, tuple[int, int]]] = {}
    for c in () if isinstance(activity.clients, Unknown) else activity.clients:
        own_bytes.setdefault(c.instance, {})[c.client] = (c.bytes_sent, c.bytes_received)
    return in_order(
        user
        for own in known
        for user in users_of(
            names.of(own.instance),
            own.statistics,
            own.messages,
            own.seconds,
            block_bytes=block_bytes,
            counted=own_bytes.get(own.instance),
        )
    )


def _services(activity: Activity, names: _Names) -> tuple[ServiceLoad, ...] | Unknown:
    if isinstance(activity.services, Unknown):
        return activity.services
    found = []
    for service in sorted({s.service for s in activity.services}):
        own = [s for s in activity.services if s.service == service and s.db_time_us > 0]
        db_time_s = sum(_in_seconds(s.db_time_us) for s in own)
        if db_time_s < _LEAST_SERVICE_S:
            continue
        percent = 100 * sum(_in_seconds(s.cluster_us) for s in own) / db_time_s
        on = tuple(names.of(s.instance) for s in own if _in_seconds(s.db_time_us) >= _LEAST_SERVICE_S)
        # Sessions of SYS$USERS chose no service, so no service can be moved for them.
        gains = gains_on_one_node(percent, len(on)) and not service.startswith("SYS$")
        found.append(ServiceLoad(service, on, db_time_s, percent, gains))
    return tuple(sorted(found, key=lambda s: (-s.cluster_percent * s.db_time_s, s.service)))


def _force_local(
    database: Database | Unknown | NotAsked, known: Sequence[InstanceActivity], names: _Names
) -> dict[str, str]:
    if not isinstance(database, Database):
        return {}
    values = {names.of(own.instance): database.parameter(own.instance, "parallel_force_local") for own in known}
    return {name: value for name, value in values.items() if value}
