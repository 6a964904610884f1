"""The messages on stderr during sampling: the sampled nodes and instances, and the reasons of gaps."""

from __future__ import annotations

from collections.abc import Callable

from checks.model.facts import Cluster, Database, NotAsked, Unknown
from checks.model.settings import Settings
from checks.model.wording import counted, listed
from checks.traffic.latency import latency_paths, planned_latency
from checks.traffic.samples import Gap, InstancesPace, LatencySample, Links
from checks.traffic.source_id import BY_RACWIRE, PAIRS, SourceId
from tui.console.batch_writer import Item


class SamplingStatus:
    """Counts samples and gaps, and reports on them. A gap is reported only when its reason differs from the last one of
    its source: a source that fails and recovers all night must not fill the log."""

    def __init__(self, report: Callable[[str], None], announce: Callable[[str], None] | None = None) -> None:
        """`report` prints a message, `announce` prints which pings racwire will send (default: `report`)."""
        self._report = report
        self._announce = announce or report
        self._reported: set[str] = set()
        """The nodes and instances that were reported, and sentences that need no repetition."""
        self._last_reason: dict[SourceId, str] = {}
        self._sampled: dict[str, None] = {}
        self._slowest_s: dict[str, float] = {}
        """The longest reported interval of the instances by its cause."""
        self._sampler = 0
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

    def sampled_by(self, pid: int) -> None:
        """Report which racwire takes the samples: the process with that number, or this one (0), where it did not."""
        if pid:
            self._report(f"the samples come from process {pid}, a racwire of yours that takes the same ones.")
        elif self._sampler:
            self._report(f"process {self._sampler} takes no more samples: this racwire takes them.")
        self._sampler = pid

    def __call__(self, item: Item, probing: Settings | None = None) -> None:
        """Count and report an event or the found cluster. `probing`: the settings, where racwire will send pings."""
        match item:
            case Cluster():
                for sentence in self._found(item):
                    self._report(sentence)
                if probing is not None and _has_all_networks(item) and self._is_new("probing"):
                    paths = latency_paths(item)
                    sent = planned_latency(paths, probing.traffic.probes_per_second, probing.probe)
                    self._announce(sent if all(p.refusal for p in paths) else f"sending {sent}")
            case Gap():
                self._gaps += 1
                if self._last_reason.get(item.source) != item.reason and item.caused_by != BY_RACWIRE:
                    self._last_reason[item.source] = item.reason
                    self._report(f"{item.source}: {item.reason}")
            case InstancesPace():
                self._report_pace(item)
            case Links():
                pass
            case _:
                self.samples += 1
                if item.source != PAIRS:
                    self._sampled["pings" if isinstance(item, LatencySample) else item.source.name] = None

    def _report_pace(self, pace: InstancesPace) -> None:
        """Report a pace with a new cause, or one slower than before: a pace that changes all night must not fill the
        log."""
        if pace.cause and pace.interval_s > self._slowest_s.get(pace.cause, 0.0):
            self._slowest_s[pace.cause] = pace.interval_s
            self._report(f"instances are sampled {pace.text}.")

    def _found(self, cluster: Cluster) -> list[str]:
        """Sentences on the nodes and instances that will be sampled, each of them once."""
        sentences = []
        if not isinstance(cluster.nodes, Unknown):
            if names := [node.name for node in cluster.nodes if self._is_new(f"node {node.name}")]:
                sentences.append(f"sampling {listed(names)}.")
        elif cluster.is_gathered("nodes") and self._is_new("no nodes"):
            sentences.append(
                f"only {cluster.local_node} is sampled; the other nodes are not known: {cluster.nodes.reason}"
            )
        match cluster.database:
            case Database() as database:
                if names := [i.name for i in database.instances if self._is_new(f"instance {i.name}")]:
                    sentences.append(f"sampling {listed(names)} of database {database.name}.")
            case NotAsked(reason):
                if self._is_new("no instance"):
                    sentences.append(f"no instance is sampled: {reason}")
            case Unknown():
                pass  # the feed reports a gap
        return sentences

    def _is_new(self, name: str) -> bool:
        """Whether this is the first report of that name."""
        is_new = name not in self._reported
        self._reported.add(name)
        return is_new


def _has_all_networks(cluster: Cluster) -> bool:
    """Whether no node is pending: the paths of the pings are then known."""
    return cluster.is_gathered("networks") and not any(node.is_pending for node in cluster.unread_nodes())
