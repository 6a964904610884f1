"""The readiness for a check: one item for each part of the page, from facts, findings, journal and settings. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster, Clusterware, Database, History, NotAsked, NotGathered, Unknown
from checks.model.finding import NextStep, Status
from checks.model.journal import Entry
from checks.model.known_instances import nodes_without_instance
from checks.model.report import Report
from checks.model.settings import DatabaseSettings
from checks.model.wording import counted, few, listed
from checks.readiness.refusals import Refusal, Topic, expected_unknown, refusals
from checks.rules.live_events import clock_status
from checks.sources.node_setup import SETUP
from checks.sources.nodes.user_rights import Account

SCHEMA = "racwire-doctor/1"

_SUDO_GROUPS = ("wheel", "sudo", "admin")
"""Groups that sudo allows by default on Oracle Linux, SUSE, Debian and Ubuntu."""


class ReadinessItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One part of the page."""

    topic: Topic
    status: Status
    """PASS; INFO for a limit that no check needs; WARN; SKIPPED for a choice; UNKNOWN where a check will be UNKNOWN."""
    fact: str
    consequence: str = ""
    next: tuple[NextStep, ...] = ()
    skipped: tuple[str, ...] = ()
    """The checks that are skipped for this reason."""
    refusals: tuple[Refusal, ...] = ()


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """The readiness of this node, user and configuration for a check."""

    schema: str = SCHEMA
    racwire_version: str
    started_at: str
    duration_s: float
    interrupted: bool = False
    cluster: str
    """The cluster's name; empty where it is not known."""
    local_node: str
    items: tuple[ReadinessItem, ...]
    unknown: tuple[str, ...]
    """The checks that will be UNKNOWN, in part or in full."""
    checks: tuple[str, ...]
    """All available checks."""

    @property
    def exit_code(self) -> ExitCode:
        """Return 0 where no check will be UNKNOWN for what is known here, else 3."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        return ExitCode.COULD_NOT_TELL if self.unknown else ExitCode.PASS


def readiness(
    report: Report, checks: Iterable[str], account: Account | Unknown, database: DatabaseSettings
) -> Readiness:
    """Return the readiness, from the report of `readiness_engine` on these checks."""
    unknown = expected_unknown(report.findings)
    found = refusals(report.cluster, unknown)
    cluster = report.cluster
    items = [
        _user(cluster, account),
        _grid_home(cluster),
        _nodes(cluster),
        _readable(cluster, found, is_ready=not unknown),
        _database(cluster, report),
        _licence(cluster, report, database),
        _clocks(cluster, report.journal),
        ReadinessItem(topic=Topic.OTHER, status=Status.PASS, fact=""),
    ]
    with_refusals = [_with(item, [r for r in found if r.topic is item.topic]) for item in items]
    facts = cluster.clusterware
    name = facts.cluster_name if isinstance(facts, Clusterware) else ""
    return Readiness(
        racwire_version=report.racwire_version,
        started_at=report.started_at,
        duration_s=report.duration_s,
        interrupted=report.interrupted,
        cluster=name if isinstance(name, str) else "",
        local_node=cluster.local_node,
        items=tuple(item for item in with_refusals if item.fact),
        unknown=tuple(sorted({finding.check for finding in unknown})),
        checks=tuple(checks),
    )


def _with(item: ReadinessItem, found: Sequence[Refusal]) -> ReadinessItem:
    """Return the item with its refusals, and the status that follows from them."""
    if not found:
        return item
    serious = any(refusal.checks for refusal in found)
    return msgspec.structs.replace(
        item,
        status=Status.UNKNOWN if serious else Status.INFO if item.status is Status.PASS else item.status,
        fact=item.fact or "Further reasons:",
        refusals=tuple(sorted(found, key=lambda refusal: not refusal.checks)),
    )


# --- this node --------------------------------------------------------------------------------------------------------


def _user(cluster: Cluster, account: Account | Unknown) -> ReadinessItem:
    if isinstance(account, Unknown):
        return ReadinessItem(topic=Topic.USER, status=Status.INFO, fact=account.reason)
    facts = cluster.clusterware
    owner = facts.grid_home.owner if isinstance(facts, Clusterware) else ""
    roles = ["root" if account.is_root else "not root"]
    if account.user == owner and not account.is_root:
        roles.append("the Grid owner")
    sudo = [group for group in account.groups if group in _SUDO_GROUPS]
    if sudo and not account.is_root:
        roles.append(f"in {sudo[0]}, which sudo usually allows")
    roles += _osdba(account)
    title = f"{account.user} on {cluster.local_node}: {', '.join(roles)}."
    groups = "" if account.is_root else f" {_names('group', account.groups)}."
    return ReadinessItem(topic=Topic.USER, status=Status.PASS, fact=f"{title}{groups}")


def _osdba(account: Account) -> Iterator[str]:
    """Yield what is known of OSDBA, once for each group."""
    by_group: dict[str, list[str]] = {}
    for known in account.osdba:
        by_group.setdefault(known.group, []).append(known.sid)
    for group, sids in by_group.items():
        if not group:
            yield f"OSDBA of {listed(sids)} not known"
        elif group in account.groups:
            yield f"in {group}, OSDBA of {listed(sids)}"
        else:
            yield f"not in {group}, OSDBA of {listed(sids)}"


def _names(noun: str, names: Sequence[str]) -> str:
    return f"{noun.capitalize() if len(names) == 1 else f'{noun.capitalize()}s'} {listed(names)}"


def _grid_home(cluster: Cluster) -> ReadinessItem:
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware):
        if cluster.named_networks:
            networks = listed(cluster.named_networks)
            fact = f"Clusterware is not needed: you named the private networks, {networks}."
            return ReadinessItem(topic=Topic.GRID_HOME, status=Status.SKIPPED, fact=fact)
        fact = facts.reason
        if isinstance(facts, NotGathered):
            fact = "Clusterware was not queried before racwire was stopped."
        return ReadinessItem(topic=Topic.GRID_HOME, status=Status.INFO, fact=fact)
    home = facts.grid_home
    version = "" if isinstance(facts.version, Unknown) else f" Clusterware {facts.version.version}."
    return ReadinessItem(
        topic=Topic.GRID_HOME,
        status=Status.PASS,
        fact=f"{home.path}, named by {home.named_by}; owner {home.owner or 'not known'}.{version}",
    )


# --- the nodes --------------------------------------------------------------------------------------------------------


def _nodes(cluster: Cluster) -> ReadinessItem:
    if isinstance(cluster.nodes, Unknown):
        return ReadinessItem(topic=Topic.NODES, status=Status.INFO, fact="The nodes of the cluster are not known.")
    read = [node.name for node in cluster.read_nodes()]
    every = len(cluster.nodes)
    unread = [node.name for node in cluster.unread_nodes()]
    fact = f"{len(read)} of {counted(every, 'node')} read{f': {listed(read)}' if read else ''}."
    if unread:
        fact = f"{fact.removesuffix('.')}; not read: {listed(unread)}."
    if _peers_unknown(cluster):
        fact = f"Only this node, {cluster.local_node}, is known: the list of nodes could not be read."
        return ReadinessItem(topic=Topic.NODES, status=Status.INFO, fact=fact)
    if every == 1 and not unread:
        fact = f"Only this node, {listed(read)}, is known; no peer is listed or named."
    return ReadinessItem(topic=Topic.NODES, status=Status.PASS, fact=fact)


def _peers_unknown(cluster: Cluster) -> bool:
    """Whether this node is the only one known because the list of nodes could not be read."""
    facts = cluster.clusterware
    is_alone = not isinstance(cluster.nodes, Unknown) and len(cluster.nodes) == 1
    is_listed = isinstance(facts, Clusterware) and not isinstance(facts.members, Unknown)
    return is_alone and not is_listed and not cluster.named_networks


def _readable(cluster: Cluster, found: Iterable[Refusal], *, is_ready: bool) -> ReadinessItem:
    fact = "All files, commands and views that racwire tried were read."
    refused = [refusal for refusal in found if refusal.topic is Topic.READABLE]
    if any(refusal.checks for refusal in refused):
        fact = "Not read:"
    elif refused:
        # Where a check is UNKNOWN, it may need these sources too, once its other facts are known.
        fact = "Not read, without effect on the checks:" if is_ready else "Not read:"
    elif not cluster.read_nodes():
        fact = "No node was read."
    return ReadinessItem(topic=Topic.READABLE, status=Status.PASS, fact=fact)


# --- the database -----------------------------------------------------------------------------------------------------


def _database(cluster: Cluster, report: Report) -> ReadinessItem:
    database = cluster.database
    if isinstance(database, Database):
        every = len(database.instances) + len(database.unasked)
        role = "" if database.role == "PRIMARY" else f" ({database.role})"
        return ReadinessItem(
            topic=Topic.DATABASE,
            status=Status.PASS,
            fact=f"{database.name} {database.version}{role} answers at {database.reached} as {database.user}, "
            f"{len(database.instances)} of {counted(every, 'instance')}{_without(cluster)}; {database.driver}.",
        )
    if isinstance(database, NotAsked):
        steps = (NextStep("To include the database:", database.commands),) if database.commands else ()
        return ReadinessItem(
            topic=Topic.DATABASE,
            status=Status.SKIPPED,
            fact=database.reason,
            next=steps,
            skipped=_skipped(report, database.reason),
        )
    fact = database.reason
    if isinstance(database, NotGathered):
        fact = "The database was not read before racwire was stopped."
    return ReadinessItem(topic=Topic.DATABASE, status=Status.INFO, fact=fact)


def _without(cluster: Cluster) -> str:
    nodes = nodes_without_instance(cluster)
    return f", none on {few(nodes)}" if nodes else ""


def _licence(cluster: Cluster, report: Report, settings: DatabaseSettings) -> ReadinessItem:
    fact = (
        "You stated that you have the Diagnostics Pack. AWR is read."
        if settings.diagnostics_pack and isinstance(cluster.database, Database)
        else "You stated that you have the Diagnostics Pack. No AWR is read without the database."
        if settings.diagnostics_pack
        else "racwire reads no AWR: --awr, which states that you have the Diagnostics Pack, is not set. Statspack is "
        "read where it is installed."
    )
    history = cluster.history
    skipped: tuple[str, ...] = ()
    if isinstance(cluster.database, Database) and not isinstance(history, History | NotGathered):
        fact = history.reason
        skipped = _skipped(report, history.reason)
    return ReadinessItem(
        topic=Topic.LICENCE, status=Status.SKIPPED if skipped else Status.PASS, fact=fact, skipped=skipped
    )


def _skipped(report: Report, reason: str) -> tuple[str, ...]:
    """Return the checks that are skipped for this reason."""
    return tuple(sorted({f.check for f in report.findings if f.status is Status.SKIPPED and f.title == reason}))


# --- clocks -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClockDifference:
    """The limits of the difference between the clock of a peer and the clock of this node, in seconds."""

    node: str
    low_s: float
    high_s: float

    @property
    def is_certain(self) -> bool:
        """Whether the clocks differ by more than the reading could have caused."""
        return self.low_s > 0 or self.high_s < 0

    @property
    def most_s(self) -> float:
        """The largest possible difference."""
        return max(abs(self.low_s), abs(self.high_s))


def clock_differences(cluster: Cluster, journal: Iterable[Entry]) -> tuple[ClockDifference, ...]:
    """Return the difference for each peer whose setup was read.

    The peer's clock was read in whole seconds, at a moment between the start and the end of the journal's entry.
    """
    topic = SETUP.topics[0]
    entries = {entry.node: entry for entry in journal if entry.topic == topic and entry.outcome == "ok"}
    found = []
    for setup in cluster.read_setups():
        entry = entries.get(setup.name)
        if setup.name == cluster.local_node or entry is None or setup.taken_at_s <= 0:
            continue
        try:
            start_s = datetime.fromisoformat(entry.started_at).timestamp()
        except ValueError:
            continue
        end_s = start_s + entry.duration_ms / 1000
        found.append(ClockDifference(setup.name, setup.taken_at_s - end_s, setup.taken_at_s + 1 - start_s))
    return tuple(found)


def _clocks(cluster: Cluster, journal: Iterable[Entry]) -> ReadinessItem:
    found = clock_differences(cluster, journal)
    known = {difference.node for difference in found}
    peers = (
        [] if isinstance(cluster.nodes, Unknown) else [n.name for n in cluster.nodes if n.name != cluster.local_node]
    )
    missing = [name for name in peers if name not in known]
    parts = [_difference_text(difference, cluster.local_node) for difference in found if difference.is_certain]
    agreeing = [difference for difference in found if not difference.is_certain]
    if agreeing:
        limit = max(difference.most_s for difference in agreeing)
        names = [difference.node for difference in agreeing]
        verb = "agrees" if len(names) == 1 else "agree"
        parts.append(f"{listed(names)} {verb} with {cluster.local_node} within {limit:.1f} s.")
    if missing:
        parts.append(f"Not known: {listed(missing)}.")
    if not peers:
        parts = ["No other node is known." if _peers_unknown(cluster) else "There is no other node to compare with."]
    differ = any(difference.is_certain for difference in found)
    return ReadinessItem(
        topic=Topic.CLOCKS,
        status=clock_status() if differ else Status.INFO if missing or _peers_unknown(cluster) else Status.PASS,
        fact=" ".join(parts),
        consequence="Times of different nodes cannot be compared." if differ else "",
        next=(NextStep("Check the time service on each node.", ("chronyc tracking", "crsctl check ctss")),)
        if differ
        else (),
    )


def _difference_text(difference: ClockDifference, local_node: str) -> str:
    near, far = sorted((abs(difference.low_s), abs(difference.high_s)))
    side = "ahead of" if difference.low_s > 0 else "behind"
    return f"{difference.node} is {near:.0f} to {far:.0f} s {side} {local_node}."
