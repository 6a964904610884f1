"""Several databases of one cluster, each with a recording of the same time: their instances in one comparison.

racwire connects to one database. What runs through the same interconnect at the same time has a recording of its own,
in which the counters of nodes and paths are those of the first recording once more.
"""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.facts import Database, NotAsked, Unknown
from checks.model.wording import continued
from checks.traffic.compare.environment import of_database
from checks.traffic.compare.readings import COVERED, USERS, Readings, Recorded, read, time_of
from checks.traffic.compare.run import ImportProblem
from checks.traffic.source_id import SourceKind

_KINDS = ("instance", USERS, "pings")
_OF_NODES = (SourceKind.NODE, SourceKind.LATENCY, SourceKind.RACWIRE)


def add_databases(readings: Readings, first: tuple[str, Recorded], others: Sequence[tuple[str, Recorded]]) -> None:
    """Add the instances of other recordings to the readings of the first one. Raises ImportProblem where a recording
    has no database, the same one, or another time; RecordingError where a file is damaged."""
    begin, end = readings.times
    readings.databases = {_database(*first): readings.subjects("instance")}
    for name, recording in others:
        database, (own_begin, own_s) = _database(name, recording), time_of(recording)
        if min(end, own_begin + own_s) - max(begin, own_begin) < COVERED * (end - begin):
            raise ImportProblem(f"{name} is not of the same time as {first[0]}: record both databases at once.")
        own = read(recording, readings.piece_s, times=(begin, end - begin))
        instances = own.subjects("instance")
        known = [one for each in readings.databases.values() for one in each]
        if database in readings.databases or set(known) & set(instances):
            raise ImportProblem(f"{name} and {first[0]} are of the same database, {database}: name one of each.")
        readings.databases[database] = instances
        readings.hosts |= own.hosts
        readings.disturbances += [one for one in own.disturbances if one.of_instance]
        for piece, added in zip(readings.pieces, own.pieces, strict=True):
            piece |= {subject: sums for subject, sums in added.items() if subject[0] in _KINDS}
        for length, covered in own.lengths.get("instance", {}).items():
            lengths = readings.lengths.setdefault("instance", {})
            lengths[length] = lengths.get(length, 0.0) + covered
        for source, reasons in own.gaps.items():
            if source.kind not in _OF_NODES:
                readings.gaps.setdefault(source, []).extend(reasons)


def of_other_database(recording: Recorded) -> dict[str, str]:
    """Return the facts about the database of a recording that should be equal in two runs, by name."""
    database = recording.header.cluster.database
    if not isinstance(database, Database):
        return {}
    return {f"{database.name} {name}": value for name, value in of_database(database).items()}


def _database(name: str, recording: Recorded) -> str:
    """Return the name of the database of a recording. Raises ImportProblem where it has none."""
    database = recording.header.cluster.database
    if not isinstance(database, Database):
        why = continued(database.reason) if isinstance(database, Unknown | NotAsked) else "record it with --connect."
        raise ImportProblem(f"{name} has no database: {why}")
    return database.name
