"""What CSS and the instances report during a drill, as events of the timeline. Facts in, events out; no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.model.drill_result import DrillEvent
from checks.model.facts import LogKind, LogLine, NodeLogs
from checks.model.wording import counted
from checks.rules.cache_fusion import BLOCKS_LOST, received
from checks.rules.drill_causes import TimelineKind
from checks.rules.log_events.log_message import LineRole, LogEvent
from checks.rules.log_events.log_readings import log_lines, moment_of
from checks.rules.log_events.table import message_of
from checks.traffic.samples import Gap, InstanceSample
from checks.traffic.source_id import DATABASE, SourceId

_CSS = {LogEvent.HEARTBEAT: TimelineKind.CSS_NOTICED, LogEvent.NODE_EVICTED: TimelineKind.EVICTED}
_RECONFIGURED = "CRS-1601"
_PROCESS = re.compile(r"^\[\w+\(\d+\)\]\s*")
"""The process that wrote a line, such as `[OCSSD(2417)]`."""
_AFTERWORD = re.compile(r"(?:\.\s+If this persists|;\s+details at)\b.*", re.IGNORECASE)
"""What each such message says, and where CSS wrote more."""
_TEXT = 160
_MOST = 40
"""Most lines of one log on the timeline: the first ones, which say what happened."""


def alert_events(node: str, logs: NodeLogs, ahead_s: float, begin: float, end: float) -> Iterator[DrillEvent]:
    """Yield the lines of a node's alert logs between two moments, in seconds since 1970 by the clock of this node.

    `ahead_s`: how much the clock of that node is ahead.
    """
    for log in logs.logs:
        found = [
            event
            for line in log_lines(log)
            if (event := _event(node, log.kind, log.owner, line, ahead_s)) is not None and begin <= event.at <= end
        ]
        yield from found[:_MOST]


def _event(node: str, kind: LogKind, owner: str, line: LogLine, ahead_s: float) -> DrillEvent | None:
    at = moment_of(line.at)
    if at is None or kind is LogKind.ASM or kind.is_trace:
        return None
    text = _AFTERWORD.sub("", _PROCESS.sub("", line.text))
    text = text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"
    if kind is LogKind.CLUSTERWARE:
        said = _of_css(line)
        return None if said is None else DrillEvent(at.timestamp() - ahead_s, node, f"CSS: {text}", said)
    return DrillEvent(at.timestamp() - ahead_s, node, f"{owner}: {text}", TimelineKind.INSTANCES)


def _of_css(line: LogLine) -> TimelineKind | None:
    message = message_of(LogKind.CLUSTERWARE, line)
    if message is None:
        return None
    if message.role is LineRole.ORDER:
        return TimelineKind.CSS_NOTICED
    if message.code == _RECONFIGURED:
        return TimelineKind.RECONFIGURED
    return None if message.event is None else _CSS.get(message.event)


class BlockWatch:
    """The blocks of the instances: which were lost, and when they came again."""

    def __init__(self) -> None:
        self.has_instances = False
        self._waits: dict[str, bool] = {}
        """Whether each instance received no block in its last sample, after it had received some."""

    def see(self, event: object) -> Iterator[DrillEvent]:
        """Yield the events that a sample shows. A sample says what happened within its time, of a second or more."""
        if isinstance(event, Gap):
            for name in self._waits:
                if event.source in (DATABASE, SourceId.instance(name)):
                    self._waits[name] = True
        if not isinstance(event, InstanceSample):
            return
        self.has_instances = True
        earliest_at = event.at - event.seconds
        if lost := event.statistics.get(BLOCKS_LOST, 0):
            what = f"{event.instance} lost {counted(lost, 'block')} in {event.seconds:.1f} s"
            yield DrillEvent(event.at, event.host, what, TimelineKind.BLOCKS_LOST, earliest_at=earliest_at)
        blocks = received(event.statistics) or 0
        if blocks and self._waits.get(event.instance):
            what = f"{event.instance} receives blocks again"
            yield DrillEvent(event.at, event.host, what, TimelineKind.FIRST_BLOCK, earliest_at=earliest_at)
        elif not blocks and self._waits.get(event.instance) is False:
            what = f"{event.instance} received no block in {event.seconds:.1f} s"
            yield DrillEvent(event.at, event.host, what, TimelineKind.NO_BLOCK, earliest_at=earliest_at)
        if blocks or event.instance in self._waits:
            self._waits[event.instance] = not blocks
