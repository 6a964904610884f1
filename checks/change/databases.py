"""Which databases a change has to stop: those that Clusterware manages and that run."""

from __future__ import annotations

from checks.change.change_plan import PlannedDatabase
from checks.change.packets import block_size
from checks.model.facts import Cluster, Database, Managed, Unknown


def databases_of(cluster: Cluster) -> tuple[PlannedDatabase, ...]:
    """Each database that runs, with its instance on each node; those that are down already are left as they are.

    Where Clusterware does not tell, the one that was connected to; `instances` has the node first.
    """
    managed = cluster.managed
    if isinstance(managed, Managed) and not isinstance(managed.databases, Unknown):
        running = {
            d.name: {} if isinstance(d.instances, Unknown) else {node: instance for instance, node in d.instances}
            for d in managed.databases
            if isinstance(d.instances, Unknown) or d.instances
        }
    elif isinstance(cluster.database, Database):
        running = {cluster.database.name: {_node(cluster, i.host): i.name for i in cluster.database.instances}}
    else:
        return ()
    return tuple(PlannedDatabase(name=n, instances=i, block_bytes=_block(cluster, n)) for n, i in running.items())


def _node(cluster: Cluster, host: str) -> str:
    """The node of that host name, in the spelling of Clusterware."""
    return next((n.name for n in cluster.read_nodes() if n.name.casefold() == host.casefold()), host)


def _block(cluster: Cluster, name: str) -> int | None:
    database = cluster.database
    if isinstance(database, Database) and database.name.casefold() == name.casefold():
        return block_size(cluster)
    return None
