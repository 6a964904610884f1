"""What is said on stderr while samples are taken: what is sampled, what is not and why."""

from __future__ import annotations

from collections.abc import Callable

from checks.model.facts import Cluster, Database, NotAsked, Unknown
from checks.model.settings import Settings
from checks.model.wording import counted, listed
from checks.traffic.latency import latency_paths, planned_latency
from checks.traffic.samples import Gap, LatencySample, Links
from tui.console.batch_writer import Item


class SamplingStatus:
    """Counts what is told, and puts into words what somebody should know of it. A gap is told when its reason is news:
    a source that comes and goes for a night must not fill the log with it."""

    def __init__(self, tell: Callable[[str], None], announce: Callable[[str], None] | None = None) -> None:
        """`announce` tells what is going to be sent; where None, `tell` does."""
        self._tell = tell
        self._announce = announce or tell
        self._last_reason: dict[str, str] = {}
        self._heard_of: dict[str, None] = {}
        self.samples = 0
        self._gaps = 0

    @property
    def counts(self) -> str:
        """`1,204 samples, 2 gaps`."""
        return f"{counted(self.samples, 'sample')}, {counted(self._gaps, 'gap')}"

    @property
    def sources(self) -> str:
        """All that samples came of: `rac1, rac2 and prod1`."""
        return listed(self._heard_of) or "nothing"

    def __call__(self, item: Item, probing: Settings | None = None) -> None:
        """An event, or the cluster once it is found. `probing`: the settings, where pings will be sent."""
        match item:
            case Cluster():
                for sentence in _found(item):
                    self._tell(sentence)
                if probing is not None:
                    paths = latency_paths(item)
                    self._announce(
                        f"sending {planned_latency(paths, probing.traffic.probes_per_second, probing.probe)}"
                    )
            case Gap():
                self._gaps += 1
                if self._last_reason.get(item.source) != item.reason:
                    self._last_reason[item.source] = item.reason
                    self._tell(f"{item.source}: {item.reason}")
            case Links():
                pass
            case _:
                self.samples += 1
                name = "pings" if isinstance(item, LatencySample) else item.source.split(" ", 1)[-1]
                if name != "pairs":
                    self._heard_of[name] = None


def _found(cluster: Cluster) -> list[str]:
    """What is going to be sampled."""
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
            pass  # the feed tells of it as a gap
    return sentences
