"""A report as the one line of a monitoring plugin: status, cause, figures after `|`.

The form is that of the Monitoring Plugins Development Guidelines, which Nagios, Icinga, Naemon, Checkmk and Enterprise
Manager read: `CRITICAL - text | name=value[unit];warning;critical;minimum`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from checks.model.exit_codes import ExitCode
from checks.model.facts import Activity, InstanceActivity, Unknown
from checks.model.finding import PROBLEMS
from checks.model.report import Report, exit_code
from checks.model.sanitize import sanitize
from checks.model.wording import counted
from checks.report.age import short_state_texts
from checks.report.causes import cause_entries
from checks.report.situation_words import new_events
from checks.report.summary import headline, headline_stands
from checks.rules.cache_fusion import lost

WORDS = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
"""The states of a service, by exit code."""
_LONGEST = 400
"""Most characters of the text: agents cut lines at 1,024 bytes (NRPE 2) and the figures must survive."""


def plugin_code(code: int) -> int:
    """Return the exit code of a plugin: what is no state of a service, such as a wrong option, is UNKNOWN."""
    return code if 0 <= code < len(WORDS) else ExitCode.COULD_NOT_TELL


def plugin_line(code: int, text: str, figures: str = "") -> str:
    """Return the line of a plugin. In the text, `|` would start the figures, and Nagios writes `;` as `:`."""
    plain = sanitize(text).replace("|", "/").replace(";", ",").strip()
    if len(plain) > _LONGEST:
        plain = f"{plain[: _LONGEST - 3]}..."
    return f"{WORDS[plugin_code(code)]} - {plain}{f' | {figures}' if figures else ''}\n"


def nagios(report: Report) -> str:
    """Return the line of a report, with a line feed."""
    return plugin_line(exit_code(report), summary_line(report), " ".join(_figures(report)))


def summary_line(report: Report) -> str:
    """Return what is wrong on one line: the first cause with its code, how many more, and the time of a saved state."""
    first = headline(report).rstrip(".")
    entries = cause_entries(report)
    if entries and not new_events(report):
        first += f" ({entries[0].cause_codes})"
    stands = headline_stands(report).rstrip(".")
    more = f"{counted(len(entries) - 1, 'more cause')}" if len(entries) > 1 else ""
    interrupted = "interrupted, not all checks were run" if report.interrupted else ""
    saved = short_state_texts(report, datetime.now().astimezone())[1] if report.saved_at else ""
    return ", ".join(filter(None, (interrupted, first, stands, more, saved)))


def _figures(report: Report) -> Iterator[str]:
    for status in sorted(PROBLEMS, key=lambda one: one.gravity):
        yield f"{status.lower()}={report.count(status)};;;0"
    yield f"causes={len(cause_entries(report))};;;0"
    paths = [] if isinstance(report.cluster.paths, Unknown) else report.cluster.paths
    sent = [(series.received, series.sent - series.refused_locally) for path in paths for series in path.series]
    if shares := [100 * (1 - min(received / of, 1)) for received, of in sent if of > 0]:
        yield f"pings_lost={max(shares):.3g}%;;;0;100"
    activity = report.cluster.activity
    if isinstance(activity, Activity):
        rates = [
            gone / own.seconds
            for own in activity.instances
            if isinstance(own, InstanceActivity) and own.seconds > 0 and (gone := lost(own.statistics)) is not None
        ]
        if rates:
            yield f"blocks_lost_per_s={sum(rates):.3g};;;0"
    yield f"duration={report.duration_s:.1f}s;;;0"
