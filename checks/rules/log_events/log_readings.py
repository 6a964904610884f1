"""What each line of the logs reports, by the table of messages and by the lines around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from checks.model.facts import AlertLog, Cluster, LogKind, LogLine, NodeLogs, Unknown
from checks.rules.log_events.log_message import About, LineRole, LogEvent, LogMessage
from checks.rules.log_events.log_names import InstanceNames, instances_in, known_nodes, node_in, route_in
from checks.rules.log_events.os_errors import interface_in, os_error
from checks.rules.log_events.table import message_of

_ONE_ERROR = timedelta(seconds=2)
_AT_THE_RECEIVER = re.compile(r"detected\.?\s*Receiver")
_BY_MEMBER = re.compile(r"by member (\d{1,5})")
_BY_INSTANCE = re.compile(r"by instance(?: number)? (\d{1,5})|message from instance (\d{1,5})")
_EVICTING_NODE = re.compile(r"by node \d{1,5}, (\S{1,100}?)[;,. ]")


@dataclass(frozen=True)
class Reading:
    """What a line reports."""

    event: LogEvent | None
    role: LineRole
    node: str
    """The node on which the log was read."""
    writer: str
    kind: LogKind
    database: str
    at: datetime
    code: str
    text: str
    read_at: datetime
    about: str = ""
    """The peer: a node, `instance 2`, a route, an address; the writer itself where the line is about it."""
    instance: int | None = None
    """The number of the instance that the line is about."""
    own_number: int | None = None
    """The number of the instance that wrote the line, as far as it is known."""
    by: str = ""
    """The node or the instance that decided an eviction."""
    counts: bool = True
    percent: int = 0
    is_inward: bool = False
    """Whether messages to the writer are meant."""
    status: int | None = None
    """The error number of the operating system."""
    is_understood: bool = True

    @property
    def line(self) -> str:
        """The line for people, with its node and time."""
        return f"{self.node}: {self.at.isoformat(timespec='seconds')} {self.text}"


def log_lines(log: AlertLog) -> tuple[LogLine, ...]:
    """Return the lines of a log; none where it could not be read."""
    return () if isinstance(log.lines, Unknown) else log.lines


def moment_of(text: str) -> datetime | None:
    """Return a time with its zone; None where the text is none, as in a damaged file."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def readings(cluster: Cluster) -> tuple[Reading, ...]:
    """Return what each line in the logs of all nodes reports, in the order of each log."""
    seen: set[tuple[str, LogLine]] = set()
    nodes, names = known_nodes(cluster), InstanceNames(cluster)
    found: list[Reading] = []
    for setup in cluster.read_setups():
        if not isinstance(setup.logs, NodeLogs):
            continue
        read_at = moment_of(setup.logs.read_at)
        for log in setup.logs.logs:
            # A log on a file system that nodes share is read on each of them.
            new = [line for line in log_lines(log) if (log.path, line) not in seen]
            seen.update((log.path, line) for line in new)
            if read_at is not None:
                found += _Log(setup.name, log, read_at, nodes, names).read(new)
    return tuple(found)


@dataclass(frozen=True)
class _Log:
    node: str
    log: AlertLog
    read_at: datetime
    nodes: tuple[str, ...]
    names: InstanceNames

    def read(self, lines: Iterable[LogLine]) -> Iterator[Reading]:
        timed = [
            (at, line, message_of(self.log.kind, line)) for line in lines if (at := moment_of(line.at)) is not None
        ]
        error: list[tuple[datetime, LogLine]] = []
        for i, (at, line, message) in enumerate(timed):
            if message is not None and message.role is LineRole.OS_ERROR:
                if error and (at - error[-1][0] > _ONE_ERROR or _begins(line, error)):
                    yield from self._error(error)
                    error = []
                error.append((at, line))
                continue
            if message is None:
                yield replace(self._plain(at, line, None, LineRole.EVENT), is_understood=False)
                continue
            after = timed[i + 1] if i + 1 < len(timed) else None
            receiver = after[1].text if after and after[2] and after[2].role is LineRole.RECEIVER else ""
            yield from self._of(message, at, line, receiver)
        if error:
            yield from self._error(error)

    def _plain(self, at: datetime, line: LogLine, event: LogEvent | None, role: LineRole) -> Reading:
        return Reading(
            event, role, self.node, self.log.owner, self.log.kind, self.log.database or self.log.kind, at, line.code,
            line.text, self.read_at, own_number=self._own_number(),
        )  # fmt: skip

    def _error(self, lines: Sequence[tuple[datetime, LogLine]]) -> Iterator[Reading]:
        error = os_error([(line.code, line.text) for _, line in lines])
        role = LineRole.EVENT if error.is_of_network else LineRole.CONTEXT
        for i, (at, line) in enumerate(lines):
            yield replace(
                self._plain(at, line, error.event, role), about=error.interface, status=error.status, counts=i == 0,
                is_understood=error.event is not None or not error.is_of_network,
            )  # fmt: skip

    def _of(self, message: LogMessage, at: datetime, line: LogLine, receiver: str) -> Iterator[Reading]:
        plain = replace(
            self._plain(at, line, message.event, message.role), counts=message.counts, percent=message.percent
        )
        match message.about:
            case About.OWNER:
                yield replace(plain, about=self.log.owner, instance=plain.own_number, by=self._evictor(line.text))
            case About.NODE:
                yield replace(plain, about=node_in(line.text, self.nodes, self.log.owner))
            case About.ROUTE:
                yield replace(plain, about=route_in(line.text))
            case About.INTERFACE:
                yield replace(plain, about=interface_in(line.text))
            case About.INSTANCES:
                yield from self._about_instances(plain, f"{line.text} {receiver}")
            case _:
                yield plain

    def _own_number(self) -> int | None:
        return self.names.number(self.log.owner) if self.log.kind.is_of_instance else None

    def _about_instances(self, plain: Reading, text: str) -> Iterator[Reading]:
        if plain.event is LogEvent.INSTANCE_EVICTED:
            for one in instances_in(text):
                name = self.names.name(one, self.log.database)
                yield replace(plain, about=name, instance=one, by=self.log.owner)
            return
        number = next(iter(instances_in(text)), None)
        inward = bool(_AT_THE_RECEIVER.search(text)) or plain.code == "no messaging activity"
        named = f"instance {number}" if number is not None else ""
        yield replace(plain, about=named, instance=number, is_inward=inward)

    def _evictor(self, text: str) -> str:
        if found := _EVICTING_NODE.search(text):
            return found[1]
        number = next((int(n) for match in _BY_INSTANCE.findall(text) for n in match if n), None)
        if number is None and (member := _BY_MEMBER.search(text)):
            number = int(member[1]) + 1  # members count from 0, instances from 1
        return "" if number is None else self.names.name(number, self.log.database)


def _begins(line: LogLine, error: Sequence[tuple[datetime, LogLine]]) -> bool:
    """Whether a line is the first one of another error: a code that comes before the last one, or again."""
    order = ("ORA-27504", "ORA-27300", "ORA-27301", "ORA-27302", "ORA-27303")
    last = error[-1][1].code
    return line.code in order and last in order and order.index(line.code) <= order.index(last)
