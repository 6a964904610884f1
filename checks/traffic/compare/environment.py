"""What should be alike in two recordings that are compared, as the host configuration comparison of AWR has it."""

from __future__ import annotations

from checks.model.facts import Clusterware, Database, Unknown
from checks.traffic.compare.readings import Readings
from checks.traffic.recording import Header

MTU = "MTU"
"""The last word of the facts that are the change itself."""
_ANOTHER = 1.8
"""Times as long as another that an interval is where it is no matter of samples that come late."""


def environment_of(header: Header, readings: Readings) -> dict[str, str]:
    """Each fact by its name; what was not known then is not there."""
    facts = {"seconds between samples": _between_samples(header, readings), "racwire": header.racwire_version}
    for node, cpus in sorted(readings.cpus.items()):
        facts[f"{node} CPUs"] = str(cpus)
    for node, links in sorted(readings.links.items()):
        for link in links.links:
            if link.network:
                if link.mtu:
                    facts[f"{node} {link.name} {MTU}"] = str(link.mtu)
                facts[f"{node} {link.name} network"] = link.network
                if link.speed_mbps:
                    facts[f"{node} {link.name} speed"] = f"{link.speed_mbps} Mb/s"
    cluster = header.cluster
    for known in cluster.read_nodes():
        if known.kernel_release:
            facts[f"{known.name} kernel"] = known.kernel_release
        for name, value in sorted(known.sysctls.items()):
            if not isinstance(value, Unknown):
                facts[f"{known.name} {name}"] = " ".join(value.split())
    if isinstance(cluster.clusterware, Clusterware) and not isinstance(cluster.clusterware.version, Unknown):
        facts["Clusterware"] = cluster.clusterware.version.version
    nodes = sorted({*readings.subjects("node"), *(node.name for node in cluster.read_nodes())})
    facts["nodes"] = " ".join(nodes)
    if isinstance(cluster.database, Database):
        facts |= _of_database(cluster.database)
    if instances := readings.subjects("instance"):
        facts["instances sampled"] = " ".join(instances)
    return facts


def _between_samples(header: Header, readings: Readings) -> str:
    """As it was set at the beginning, or as the samples tell where it was changed since."""
    shortest_s, longest_s = readings.intervals_s
    if readings.is_uneven:
        return f"{shortest_s:g} to {longest_s:g}"
    least_s, most_s = sorted((shortest_s, header.interval_s))
    return f"{shortest_s if most_s >= _ANOTHER * least_s > 0 else header.interval_s:g}"


def _of_database(database: Database) -> dict[str, str]:
    facts = {"database": database.name, "database version": database.version}
    facts["instances"] = " ".join(sorted(f"{i.name}@{i.host}" for i in database.instances))
    for instance in database.instances:
        facts[f"{instance.name} version"] = instance.version
    if not isinstance(database.parameters, Unknown):
        for parameter in database.parameters:
            facts[f"{database.instance_name(parameter.instance)} {parameter.name}"] = parameter.value or "(none)"
    return facts
