"""The section "What this load asks of the interconnect" as sentences and tables, for every format and the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.facts import Cluster, History, Unknown
from checks.model.finding import Table
from checks.model.interconnect_load import ClientRates, ExchangeRates, InterconnectLoad, ServiceLoad, WireTime
from checks.model.wording import continued, listed, moment
from checks.report.quantities import byte_rate, rate, seconds
from checks.rules.cache_fusion import MESSAGE_BYTES, per_second
from checks.rules.interconnect_users import IPQ, in_order, shares
from checks.rules.load_class import WORTH_ONE_NODE_PERCENT, sends_parallel_query
from checks.rules.load_of_run import interconnect_load
from checks.rules.load_weight import load_weight_text
from checks.rules.wire_time import no_network_text

TITLE = "What this load asks of the interconnect"


@dataclass(frozen=True)
class LoadSection:
    """The content of the section."""

    headline: str
    """What a network could at most bring, or why that is not known."""
    kind: str
    """The kind of the load with the reasons; empty where it is not known."""
    notes: tuple[str, ...] = ()
    tables: tuple[tuple[str, Table], ...] = ()
    """Each with its title."""
    how: tuple[str, ...] = ()
    """The formulas, and the measured values in them."""
    is_known: bool = True
    """Whether the share of the wire is known."""


def load_section(cluster: Cluster) -> LoadSection | None:
    """Return the section; None where no activity was read: other parts of a report name the reason."""
    load = interconnect_load(cluster)
    if not isinstance(load, InterconnectLoad):
        return None
    wire = load.wire
    if isinstance(wire, Unknown):
        headline = f"Cannot tell what a network could bring: {continued(wire.reason)}"
    else:
        headline = no_network_text(wire)
    return LoadSection(
        headline,
        _kind(load),
        tuple(_notes(load)),
        (*_tables(load), *_past_users(cluster)),
        tuple(_how(wire)) if isinstance(wire, WireTime) else (),
        isinstance(wire, WireTime),
    )


def _kind(load: InterconnectLoad) -> str:
    if isinstance(load.load_class, Unknown):
        return ""
    kind = load.load_class.kind
    return f"The load is {kind}. {' '.join(load.load_class.reasons)} {kind.meaning}"


def _notes(load: InterconnectLoad) -> Iterator[str]:
    yield load_weight_text(load.load_weight)
    if load.missing:
        yield (
            f"Without {listed(load.missing)}, whose counters are not known. "
            "The time of the senders is then not subtracted."
        )
    if isinstance(load.services, Unknown):
        yield f"The services are not known: {load.services.reason}"
    elif gaining := [s for s in load.services if s.gains_on_one_node]:
        for service in gaining:
            yield (
                f"Service {service.service} works on {listed(service.instances)} and waits "
                f"{service.cluster_percent:.2g} % of its DB time for other instances: on one node it would save up to "
                f"that (from {WORTH_ONE_NODE_PERCENT:g} % on it is worth a trial)."
            )
    elif load.services:
        yield "No service would gain noticeably from running on one node."
    if crossing := [x.instance for x in load.exchanges if sends_parallel_query(x.px_sent)]:
        free = any(load.force_local.get(name) == "FALSE" for name in crossing)
        why = ", as parallel_force_local is FALSE; TRUE would keep its processes on one node." if free else "."
        yield f"Parallel query on {listed(crossing)} exchanges messages with other nodes{why}"
    if isinstance(load.clients, Unknown):
        script = load.clients.right.script if load.clients.right else ""
        created = f" `{script}` prints the script that creates it." if script else ""
        state = "an estimate" if load.estimated_clients else "not known"
        yield f"The bytes of the users of the interconnect are {state}: {continued(load.clients.reason)}{created}"


def _tables(load: InterconnectLoad) -> Iterator[tuple[str, Table]]:
    span = seconds(load.seconds)
    if load.exchanges:
        yield f"Blocks and messages in {span}, per second", _exchanges(load.exchanges)
    if not isinstance(load.clients, Unknown) and load.clients:
        yield f"Users of the interconnect in {span}, per second", _users(load.clients)
    if load.estimated_clients:
        basis = estimate_basis(load.block_bytes)
        yield (
            f"Users of the interconnect in {span}, per second, bytes estimated: {basis}",
            _users(load.estimated_clients),
        )
    if not isinstance(load.services, Unknown) and load.services:
        yield f"Services in {span}", _services(load.services)


def _past_users(cluster: Cluster) -> Iterator[tuple[str, Table]]:
    """Yield the users of the interconnect in AWR, where it was read."""
    history = cluster.history
    if not isinstance(history, History) or isinstance(history.clients, Unknown):
        return
    names = {own.instance: own.name for own in history.instances}
    covered = {own.instance: own.seconds for own in history.instances}
    rates = [
        ClientRates(
            names.get(c.instance, f"instance {c.instance}"),
            c.client,
            per_second(c.bytes_sent, covered.get(c.instance, 0.0)),
            per_second(c.bytes_received, covered.get(c.instance, 0.0)),
        )
        for c in history.clients
    ]
    if known := [user for user in rates if user.bytes_per_s is not None]:
        title = f"Users of the interconnect, {history.source} from {moment(history.begin)} to {moment(history.end)}"
        yield title, _users(in_order(known))


_COLUMNS = (
    ("CR in", "cr_received"),
    ("CR out", "cr_served"),
    ("cur in", "current_received"),
    ("cur out", "current_served"),
    ("gcs in", "gcs_received"),
    ("gcs out", "gcs_sent"),
    ("ges in", "ges_received"),
    ("ges out", "ges_sent"),
    ("PX in", "px_received"),
    ("PX out", "px_sent"),
)


def _exchanges(exchanges: tuple[ExchangeRates, ...]) -> Table:
    rows = tuple((own.instance, *(_number(getattr(own, field)) for _, field in _COLUMNS)) for own in exchanges)
    return Table(("Instance", *(title for title, _ in _COLUMNS)), rows)


def _number(value: float | None) -> str:
    return rate(value).removesuffix("/s").strip()


def _users(users: Sequence[ClientRates]) -> Table:
    """The users, with columns of messages where some are known."""
    has_messages = any(user.messages_sent is not None or user.messages_received is not None for user in users)
    percent = shares(users)
    rows = []
    for user in users:
        messages = (_number(user.messages_received), _number(user.messages_sent)) if has_messages else ()
        share = percent.get((user.instance, user.client))
        rows.append(
            (user.instance, user.client, *messages, byte_rate(user.received), byte_rate(user.sent), _share(share))
        )
    heads = ("msgs in", "msgs out") if has_messages else ()
    is_partial = any(user.client == IPQ and user.is_estimate for user in users)
    legend = "Messages of cache are blocks." if has_messages else ""
    legend += " The bytes of parallel query (ipq) are not estimated, and not in the shares." if is_partial else ""
    return Table(("Instance", "User", *heads, "bytes in", "bytes out", "share"), tuple(rows), legend)


def estimate_basis(block_bytes: int | None) -> str:
    """Return the sizes that estimate the bytes of users: `blocks of 8,192 B, messages of 200 B`."""
    blocks = f"blocks of {block_bytes:,} B" if block_bytes else "the size of a block is not known"
    return f"{blocks}, messages of {MESSAGE_BYTES} B"


def _share(percent: float | None) -> str:
    return "-" if percent is None else f"{percent:.3g} %"


def _services(services: tuple[ServiceLoad, ...]) -> Table:
    rows = tuple(
        (s.service, ", ".join(s.instances) or "-", f"{s.db_time_s:.3g} s", f"{s.cluster_percent:.2g} %")
        for s in services
    )
    return Table(("Service", "works on", "DB time", "cluster waits"), rows)


def _how(wire: WireTime) -> Iterator[str]:
    yield from (f"{name} = {formula}" for name, formula in wire.formulas.items())
    yield "; ".join(f"{name} {value}" for name, value in wire.inputs.items())
