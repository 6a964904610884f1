"""Which kept results belong to the cluster of a report, and the words for one that does not, or not to a recording."""

from __future__ import annotations

from checks.model.facts import Cluster
from checks.model.measurement import Measurement
from checks.model.measurement_command import command_again
from checks.model.wording import listed
from checks.report.age import time_text
from checks.rules.measured_moment import Difference, Misfit, misfit, moment_of


def not_shown(measurement: Measurement, cluster: Cluster) -> str:
    """Return why a report has no figures of a result, and how to measure again, on one line; empty where it belongs."""
    if (found := misfit(measurement, moment_of(cluster))) is None:
        return ""
    when = time_text(measurement.started_at)
    return (
        f"{measurement.kind}, {when}, is left out: {difference_text(found, 'now')}. `{command_again(measurement)}` on "
        f"{measurement.node} measures again."
    )


def short_difference(found: Misfit) -> str:
    """Return what was different at the measurement, in a few words: `at MTU 1500`."""
    if found.what is Difference.MTU:
        return f"at MTU {found.measured}"
    return f"at {found.measured:,} Mbit/s" if found.what is Difference.SPEED else "between other addresses"


def difference_text(found: Misfit, now: str) -> str:
    """Return a difference as a clause: `rac1 to rac2 on 192.168.10.0/24 had MTU 1500, and has 9000 now`. `now` names
    the moment: `now`, `in r9000.rec`."""
    if found.what is Difference.NO_TIME:
        return "its time is not known"
    if found.what is Difference.LATER or found.path is None:
        return "it is of a later time" if found.what is Difference.LATER else "it ended more than an hour before"
    if found.what is Difference.ADDRESS:
        return f"{found.node} had {found.address}, and not {now}"
    path = f"{found.path.source_node} to {found.path.target_node} on {found.path.network}"
    values = listed(f"{value:,}" if found.what is Difference.SPEED else f"{value}" for value in found.values)
    if found.what is Difference.SPEED:
        return f"{path} had {found.measured:,} Mbit/s, and {values} {now}"
    return f"{path} had MTU {found.measured}, and {values} {now}"
