"""The messages on stderr during sampling: the sampled nodes and instances, and the reasons of gaps."""

from __future__ import annotations

from collections.abc import Callable

from checks.model.facts import Cluster, Database, NotAsked, Unknown
from checks.model.settings import Settings
from checks.model.wording import counted, listed
from checks.traffic.latency import latency_paths, planned_latency
from checks.traffic.samples import Gap, LatencySample, Links
from tui.console.batch_writer import Item


class SamplingStatus:
    """Counts samples and gaps, and reports on them. A gap is reported only when its reason differs from the last one of
    its source: a source that fails and recovers all night must not fill the log."""

    def __init__(self, report: Callable[[str], None], announce: Callable[[str], None] | None = None) -> None:
        """`report` prints a message, `announce` prints which pings racwire will send (default: `report`)."""
        self._report = report
        self._announce = announce or report
        self._last_reason: dict[str, str] = {}
        self._sampled: dict[str, None] = {}
        self.samples = 0
        self._gaps = 0

    @property
    def counts(self) -> str:
        """The numbers so far: `1,204 samples, 2 gaps`."""
        return f"{counted(self.samples, 'sample')}, {counted(self._gaps, 'gap')}"

    @property
    def sources(self) -> str:
        """The sources with samples: `rac1, rac2 and prod1`."""
        return listed(self._sampled) or "nothing"

    def __call__(self, item: Item, probing: Settings | None = None) -> None:
        """Count and report an event or the found cluster. `probing`: the settings, where racwire will send pings."""
        match item:
            case Cluster():
                for sentence in _found(item):
                    self._report(sentence)
                if probing is not None:
                    paths = latency_paths(item)
                    self._announce(
                        f"sending {planned_latency(paths, probing.traffic.probes_per_second, probing.probe)}"
                    )
            case Gap():
                self._gaps += 1
                if self._last_reason.get(item.source) != item.reason:
                    self._last_reason[item.source] = item.reason
                    self._report(f"{item.source}: {item.reason}")
            case Links():
                pass
            case _:
                self.samples += 1
                name = "pings" if isinstance(item, LatencySample) else item.source.split(" ", 1)[-1]
                if name != "pairs":
                    self._sampled[name] = None


def _found(cluster: Cluster) -> list[str]:
    """Sentences on the nodes and instances that will be sampled."""
    sentences = []
    if isinstance(cluster.nodes, Unknown):
        sentences.append(f"only {cluster.local_node} is sampled; the other nodes are not known: {cluster.nodes.reason}")
    else:
        sentences.append(f"sampling {listed(node.name for node in cluster.nodes)}.")
    match cluster.database:
        case Database() as database:
            sentences.append(f"sampling {listed(i.name for i in database.instances)} of database {database.name}.")
        case NotAsked(reason):
            sentences.append(f"no instance is sampled: {reason}")
        case Unknown():
            pass  # the feed reports a gap
    return sentences
