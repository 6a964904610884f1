"""What a saved file says, in a few kilobytes: what is kept of a file of a fleet, in memory and in the index."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from checks.model.finding import FAULTS, PROBLEMS, Finding, Status
from checks.model.report import Report, statuses_now
from checks.model.wording import few
from checks.report.age import zone_of
from checks.report.causes import ReportEntry, cause_entries, further_entries
from checks.report.diff import examined, held
from checks.report.summary import cluster_name, counts, headline, headline_stands
from checks.saved.stored_report import StoredReport

_LONGEST = 400
"""Most characters of a sentence."""
_MOST_PROBLEMS, _MOST_FINDINGS = 20, 300
"""Most entries and findings of a file that are kept; a file with more counts them all."""
_NICS = 4
"""Most interfaces of a node by which a cluster is recognised: the same ones in each of its files."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cause at its place, or a problem without a known cause."""

    headline: str
    status: Status
    causes: str = ""
    """`CAUSE-12`, `CAUSE-02 or CAUSE-73`; empty where no cause is known."""
    standing: str = ""
    """`CAUSE-12 Jumbo frames misconfigured on a switch: supported`."""
    is_known: bool = True
    """Whether it was so at the moment of the file, and not only before."""
    shown_by: Finding
    """The strongest finding that shows it, without its evidence."""


class FileSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a saved file says. Its texts are not sanitized."""

    at: float
    """The moment that the file describes, in seconds since 1970."""
    moment: str
    """The same in ISO 8601, with the zone of its node."""
    has_zone: bool = True
    """Whether the file says its zone; without one, its times count as UTC."""
    cluster: str = ""
    nodes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """The nodes of these that could not be read."""
    nics: dict[str, tuple[str, ...]] = {}
    """Of each node that was read, some MAC addresses, as hashes."""
    racwire_version: str = ""
    is_redacted: bool = False
    interrupted: bool = False
    is_verified: bool = True
    digest: str = ""
    status: Status
    headline: str
    stands: str = ""
    """`since 20:17:58, as of 20:18:04`, by the clock of the cluster."""
    counts: dict[str, int] = {}
    """The findings of each status, without the waived ones."""
    not_known: int = 0
    waived: int = 0
    problems: tuple[Problem, ...] = ()
    """As in its report: the causes, then the problems without one."""
    more_problems: int = 0
    findings: tuple[Finding, ...] = ()
    """The problems and what was skipped, without their evidence."""
    ran: tuple[str, ...] = ()
    """The checks that ran."""

    @property
    def name(self) -> str:
        """The cluster, or its nodes where it has no name."""
        return self.cluster or few(self.nodes)


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(FileSummary)


def packed(summary: FileSummary) -> bytes:
    """Return a summary in a fifth of its size."""
    return zlib.compress(_ENCODER.encode(summary), 1)


def unpacked(data: bytes) -> FileSummary:
    """Return a packed summary. Raises ValueError where it is none."""
    try:
        return _DECODER.decode(zlib.decompress(data))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from None


def summary_of(stored: StoredReport) -> FileSummary:
    """Return what a saved file says. Raises ValueError where it has no time."""
    report = stored.report
    cluster = report.cluster
    at, moment, has_zone = _moment(report)
    causes = cause_entries(report)
    entries = (*causes, *further_entries(report, causes))
    every = [f for f in held(report) if f.status in PROBLEMS or f.status is Status.SKIPPED]
    return FileSummary(
        at=at,
        moment=moment,
        has_zone=has_zone,
        cluster=cluster_name(report),
        nodes=tuple(node.name for node in cluster.all_nodes()) or (cluster.local_node,),
        unread=tuple(node.name for node in cluster.unread_nodes()),
        nics=_hashed(stored.nics),
        racwire_version=report.racwire_version,
        is_redacted=report.is_redacted,
        interrupted=report.interrupted,
        is_verified=stored.is_verified,
        digest=stored.digest[:16],
        status=_status(report),
        headline=headline(report)[:_LONGEST],
        stands=headline_stands(report)[:_LONGEST],
        counts={status.value: count for status, count in counts(report)},
        not_known=len(report.not_known),
        waived=len(report.waived),
        problems=tuple(_problem(entry) for entry in entries[:_MOST_PROBLEMS]),
        more_problems=max(0, len(entries) - _MOST_PROBLEMS),
        findings=tuple(map(_bare, every[:_MOST_FINDINGS])),
        ran=tuple(sorted({f.check for f in examined(report) if f.status is not Status.SKIPPED})),
    )


def _moment(report: Report) -> tuple[float, str, bool]:
    """The moment of a report, in seconds and in ISO 8601, and whether its zone is known. Raises ValueError."""
    zone = zone_of(report.started_at)
    if report.situation is not None:
        moment = datetime.fromtimestamp(report.situation.at, zone or UTC)
    else:
        moment = datetime.fromisoformat(report.started_at)
        moment = moment if zone else moment.replace(tzinfo=UTC)
    return moment.timestamp(), moment.isoformat(timespec="seconds"), zone is not None


def _status(report: Report) -> Status:
    """The worst that is so at the moment; UNKNOWN where the run was interrupted before it found worse, or examined
    nothing."""
    now = {status for status in statuses_now(report) if status in PROBLEMS}
    if report.interrupted or all(f.status is Status.SKIPPED for f in report.findings):
        now.add(Status.UNKNOWN)
    return min(now, key=lambda status: status.gravity, default=Status.PASS)


def _problem(entry: ReportEntry) -> Problem:
    return Problem(
        headline=entry.headline[:_LONGEST],
        status=entry.status,
        causes=entry.cause_codes,
        standing=entry.standing[:_LONGEST],
        is_known=entry.holds,
        shown_by=_bare(entry.findings[0]),
    )


def _bare(finding: Finding) -> Finding:
    """The finding without what explains it."""
    return Finding(
        code=finding.code,
        check=finding.check,
        status=finding.status,
        title=finding.title[:_LONGEST] if finding.status in FAULTS else "",
        network=finding.network,
        nodes=finding.nodes,
        extent=finding.extent,
        covers=finding.covers,
        waived=finding.waived,
    )


def _hashed(nics: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for node, address in sorted(nics):
        own = found.setdefault(node, ())
        if len(own) < _NICS:
            found[node] = (*own, hashlib.blake2b(address.encode(errors="replace"), digest_size=6).hexdigest())
    return found
