"""Runs, recordings and events as messages for syslog: severity, kind, text, fields; and the bytes of a message.

Two forms. `rfc5424` is RFC 5424 whole. journald, rsyslog and syslog-ng read only the header of syslog(3) at /dev/log as
they are installed, and take the header of RFC 5424 for text there: for them there is `local`.
"""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime

import msgspec

from checks.model.cluster_event import ClusterEvent
from checks.model.exit_codes import ExitCode
from checks.model.finding import PROBLEMS
from checks.model.report import Report, exit_code
from checks.model.sanitize import sanitize
from checks.model.settings_reporting import SyslogSettings
from checks.report.causes import cause_entries
from checks.report.event_text import change
from checks.report.nagios import summary_line

_NAME = "racwire"
_FACILITIES = {"user": 1, "daemon": 3, **{f"local{number}": 16 + number for number in range(8)}}
ERROR, WARNING, NOTICE, INFORMATIONAL = 3, 4, 5, 6
_SEVERITIES = {"FAIL": ERROR, "WARN": WARNING, "UNKNOWN": WARNING}
"""By the name of a status."""
_STATUSES = {ExitCode.PASS: "PASS", ExitCode.WARNINGS: "WARN", ExitCode.FAILURES: "FAIL"}
_MOST_OCTETS = 2048
"""What every receiver should accept (RFC 5424, 6.1)."""
_BOM = b"\xef\xbb\xbf"
_NIL = "-"


class SyslogMessage(msgspec.Struct, frozen=True):
    """What happened, for any receiver."""

    kind: str
    """The MSGID: the code of a cause, the kind of an event, `run`, `record-start`, `record-stop`."""
    severity: int
    """0 emergency to 7 debug."""
    text: str
    fields: dict[str, str]
    """The most important first: what does not fit is left out, from the end. Empty values are left out."""


def of_run(report: Report) -> SyslogMessage:
    """Return the message of a run: its status, its first cause, its exit code."""
    code = exit_code(report)
    status = _STATUSES.get(code, "UNKNOWN")
    codes = list(dict.fromkeys(cause.cause for entry in cause_entries(report) for cause in entry.causes))
    counts = {one.lower(): str(report.count(one)) for one in sorted(PROBLEMS, key=lambda one: one.gravity)}
    fields = {"status": status, "exit": str(int(code)), "causes": " ".join(codes), **counts}
    more = {"seconds": f"{report.duration_s:.1f}", "node": report.cluster.local_node, "version": report.racwire_version}
    severity = _SEVERITIES.get(status, INFORMATIONAL)
    return SyslogMessage(codes[0] if codes else "run", severity, summary_line(report), fields | more)


def of_event(state: str, event: ClusterEvent, now: float) -> SyslogMessage:
    """Return the message of an event that starts, continues, ends, was once, or lasts when the command ends."""
    severity = NOTICE if state == "ends" else _SEVERITIES.get(event.status.value, NOTICE)
    fields = {
        "status": event.status.value,
        "state": state,
        "event": str(event.number),
        "nodes": " ".join(event.nodes),
        "interfaces": " ".join(dict.fromkeys(place.interface for place in event.places if place.interface)),
        "instances": " ".join(dict.fromkeys(place.instance for place in event.places if place.instance)),
        "count": str(event.count or ""),
        "peak": f"{event.peak:.4g}" if event.peak else "",
        "unit": event.unit if event.peak else "",
        "start": _time(event.start),
        "end": _time(event.end) if event.end is not None else "",
    }
    return SyslogMessage(event.kind.value, severity, f"{state}: {change(state, event, now)}", fields)


def of_recording(kind: str, text: str, file: str, samples: int, code: int) -> SyslogMessage:
    """Return the message of a recording that starts or stops; `code` is its exit code."""
    fields = {"file": file, "samples": str(samples), "exit": str(int(code))}
    return SyslogMessage(kind, WARNING if code else INFORMATIONAL, text, fields)


def octets(message: SyslogMessage, settings: SyslogSettings, now: float) -> bytes:
    """Return the message as one datagram of at most 2,048 octets, sent at `now`."""
    priority = f"<{_FACILITIES[settings.facility] * 8 + message.severity}>"
    fields = [f'{name}="{_escaped(value)}"' for name, value in message.fields.items() if value]
    while True:
        whole = _whole(message, settings, priority, now, fields)
        if len(whole) <= _MOST_OCTETS or not fields:
            return whole[:_MOST_OCTETS].decode(errors="ignore").encode()  # no half of a character
        fields.pop()


def _whole(message: SyslogMessage, settings: SyslogSettings, priority: str, now: float, fields: list[str]) -> bytes:
    text = sanitize(message.text)
    if settings.format == "rfc5424" and settings.enterprise:
        data = " ".join((f"[{_NAME}@{settings.enterprise}", *fields)) + "]"
    else:  # an identifier without a number is IANA's to give, so the fields end the text
        data = _NIL
        text += f" [{' '.join(fields)}]" if fields else ""
    if settings.format == "local":
        at = datetime.fromtimestamp(now)
        head = f"{priority}{at:%b} {at.day:2} {at:%H:%M:%S} {_NAME}[{os.getpid()}]: {message.kind} "
        return f"{head}{text}".encode()
    host = "".join(c for c in socket.gethostname() if "!" <= c <= "~")[:255] or _NIL
    head = f"{priority}1 {_time(now)} {host} {_NAME} {os.getpid()} {message.kind} {data} "
    return head.encode() + (b"" if text.isascii() else _BOM) + text.encode()


def _time(at: float) -> str:
    """Return a time as RFC 3339 with the zone of this machine, to the microsecond."""
    return datetime.fromtimestamp(at, UTC).astimezone().isoformat(timespec="microseconds")


def _escaped(value: str) -> str:
    return "".join(f"\\{c}" if c in '"\\]' else c for c in sanitize(value))
