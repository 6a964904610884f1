"""Lookups for instances: the name, the node, the activity in the interval, or the reason why it is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.model.facts import (
    Activity,
    ActivityGap,
    Cluster,
    Database,
    Fact,
    InstanceActivity,
    InterconnectInUse,
    MissingRight,
    Unknown,
)


def database_of(cluster: Cluster) -> Database | None:
    """Return the database, or None where it could not be queried."""
    return cluster.database if isinstance(cluster.database, Database) else None


def instance_name(cluster: Cluster, number: int) -> str:
    """Return `prod2`, or `instance 2` where the name is not known."""
    database = database_of(cluster)
    return database.instance_name(number) if database else f"instance {number}"


def node_of(cluster: Cluster, number: int) -> str:
    """Return the node that an instance runs on, by its name in the report; empty where it is not known."""
    database = database_of(cluster)
    hosts = (
        {i.number: i.host for i in database.unasked} | {i.number: i.host for i in database.instances}
        if database
        else {}
    )
    host = hosts.get(number, "").partition(".")[0]
    return next((n.name for n in cluster.all_nodes() if n.name.partition(".")[0].casefold() == host.casefold()), host)


def nodes_of(cluster: Cluster, numbers: Iterable[int]) -> tuple[str, ...]:
    """Return the known nodes of some instances, each once."""
    return tuple(dict.fromkeys(node for n in numbers if (node := node_of(cluster, n))))


def nodes_without_instance(cluster: Cluster) -> tuple[str, ...]:
    """Return the active nodes of the cluster on which no instance of the database runs.

    Empty where that is not known: an instance did not answer, or the list of nodes could not be read. A database need
    not run on every node, so this is no fault by itself.
    """
    database = database_of(cluster)
    if database is None or database.unasked or isinstance(cluster.clusterware, Unknown):
        return ()
    members = () if isinstance(cluster.clusterware.members, Unknown) else cluster.clusterware.members
    hosts = {instance.host.partition(".")[0].casefold() for instance in database.instances}
    return tuple(
        member.name
        for member in members
        if member.status == "Active" and member.name.partition(".")[0].casefold() not in hosts
    )


def active(activity: Activity) -> Iterator[InstanceActivity]:
    """Yield the instances whose differences are known."""
    yield from (a for a in activity.instances if isinstance(a, InstanceActivity))


class Unseen(Fact, frozen=True):
    """An instance without some data, and the reason."""

    instance: int
    reason: str
    right: MissingRight | None = None


def unseen(cluster: Cluster) -> tuple[Unseen, ...]:
    """Return the instances whose differences are not known: instances that were not queried, or that restarted."""
    database, activity = database_of(cluster), cluster.activity
    gaps = activity.instances if isinstance(activity, Activity) else ()
    found = {u.number: Unseen(u.number, u.reason, u.right) for u in (database.unasked if database else ())}
    found |= {gap.instance: Unseen(gap.instance, gap.reason, gap.right) for gap in gaps if isinstance(gap, ActivityGap)}
    known = {a.instance for a in gaps if isinstance(a, InstanceActivity)}
    silent = [i.number for i in database.instances if i.number not in known | set(found)] if database else []
    found |= {
        n: Unseen(n, "The views have no row for this instance.") for n in silent if isinstance(activity, Activity)
    }
    return tuple(found[n] for n in sorted(set(found) - known))


def interconnects_of(cluster: Cluster, number: int) -> tuple[InterconnectInUse, ...]:
    """Return the interconnects that an instance reports."""
    database = database_of(cluster)
    if database is None or isinstance(database.interconnects, Unknown):
        return ()
    return tuple(i for i in database.interconnects if i.instance == number)
