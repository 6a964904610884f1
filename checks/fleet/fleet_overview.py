"""Many clusters, the worst first, and their JSON (`racwire-fleet/1`). Pure functions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

import msgspec

from checks.fleet.cluster_history import DAYS, ClusterHistory, SavedFile, history_of
from checks.fleet.file_summary import unpacked
from checks.fleet.same_cluster import FileIdentity, clusters_of
from checks.model.exit_codes import ExitCode
from checks.model.finding import Status
from checks.model.report import exit_code_for
from checks.model.sanitize import json_escaped

SCHEMA = "racwire-fleet/1"
MOST_OF_CLUSTER = 1000
"""Most files in the history of a cluster, the newest ones: of one each hour, those of six weeks."""


class PackedFile(NamedTuple):
    """A file that was read. Its summary is unpacked with those of its cluster: all at once would take much memory."""

    path: str
    at: float
    """The moment that it describes, in seconds since 1970."""
    digest: str
    """Of its report; copies have the same."""
    identity: FileIdentity
    body: bytes


class UnreadFile(msgspec.Struct, frozen=True):
    """A file that could not be read."""

    path: str
    reason: str
    """A sentence with the path in it."""


class FilesRead(msgspec.Struct, frozen=True, kw_only=True):
    """What was found where the operator pointed."""

    named: tuple[str, ...]
    """The files and directories that the operator named."""
    files: int = 0
    """The saved files and reports that were read, copies included."""
    from_index: int = 0
    """The number of these that the index knew: they were not read again."""
    copies: int = 0
    """The files with the same report as another one."""
    recordings: int = 0
    """The recordings without a report."""
    others: int = 0
    """What is no file of racwire: other files, pipes, devices, links to nothing."""
    unread: tuple[UnreadFile, ...] = ()


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """All clusters of the files, as of a moment."""

    schema: str = SCHEMA
    racwire_version: str
    at: str
    """The moment from which ages count, in ISO 8601."""
    old_s: float | None
    """The age from which the newest file of a cluster says nothing of the present; None for no such age."""
    read: FilesRead
    clusters: tuple[ClusterHistory, ...]
    """The worst first."""

    def count(self, status: Status) -> int:
        """Return the number of clusters of that status."""
        return sum(cluster.status is status for cluster in self.clusters)

    def same_name(self, cluster: ClusterHistory) -> int:
        """Return the number of clusters with the name of this one, itself included."""
        return sum(other.name == cluster.name for other in self.clusters)

    def last_days(self) -> tuple[str, ...]:
        """Return the days until that of the newest file, the oldest first; none where no file has a day."""
        try:
            last = date.fromisoformat(max(cluster.moment[:10] for cluster in self.clusters))
            return tuple(str(last - timedelta(days=before)) for before in range(DAYS - 1, -1, -1))
        except (ValueError, OverflowError):
            return ()

    def judged_by_others(self) -> dict[str, int]:
        """Return the number of files that another version of racwire judged, by version."""
        found: Counter[str] = Counter()
        for cluster in self.clusters:
            found.update(cluster.versions)
        return {version: found[version] for version in sorted(found) if version != self.racwire_version}


def fleet_of(
    files: Sequence[PackedFile],
    *,
    read: FilesRead,
    now: datetime,
    old_s: float | None,
    racwire_version: str,
) -> Fleet:
    """Return the clusters of these files. `now` is a time with a zone. Raises ValueError where a file is not packed."""
    clusters: list[ClusterHistory] = []
    copies = 0
    for numbers in clusters_of([file.identity for file in files]):
        alone = {files[number].digest: number for number in reversed(numbers)}
        ordered = sorted(alone.values(), key=lambda number: files[number].at)
        newest = [SavedFile(files[n].path, unpacked(files[n].body)) for n in ordered[-MOST_OF_CLUSTER:]]
        copies += len(numbers) - len(alone)
        clusters.append(history_of(newest, now.timestamp(), old_s, len(ordered) - len(newest)))
    return Fleet(
        racwire_version=racwire_version,
        at=now.isoformat(timespec="seconds"),
        old_s=old_s,
        read=msgspec.structs.replace(read, copies=copies),
        clusters=tuple(sorted(clusters, key=lambda one: (*one.gravity, -len(one.problems), one.name, one.path))),
    )


def exit_code(fleet: Fleet) -> ExitCode:
    """Return the exit code of the worst: of the newest file of each cluster, and UNKNOWN for what is not known any more
    and for files that could not be read."""
    statuses: set[Status | None] = {cluster.status for cluster in fleet.clusters}
    statuses |= {cluster.history[0].status for cluster in fleet.clusters}
    if fleet.read.unread or not fleet.clusters:
        statuses.add(Status.UNKNOWN)
    return exit_code_for(statuses)


def clusters_by_day(clusters: Iterable[ClusterHistory]) -> Iterator[tuple[str, dict[Status, int]]]:
    """Yield for each day, the oldest first, the number of clusters by the worst status in their files of that day."""
    days: dict[str, Counter[Status]] = defaultdict(Counter)
    for cluster in clusters:
        for day in cluster.days:
            days[day.day][day.status] += 1
    yield from ((day, dict(days[day])) for day in sorted(days))


def to_json(fleet: Fleet) -> bytes:
    """Return the fleet as indented JSON with a final newline. Terminal control characters are escaped."""
    encoded = msgspec.json.format(msgspec.json.encode(fleet), indent=2)
    return json_escaped(encoded.decode()).encode() + b"\n"
