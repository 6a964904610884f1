"""What is measured on the way and shown in the report: before the change beside after it. No I/O."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.facts import Activity, BeforeAfter, Cluster, Database, InstanceActivity, RecordingsCompared, Unknown
from checks.model.wording import counted
from checks.rules.cache_fusion import BLOCKS_LOST, CR_RECEIVED, CURRENT_RECEIVED


def figures_of(cluster: Cluster) -> dict[str, str | BeforeAfter]:
    """Each by its name, with its unit; what was not measured is not there. A comparison has both times at once."""
    found: dict[str, str | BeforeAfter] = dict(_of_kernels(cluster))
    if isinstance(cluster.activity, Activity):
        found |= dict(_of_instances(cluster, cluster.activity))
    compared = cluster.changing if isinstance(cluster.changing, Unknown) else cluster.changing.compared
    if isinstance(compared, RecordingsCompared):
        found |= compared.figures
    return found


def _of_kernels(cluster: Cluster) -> Iterator[tuple[str, str]]:
    if isinstance(cluster.counters, Unknown):
        return
    for change in cluster.counters.nodes:
        failed, asked = (change.counters.value("Ip", name) for name in ("ReasmFails", "ReasmReqds"))
        if failed is not None and asked is not None:
            yield f"reassemblies failed {change.node}", f"{failed:,} of {counted(asked, 'fragment')}"


def _of_instances(cluster: Cluster, activity: Activity) -> Iterator[tuple[str, str]]:
    def name(number: int) -> str:
        database = cluster.database
        return database.instance_name(number) if isinstance(database, Database) else f"instance {number}"

    for own in activity.instances:
        if isinstance(own, InstanceActivity) and BLOCKS_LOST in own.statistics:
            received = sum(own.statistics.get(statistic, 0) for statistic in (CR_RECEIVED, CURRENT_RECEIVED))
            yield (
                f"gc blocks lost {name(own.instance)}",
                f"{own.statistics[BLOCKS_LOST]:,} of {counted(received, 'block')} in {own.seconds:.0f} s",
            )
    for ping in () if isinstance(activity.pings, Unknown) else activity.pings:
        if ping.instance == ping.target:
            continue
        for size, average_us in (("500 B", ping.average_500b_us), ("8 KB", ping.average_8k_us)):
            if average_us is not None:
                yield f"IC ping {size} {name(ping.instance)} -> {name(ping.target)}", f"{average_us / 1000:.2f} ms"
