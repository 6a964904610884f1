"""The lines of alert logs in a case of facts: they are printed as a node prints them, and parsed by the real parser."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from checks.model.facts import NodeLogs, Unknown
from checks.sources.alert_logs import DONE
from checks.sources.nodes.alert_log_text import parse_logs
from checks.sources.nodes.sections import OutputSection
from checks.sources.sh_text import FILE_MARK


class LogLineOf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of the alert log of an instance on a node, or of a trace; else of the alert log of Clusterware there."""

    node: str
    text: str
    minutes_ago: float
    instance: str = ""
    trace: str = ""
    """`ocssd`, `gipcd` or `ohasd`."""

    def printed(self, now: datetime) -> str:
        """Return the line as it is in the log."""
        at = now - timedelta(minutes=self.minutes_ago)
        if self.instance:
            return f" {at.isoformat(timespec='microseconds')}\n {self.text}\n"
        if self.trace:
            # The reader takes one second in ten of what CSS repeats.
            at = at.replace(tzinfo=None, second=at.second // 10 * 10)
            return f" {at.isoformat(sep=' ', timespec='milliseconds')} :    CSSD:909854464: [     INFO] {self.text}\n"
        return f" {at.replace(tzinfo=None).isoformat(sep=' ', timespec='milliseconds')} [OCSSD(2417)]{self.text}\n"


_LOGS_READ_AT = datetime.fromisoformat("2026-11-20T14:02:31+01:00")


def logs_of(node: str, lines: Sequence[LogLineOf]) -> NodeLogs | Unknown:
    """Return the logs of a node with these lines, parsed from what the node would print."""
    number = node.removeprefix("rac")
    text = f"now {_LOGS_READ_AT.timestamp():.0f} +0100\n"
    for path, instance in (
        (f"/u01/app/grid/diag/crs/{node}/crs/trace/alert.log", ""),
        (f"/u01/app/grid/diag/asm/+asm/+ASM{number}/trace/alert_+ASM{number}.log", f"+ASM{number}"),
        (f"/u01/app/oracle/diag/rdbms/prod/prod{number}/trace/alert_prod{number}.log", f"prod{number}"),
    ):
        own = [line for line in lines if (line.node, line.instance, line.trace) == (node, instance, "")]
        text += f"{FILE_MARK} {path}\n" + "".join(line.printed(_LOGS_READ_AT) for line in own)
    for trace in ("ocssd", "gipcd", "ohasd"):
        text += f"{FILE_MARK} /u01/app/grid/diag/crs/{node}/crs/trace/{trace}.trc\n"
        text += "".join(line.printed(_LOGS_READ_AT) for line in lines if (line.node, line.trace) == (node, trace))
    return parse_logs(OutputSection(f"{text}{DONE}"))
