"""Parse the lines of alert logs that the program SETUP printed. Text in, facts out; raises nothing.

An alert log has the time stamp in each line (Clusterware since 12.1.0.2), or on a line of its own before the lines of a
message: in ISO 8601 (12.2 and later, Clusterware before 12.1.0.2) or as `date` prints it (databases before 12.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone

from checks.model.facts import AlertLog, LogKind, LogLine, MissingRight, NodeLogs, Unknown
from checks.model.sanitize import sanitize
from checks.sources.alert_logs import (
    CRS_CODES,
    DONE,
    LOGS_LIMIT_S,
    LOGS_RIGHT,
    LOOKED_IN,
    NO_TIMEOUT,
    ORA_CODES,
)
from checks.sources.nodes.sections import Section
from checks.sources.sh_text import FILE_MARK, TIMED_OUT, UNREADABLE

DAY = timedelta(hours=24)
_AHEAD = timedelta(hours=14)
"""The most by which a log without zones can seem to be ahead, when its writer has another TZ than the shell."""
_TEXT = 300
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
_CODE = re.compile(rf"(?<![\w-])({'|'.join((*CRS_CODES, *ORA_CODES, 'CRS-2674', 'CRS-5017'))})(?!\d)")
_PHRASES = (
    ("IPC Send timeout", re.compile(r"IPC Send timeout")),
    ("Receiver", re.compile(r"Receiver: inst ")),
    ("no messaging activity", re.compile(r"has detected no messaging activity from instance")),
    ("skgxpvfynet", re.compile(r"skgxpvfynet:")),
    ("Communications reconfiguration", re.compile(r"Communications reconfiguration")),
    ("split-brain resolution", re.compile(r"split-brain resolution")),
    ("Evicting instance", re.compile(r"Evicting instance|Remote instance kill")),
    ("Reconfiguration", re.compile(r"\s*Reconfiguration (?:started|complete)")),
    ("terminated by LMON", re.compile(r"Instance terminated by LMON|terminating (?:the )?instance due to")),
)
_IPC = re.compile(r"cluster interconnect IPC version:?\s*(.{1,100})")
_CRS_PATH = re.compile(r".*/diag/crs/([^/]+)/crs/trace/alert\.log|.*/log/([^/]+)/alert[^/]*\.log")
_DATABASE_PATH = re.compile(r".*/diag/(rdbms|asm)/([^/]+)/([^/]+)/trace/alert_[^/]*\.log")


@dataclass
class _Printed:
    path: str
    lines: list[str] = field(default_factory=list)


def parse_logs(section: Section | None) -> NodeLogs | Unknown:
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
    """The alert log of a file; None for a directory or another file."""
    if found := _CRS_PATH.fullmatch(printed.path):
        kind, owner, database = LogKind.CLUSTERWARE, found[1] or found[2], ""
    elif found := _DATABASE_PATH.fullmatch(printed.path):
        kind, owner = (LogKind.ASM if found[1] == "asm" else LogKind.DATABASE), found[3]
        database = "" if kind is LogKind.ASM else found[2]
    else:
        return None
    if UNREADABLE in printed.lines:
        right = MissingRight(f"read {printed.path}, as {LOGS_RIGHT}")
        return AlertLog(
            kind, printed.path, owner, Unknown(f"this user may not read {printed.path}", right), "", database
        )
    ipc = [found[1].strip() for line in printed.lines if (found := _IPC.search(line))]
    lines = tuple(_lines(printed.lines, now))[-_MOST_LINES:]
    return AlertLog(kind, printed.path, owner, lines, sanitize(ipc[-1]) if ipc else "", database)


def _lines(lines: list[str], now: datetime) -> Iterator[LogLine]:
    """Yield the listed lines of the last day; a line without a time stamp has that of the line before."""
    at: datetime | None = None
    for line in lines:
        stamp, rest = _stamp(line.removeprefix(" "), now)
        if stamp is not None:
            at = stamp
        if at is None or not now - DAY <= at <= now + _AHEAD:
            continue
        if code := _code(rest):
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


def _code(text: str) -> str:
    if found := _CODE.search(text):
        return found[1]
    return next((name for name, pattern in _PHRASES if pattern.search(text)), "")
