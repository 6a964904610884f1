"""The words of a fleet, for text and page: how a cluster is, since when, and what a reader must know about its files.

The texts are not sanitized.
"""

from __future__ import annotations

from collections.abc import Iterator

from checks.fleet.cluster_history import ClusterHistory, Since
from checks.fleet.fleet_overview import Fleet
from checks.model.finding import Status
from checks.model.shell_command import shell
from checks.model.wording import counted, few, lasting
from checks.report.age import time_text

_SKEW_S = 60.0
_NAMED = 3
_VERBS = {
    Status.FAIL: ("fails", "fail"),
    Status.UNKNOWN: ("is not known", "are not known"),
    Status.WARN: ("has warnings", "have warnings"),
}


def title(fleet: Fleet) -> str:
    """Return `500 files of 24 clusters, of 2026-11-01 to 2026-11-29`."""
    days = sorted(line.moment[:10] for cluster in fleet.clusters for line in (cluster.history[0], cluster.history[-1]))
    span = "" if not days else f", of {days[0]}" if days[0] == days[-1] else f", of {days[0]} to {days[-1]}"
    return f"{counted(fleet.read.files, 'file')} of {counted(len(fleet.clusters), 'cluster')}{span}"


def headline(fleet: Fleet) -> str:
    """Return `3 of 40 clusters fail, 2 are not known, 1 has warnings.`"""
    if not fleet.clusters:
        return "No cluster is known."
    of = len(fleet.clusters)
    said: list[str] = []
    for status, (one, several) in _VERBS.items():
        if number := fleet.count(status):
            of_all = "" if said else f" of {counted(of, 'cluster')}"
            said.append(f"{number:,}{of_all} {one if number == 1 else several}")
    if said:
        return f"{', '.join(said)}."
    return "The one cluster passes." if of == 1 else f"All {of:,} clusters pass."


def age(cluster: ClusterHistory) -> str:
    """Return the age of the newest file: `2 h 5 min`, `new`, `future`."""
    if cluster.age_s < -_SKEW_S:
        return "future"
    return "new" if cluster.age_s < _SKEW_S else lasting(cluster.age_s)


def cause(headline: str, causes: str) -> str:
    """Return a headline with the codes of its causes."""
    return f"{headline} ({causes})" if causes else headline


def since(known: Since) -> str:
    """Return since when it holds: `2026-11-20 14:02:31 +01:00`, and what is not known about it."""
    doubts = [", or before: it is the oldest file that was read"] if known.is_oldest else []
    if known.not_known:
        doubts.append(f"; {counted(known.not_known, 'file')} since then could not tell")
    return time_text(known.moment) + "".join(doubts)


def stands(cluster: ClusterHistory) -> str:
    """Return as of when the newest file is, and since when it holds."""
    return f"As of {time_text(cluster.moment)}, since {since(cluster.since)}."


def commands_of(cluster: ClusterHistory) -> tuple[str, ...]:
    """Return the commands that open the newest file, and compare it with the one before."""
    opened = shell("racwire open {file}", file=cluster.path)
    if len(cluster.history) < 2:
        return (opened,)
    before = cluster.history[1].path
    return opened, shell("racwire diff {before} {after}", before=before, after=cluster.path)


def remarks(cluster: ClusterHistory, fleet: Fleet) -> Iterator[str]:
    """Yield what a reader must know about a cluster, the most urgent first."""
    if cluster.is_old:
        was = f" It was {cluster.was} then." if cluster.was else ""
        yield f"No file for {lasting(cluster.age_s)}: how it is now is not known.{was}"
    for lost in cluster.lost[:_NAMED]:
        yield (
            f"Not known any more: {lost.title.rstrip('.')} ({lost.code}, {lost.status} as of "
            f"{time_text(lost.moment)}); no later file has examined that place."
        )
    if more := max(0, len(cluster.lost) - _NAMED):
        yield f"Nor is it known of {counted(more, 'other problem')} of earlier files."
    if cluster.not_known:
        verb = "is" if cluster.not_known == 1 else "are"
        yield f"{counted(cluster.not_known, 'result')} of its newest file {verb} not known any longer."
    if cluster.unread:
        yield f"{few(cluster.unread)} could not be read."
    if cluster.interrupted:
        yield "The run of its newest file was interrupted: the file has what was found up to then."
    yield from _doubts(cluster, fleet)


def _doubts(cluster: ClusterHistory, fleet: Fleet) -> Iterator[str]:
    if cluster.age_s < -_SKEW_S:
        yield f"Its newest file is {lasting(-cluster.age_s)} in the future by this clock: one of the clocks is wrong."
    if not cluster.has_zone:
        yield "Its newest file names no zone: its times count as UTC."
    if cluster.names_before:
        yield f"Its name was {few(cluster.names_before)} before; the NICs are the same."
    if fleet.same_name(cluster) > 1:
        yield f"Other clusters have this name, too; this one has {few(cluster.nodes)}, and other NICs."
    if cluster.is_redacted:
        yield "Its names are pseudonyms: files of two senders can have equal ones."
    if cluster.racwire_version != fleet.racwire_version:
        anew = shell("racwire open {file}", file=cluster.path)
        yield f"Judged by racwire {cluster.racwire_version} then; `{anew}` judges again."
    if cluster.left_out:
        verb = "is" if cluster.left_out == 1 else "are"
        yield f"{counted(cluster.left_out, 'older file')} {verb} not considered."
    if not cluster.is_verified:
        yield "Its newest file is a report as JSON, which has no checksum."


def notes(fleet: Fleet) -> Iterator[str]:
    """Yield what a reader must know about the files as a whole; not the files that could not be read."""
    read = fleet.read
    for version, files in fleet.judged_by_others().items():
        were = "was" if files == 1 else "were"
        yield f"{counted(files, 'file')} {were} judged by racwire {version} then, and not again here."
    if read.copies:
        yield f"{counted(read.copies, 'file')} {'is a copy' if read.copies == 1 else 'are copies'} of another one."
    if read.recordings:
        verb = "has" if read.recordings == 1 else "have"
        yield f"{counted(read.recordings, 'recording')} {verb} no report: not in the table."
    if read.others:
        yield f"{counted(read.others, 'other file')} there {'is' if read.others == 1 else 'are'} none of racwire."
