"""Parse Oracle's logs: the lines that the program SETUP printed, or a whole file. Text in, facts out; raises nothing.

A trace has the time stamp in each line, as the alert log of Clusterware since 12.1.0.2. Other alert logs have it on a
line of its own before the lines of a message: in ISO 8601 (12.2 and later, Clusterware before 12.1.0.2) or as `date`
prints it (databases before 12.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone

import msgspec

from checks.model.facts import AlertLog, LogKind, LogLine, MissingRight, NodeLogs, Unknown
from checks.model.sanitize import sanitize
from checks.rules.log_events.table import TRANSPORT, code_of
from checks.sources.alert_logs import DONE, LOGS_LIMIT_S, LOGS_RIGHT, LOOKED_IN, NO_TIMEOUT
from checks.sources.nodes.sections import OutputSection
from checks.sources.sh_text import FILE_MARK, TIMED_OUT, UNREADABLE

DAY = timedelta(hours=24)
_AHEAD = timedelta(hours=14)
"""The most by which a log without zones can seem to be ahead, when its writer has another TZ than the shell."""
_TEXT = 420
_MOST_LINES = 200

_NOW = re.compile(r"now (\d{1,12}) ([+-])(\d\d)(\d\d)")
_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\s{0,3}(Z|[+-]\d\d:?\d\d)?(?![\d])[:\s]*"
)
_DATE = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (?:[A-Z]{2,5} )?(\d{4})\s*")
_MONTHS = {
    name: n
    for n, name in enumerate(["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1)
}
_IPC = re.compile(rf"{TRANSPORT}:?\s*(.{{1,100}})")
_CRS_PATH = re.compile(r".*/diag/crs/([^/]+)/crs/trace/alert\.log|.*/log/([^/]+)/alert[^/]*\.log")
_DATABASE_PATH = re.compile(r".*/diag/(rdbms|asm)/([^/]+)/([^/]+)/trace/alert_[^/]*\.log")
_TRACE_PATH = re.compile(
    r".*/diag/crs/([^/]+)/crs/trace/(ocssd|gipcd|ohasd)\.trc|.*/log/([^/]+)/(?:cssd/|gipcd/|ohasd/)(ocssd|gipcd|ohasd)\.log"
)


@dataclass
class _Printed:
    path: str
    lines: list[str] = field(default_factory=list)


def parse_logs(section: OutputSection | None) -> NodeLogs | Unknown:
    """The alert logs of a node from the section `alert logs`; Unknown where the node read none."""
    if section is None:
        return Unknown("the answer ended before the alert logs")
    lines = section.text.split("\n")
    if NO_TIMEOUT in lines:
        return Unknown("the program timeout, which racwire reads the alert logs with, is not installed there")
    found = next((match for line in lines if (match := _NOW.fullmatch(line.strip()))), None)
    if found is None:
        return Unknown("the node did not print its clock and zone")
    sign = -1 if found[2] == "-" else 1
    zone = timezone(sign * min(timedelta(hours=int(found[3]), minutes=int(found[4])), timedelta(hours=23)))
    try:
        now = datetime.fromtimestamp(int(found[1]), zone)
    except (ValueError, OverflowError, OSError):
        return Unknown("the clock of the node is out of range")
    cut = ""
    if DONE not in lines:
        cut = f"they took over {LOGS_LIMIT_S} s" if section.exit_status == TIMED_OUT else "they were too long"
    printed = _printed(lines)
    logs = tuple(log for one in printed if (log := _log(one, now)) is not None)
    return NodeLogs(
        logs=tuple({log.path: log for log in logs}.values()),
        looked_in=tuple(dict.fromkeys(line[len(LOOKED_IN) :].strip() for line in lines if line.startswith(LOOKED_IN))),
        closed=tuple(
            dict.fromkeys(one.path for one in printed if UNREADABLE in one.lines and not one.path.endswith(".log"))
        ),
        cut=cut,
        read_at=now.isoformat(),
    )


def _printed(lines: list[str]) -> list[_Printed]:
    files: list[_Printed] = []
    for line in lines:
        mark, _, path = line.partition(" ")
        if mark == FILE_MARK:
            files.append(_Printed(sanitize(path.strip().rstrip("/"))))
        elif files and mark != LOOKED_IN and line != DONE:
            files[-1].lines.append(line)
    return files


def _log(printed: _Printed, now: datetime) -> AlertLog | None:
    """The log of a file; None for a directory or another file."""
    if UNREADABLE in printed.lines and (named := log_of_path(printed.path)):
        right = MissingRight(f"read {printed.path}, as {LOGS_RIGHT}")
        return msgspec.structs.replace(named, lines=Unknown(f"this user may not read {printed.path}", right))
    return log_of_lines(printed.path, (line.removeprefix(" ") for line in printed.lines), now)


def log_of_path(path: str) -> AlertLog | None:
    """Return whose log a file is, by its path in the ADR or in a Grid home, without lines; None for another file."""
    if found := _CRS_PATH.fullmatch(path):
        return AlertLog(LogKind.CLUSTERWARE, path, found[1] or found[2])
    if found := _TRACE_PATH.fullmatch(path):
        return AlertLog(LogKind(found[2] or found[4]), path, found[1] or found[3])
    if found := _DATABASE_PATH.fullmatch(path):
        is_asm = found[1] == "asm"
        database = "" if is_asm else found[2]
        return AlertLog(LogKind.ASM if is_asm else LogKind.DATABASE, path, found[3], database=database)
    return None


def log_of_lines(path: str, lines: Iterable[str], now: datetime) -> AlertLog | None:
    """Return the log of a file with the messages of the table in the day before `now`, whose zone is that of time
    stamps without one; None for a file that is no log. `lines`: of the whole file, or of any part."""
    log = log_of_path(path)
    if log is None:
        return None
    every = tuple(lines)
    ipc = [found[1].strip() for line in every if (found := _IPC.search(line))]
    own = tuple(_lines(log.kind, every, now))[-_MOST_LINES:]
    return msgspec.structs.replace(log, lines=own, ipc=sanitize(ipc[-1]) if ipc else "")


def _lines(kind: LogKind, lines: Iterable[str], now: datetime) -> Iterator[LogLine]:
    """Yield the listed lines of the last day; a line without a time stamp has that of the line before."""
    at: datetime | None = None
    for line in lines:
        stamp, rest = _stamp(line, now)
        if stamp is not None:
            at = stamp
        if at is None or not now - DAY <= at <= now + _AHEAD:
            continue
        if code := code_of(kind, line):
            yield LogLine(at.isoformat(), code, sanitize(rest.strip())[:_TEXT])


def _stamp(line: str, now: datetime) -> tuple[datetime | None, str]:
    """The time stamp at the start of a line, and the rest of the line."""
    try:
        if found := _ISO.match(line):
            year, month, day, hour, minute, second = (int(found[n]) for n in range(1, 7))
            micros = int((found[7] or "0").ljust(6, "0")[:6])
            zone = _zone(found[8]) if found[8] else now.tzinfo
            return datetime(year, month, day, hour, minute, second, micros, zone), line[found.end() :]
        if found := _DATE.match(line):
            date = (int(found[6]), _MONTHS.get(found[1], 0), int(found[2]))
            return datetime(*date, int(found[3]), int(found[4]), int(found[5]), 0, now.tzinfo), line[found.end() :]
    except (ValueError, OverflowError):
        return None, line
    return None, line


def _zone(text: str) -> timezone:
    if text == "Z":
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)
