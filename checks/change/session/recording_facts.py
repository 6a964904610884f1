"""The evidence of a change's gates from its two recordings: read from the files, and compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path

import msgspec

from checks.model.facts import BeforeAfter, Clusterware, NoRecording, RecordingsCompared, SeenRecording, Unknown
from checks.model.wording import listed
from checks.predict.measured_load import load_of
from checks.predict.receipt import receipt
from checks.traffic.compare.comparison import Compared, Comparison, ComparisonVerdict, Shift
from checks.traffic.compare.comparison_text import change_of, with_unit
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.compare.differences import environment_differences
from checks.traffic.compare.metrics import PACKETS_PER_BLOCK
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.samples import Links, NodeSample

HARMFUL = (
    "drops and errors",
    "reassembly failed",
    "reassembly timed out",
    "receive-buffer errors",
    "softnet dropped",
    "CR receive time",
    "current receive time",
    "blocks lost",
    "lost of 100,000 blocks",
    "small pings lost",
    "block-sized pings lost",
)
"""The metrics that a change of MTU must not make worse, by the last words of their names."""
_FIGURES = (PACKETS_PER_BLOCK, "ping 8 KB", "CPU per MB", "softirq per MB", "mean packet in", *HARMFUL)
"""The metrics whose values before and after are in the report, by the last words of their names."""


def see_recording(path: Path) -> SeenRecording | NoRecording | Unknown:
    """Return the content of a recording, which may still grow. Reads the whole file: do not call on an event loop."""
    if not path.exists():
        return NoRecording(str(path))
    try:
        with closing(Recording.open(path)) as recording:
            if not _is_time(recording.header.started_at):
                return Unknown(f"{path} has no time of its start: record again.")
            return _seen(path, recording)
    except RecordingError as error:
        return Unknown(str(error))


def _seen(path: Path, recording: Recording) -> SeenRecording:
    covered: dict[str, float] = {}
    moved: dict[str, float] = {}
    private: dict[str, dict[str, tuple[int, ...]]] = {}
    first, last = float("inf"), float("-inf")
    for event in recording.events():
        if isinstance(event, Links):
            _note(private.setdefault(event.node, {}), event)
        elif isinstance(event, NodeSample):
            first, last = min(first, event.at - event.seconds), max(last, event.at)
            covered[event.node] = covered.get(event.node, 0.0) + event.seconds
            counts = (c for name, c in event.interfaces.items() if name in private.get(event.node, ()))
            moved[event.node] = moved.get(event.node, 0.0) + sum(c.rx_bytes + c.tx_bytes for c in counts)
    seconds = max(last - first, 0.0)
    return SeenRecording(
        path=str(path),
        begun_at=recording.header.started_at,
        seconds=round(seconds, 3),
        sampled={node: round(min(own / seconds, 1.0), 4) for node, own in covered.items()} if seconds else {},
        mtus=private,
        private_bytes_per_s={node: round(own / seconds, 1) for node, own in moved.items()} if seconds else {},
        cluster=_cluster(recording),
    )


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _cluster(recording: Recording) -> str:
    facts = recording.header.cluster.clusterware
    return facts.cluster_name if isinstance(facts, Clusterware) and isinstance(facts.cluster_name, str) else ""


def _note(known: dict[str, tuple[int, ...]], links: Links) -> None:
    for link in links.links:
        if link.network and link.mtu and link.mtu not in known.get(link.name, ()):
            known[link.name] = (*known.get(link.name, ()), link.mtu)


def compare_recordings(
    before: Path, after: Path, stretch_s: float | None = None, again: Path | None = None
) -> RecordingsCompared | NoRecording | Unknown:
    """Return the comparison of the second recording with the first, in stretches of `stretch_s` seconds.

    With `stretch_s` None the default length is used. `again` is a second recording before the change, which shows the
    noise. Do not call on an event loop.
    """
    paths = (before, after, *((again,) if again else ()))
    for path in paths:
        if not path.exists():
            return NoRecording(str(path))
    try:
        with ExitStack() as files:
            opened = [(str(path), files.enter_context(closing(Recording.open(path)))) for path in paths]
            (first, second, *same), length_s = runs_of(opened, stretch_s=stretch_s)
            compared = summarised(compare([Runs(first, second, same[0] if same else None, length_s)]))
            loads = [load_of(recording) for _, recording in opened[:2]]
            return msgspec.structs.replace(compared, predicted=tuple(receipt(*loads)))
    except RecordingError as error:
        return Unknown(str(error))


def unlike_environments(before: Path, again: Path) -> tuple[str, ...] | NoRecording | Unknown:
    """Return what differs in the environments of two recordings: `rac1 kernel: 5.4 and 5.15`.

    Do not call on an event loop.
    """
    for path in (before, again):
        if not path.exists():
            return NoRecording(str(path))
    try:
        with ExitStack() as files:
            opened = [(str(path), files.enter_context(closing(Recording.open(path)))) for path in (before, again)]
            (first, second), _ = runs_of(opened)
    except RecordingError as error:
        return Unknown(str(error))
    return tuple(f"{one.name}: {one.before} and {one.after}" for one in environment_differences(first, second))


def summarised(comparison: Comparison) -> RecordingsCompared:
    """Return the results of a comparison that the gate needs."""
    worse = comparison.having(ComparisonVerdict.WORSE)
    return RecordingsCompared(
        summary=comparison.summary,
        harm=tuple(_moved(m) for m in worse if _is_harmful(m)),
        worse=tuple(_moved(m) for m in worse if not _is_harmful(m)),
        open=tuple(_open(comparison)),
        figures={m.name: _both(m) for m in _wholes(comparison) if m.name.endswith(_FIGURES) and not m.is_still},
    )


def _wholes(comparison: Comparison) -> Iterable[Compared]:
    return (metric for metric in comparison.metrics if not metric.part_of)


def _is_harmful(metric: Compared) -> bool:
    return metric.name.endswith(HARMFUL)


def _moved(metric: Compared) -> str:
    """Return the change of a metric: `blocks lost from 0 to 3.20 1/s`, `CR receive time +34 %`."""
    if metric.before.centre:
        return f"{metric.name} {change_of(metric)}"
    return f"{metric.name} from 0 to {with_unit(metric.after.centre, metric.unit)}"


def _both(metric: Compared) -> BeforeAfter:
    return BeforeAfter(
        before=with_unit(metric.before.centre, metric.unit), after=with_unit(metric.after.centre, metric.unit)
    )


def _open(comparison: Comparison) -> Sequence[str]:
    """Return the reasons why the comparison proves nothing; none if it does."""
    if comparison.shifted:
        return tuple(reason_once(comparison.shifts))
    if not comparison.is_telling:
        return ("The recordings have too few samples: record for longer.",)
    rare = [m.name for m in comparison.too_rare if m.change > 0]
    if not rare:
        return ()
    return (f"Too rare for a comparison, but more frequent than before: {', '.join(rare)}. Record for longer.",)


def reason_once(shifts: Iterable[Shift]) -> Iterable[str]:
    """Yield a sentence for all shifts that mean the same."""
    moved: dict[str, list[str]] = {}
    for shift in shifts:
        moved.setdefault(shift.meaning, []).append(shift.what)
    return (f"{listed(whats)}: {meaning}" for meaning, whats in moved.items())
