"""The results of `racwire measure` and `racwire drill` as files: those that each run keeps, and any other by its path.

A kept result is `measurements/CLUSTER/KIND-TIME.json` in the state directory, whole or not there at all. The newest
`MOST_KEPT` of each kind and cluster stay; `store_result` deletes older ones. The file of another person or of another
version is not trusted: it is a result that this racwire can read, or one sentence why not.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from checks.model.facts import Cluster, Clusterware, RecentLoad, UnreadNode
from checks.model.measurement import FORMAT, Measurement
from checks.model.sanitize import as_utf8, has_a_number_without_end, sanitize
from checks.model.shell_command import shell
from checks.model.sound_measurement import is_sound
from checks.rules.measured_moment import BEFORE_S, Moment, chosen, misfit, moment_of
from checks.run.directories import state_directory
from checks.whole_files import OutputError, OutputFile, write_whole

KINDS = ("sizes", "rate", "mix", "hashes", "storage", "drill")
MOST_BYTES = 50_000_000
"""Most bytes of a file: a larger one is not read."""
_MOST_READ = 10
"""Results of one kind that are read to find one that belongs to the cluster as it is now."""
MOST_KEPT = 100
"""Results of one kind and cluster that stay; a result has some 0.1 MB."""
_LONGEST = timedelta(minutes=20)
"""A measurement takes up to 15 minutes; the name of its file has the time of its start."""
_RECENT = timedelta(minutes=5)
"""The time after its end in which a measurement is a fact about a run; the rules judge by ipfrag_time, mostly 30 s."""
_ENDING = ".json"
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_NAME = re.compile(r"[a-z]+-[0-9]{8}-[0-9]{6}(-[0-9]{1,2})?\.json")
"""The name of a kept result; another file in the directory is a person's own and stays."""
_MOST_ALIKE = 100
"""Results of one kind that started in the same second."""


class MeasurementFileError(Exception):
    """A result could not be read or listed. The message is one sentence with the file and the reason."""


@dataclass(frozen=True, slots=True)
class StoredResult:
    """What became of a result."""

    path: Path | None
    """The file; None where it was not kept."""
    sentence: str
    """Where it is, or why it was not kept."""


@dataclass(frozen=True, slots=True)
class StoredMeasurement:
    """A file of the directory of results."""

    path: Path
    measurement: Measurement | None
    """None where it could not be read."""
    problem: str = ""
    """Why it could not be read, as a sentence."""

    def age_s(self, now: datetime) -> float | None:
        """Return the seconds from its start until `now`, a time with a zone; None where they are not known."""
        return None if self.measurement is None else age_of(self.measurement, now)


class _Outline(msgspec.Struct, frozen=True):
    fact: str = ""
    format: int | None = None
    result: msgspec.Raw = msgspec.Raw(b"{}")


class _Kind(msgspec.Struct, frozen=True):
    fact: str = ""


def to_json(measurement: Measurement) -> bytes:
    """Return a result as indented JSON in UTF-8, with a final newline."""
    return msgspec.json.format(msgspec.json.encode(measurement), indent=2) + b"\n"


def measurement_in(data: bytes, name: object) -> Measurement:
    """Return the result in the bytes of the file `name`. Raises MeasurementFileError."""
    not_one = MeasurementFileError(f"{name} is no result of `racwire measure` or `racwire drill`.")
    try:
        outline = msgspec.json.decode(data, type=_Outline)
        if outline.fact != Measurement.__name__:
            raise not_one
        if outline.format is None or outline.format > FORMAT:
            raise MeasurementFileError(
                f"{name} has the format {_shown(outline.format)} of a result, and this racwire reads {FORMAT}: use the "
                "racwire that wrote it."
            )
        kind = msgspec.json.decode(outline.result, type=_Kind).fact
        if kind not in KINDS:
            raise MeasurementFileError(
                f"{name} is the result of a measurement of the kind {sanitize(kind)[:40]!r}, which this racwire does "
                "not know."
            )
        if has_a_number_without_end(data):
            raise MeasurementFileError(f"{name} could not be read: a number in it is larger than anything measured.")
        found = msgspec.json.decode(data, type=Measurement)
    except msgspec.ValidationError as error:
        raise MeasurementFileError(
            f"{name} is no result that this racwire can read: {sanitize(str(error))[:200].rstrip('.')}."
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise MeasurementFileError(f"{name} is damaged: its JSON is not whole.") from None
    except RecursionError:
        raise MeasurementFileError(f"{name} is nested too deeply to be a result.") from None
    if not is_sound(found):
        raise MeasurementFileError(
            f"{name} is no result: it has figures of a path that it does not name, or numbers that cannot be measured."
        )
    return found


def read_measurement(path: Path) -> Measurement:
    """Read a result. Blocking. Raises MeasurementFileError."""
    try:
        if not path.is_file():
            raise MeasurementFileError(
                f"{path} is no file: name a result of `racwire measure`."
                if path.exists()
                else f"{path} does not exist; `racwire measure list` names the results that are kept."
            )
        if path.stat().st_size > MOST_BYTES:
            raise MeasurementFileError(f"{path} has more than the {MOST_BYTES / 1e6:.0f} MB that a result can have.")
        data = as_utf8(path.read_bytes())
    except OSError as error:
        raise MeasurementFileError(f"{path} could not be read: {error.strerror}.") from None
    return measurement_in(data, path)


def keep(measurement: Measurement) -> Path:
    """Write a result to the state directory, and return its path. Raises OutputError, and has then left no file."""
    directory = _directory(measurement.cluster)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{directory} could not be made: {error.strerror}.") from None
    stem = f"{measurement.kind}-{_moment(measurement):%Y%m%d-%H%M%S}"
    names = (stem, *(f"{stem}-{number}" for number in range(2, _MOST_ALIKE)))
    path = next((one for name in names if not (one := directory / f"{name}{_ENDING}").exists()), None)
    if path is None:
        raise OutputError(f"{directory} has {_MOST_ALIKE} results of this kind and second: the result was not kept.")
    write_whole(OutputFile(path), to_json(measurement))
    return path


def store_result(measurement: Measurement) -> StoredResult:
    """Keep a result, delete the oldest of its kind over `MOST_KEPT`, and say where it is or why it was not kept.

    Blocking. It raises nothing, since the caller still has the result.
    """
    try:
        path = keep(measurement)
    except OutputError as error:
        return StoredResult(None, f"The result was not kept: {error}")
    _prune(path.parent, measurement.kind)
    return StoredResult(path, f"The result is in {path}.")


def _prune(directory: Path, kind: str) -> None:
    """Delete the oldest results of a kind. One that cannot be deleted stays: nothing depends on it."""
    with suppress(OSError):
        own = sorted((one for one in directory.iterdir() if _NAME.fullmatch(one.name)), key=_by_name)
        for old in [one for one in own if one.name.startswith(f"{kind}-")][:-MOST_KEPT]:
            old.unlink()


def result_path(name: str) -> Path:
    """Return the file that a person means: a file, the name of a kept result, or a kind, whose newest result it is.

    Blocking. Raises MeasurementFileError where there is none, or where the directory cannot be read.
    """
    path = Path(name)
    try:
        is_there = path.exists() and not path.is_dir()
    except (OSError, ValueError):
        is_there = False
    if is_there:
        return path
    own = [p for p in _files(None) if p.stem == name or (name in KINDS and p.name.startswith(f"{name}-"))]
    if own:
        return max(own, key=_by_name)
    if name in KINDS:
        raise MeasurementFileError(
            f"No result of the kind {name} is kept: `{shell('racwire measure {name}', name=name)}` shows its plan."
        )
    raise MeasurementFileError(f"{name} is neither a file nor a kept result: `racwire measure list` names those.")


def stored_measurements(cluster: str | None = None) -> tuple[StoredMeasurement, ...]:
    """Return the kept results of a cluster, or of all, the newest first, with the files that cannot be read.

    Blocking. Raises MeasurementFileError where the directory cannot be read.
    """
    found = [_read(path) for path in _files(cluster)]
    return tuple(sorted(found, key=_started, reverse=True))


def newest_measurements(
    cluster: str, belongs: Callable[[Measurement], bool] = lambda _: True
) -> tuple[Measurement, ...]:
    """Return the newest kept result of each kind that can be read, in the order of `KINDS`, and where it does not
    belong, the next one that does, among the newest `_MOST_READ`. Blocking.

    A directory that cannot be read has none.
    """
    try:
        paths = _files(cluster)
    except MeasurementFileError:
        return ()
    found: list[Measurement] = []
    for kind in KINDS:
        # A name has its time, so that older files are read only where the newest is damaged or does not belong.
        own = sorted((p for p in paths if p.name.startswith(f"{kind}-")), key=_by_name, reverse=True)
        read = (one for path in own[:_MOST_READ] if (one := _read(path).measurement) is not None)
        newest: Measurement | None = None
        for one in (one for one in read if one.cluster == cluster and one.kind == kind):
            fits = belongs(one)
            found += [one] if fits or newest is None else []
            newest = newest or one
            if fits:
                break
    return tuple(found)


class ResultsMeanwhile:
    """The results of a cluster for a recording: the newest of each kind that belongs to its start, and those that end
    later (`checks.rules.measured_moment`).

    A thread of its own reads the directory: where its file system hangs, there are no results, and the recording
    goes on.
    """

    _MOST = 20

    def __init__(self, since: datetime) -> None:
        """`since` is the start of the recording, a time with a zone."""
        self._since = since
        self._at_start: Cluster | None = None
        self._seen: tuple[str, int, Moment] | None = None
        self._found: tuple[Measurement, ...] | None = None
        self._reading: threading.Thread | None = None

    def look(self, cluster: Cluster, within_s: float = 0.0) -> tuple[Measurement, ...] | None:
        """Return the results, where they have changed and were read; else start to read, and return None. None too
        while the name of the cluster is not known.

        The facts of the start are the first ones with all nodes; a later MTU belongs to a later moment. It waits at
        most `within_s` seconds.
        """
        if self._at_start is None or not _is_whole(self._at_start):
            self._at_start = cluster
        if not (name := _name_of(cluster)):
            return None
        if self._reading is None or not self._reading.is_alive():
            moment = moment_of(self._at_start, times=(self._since.timestamp(), math.inf))
            self._reading = threading.Thread(
                target=self._read, args=(name, moment), name="racwire-results", daemon=True
            )
            self._reading.start()
        self._reading.join(within_s)
        found, self._found = self._found, None
        return found

    def _read(self, cluster: str, start: Moment) -> None:
        with suppress(OSError, MeasurementFileError):
            seen = cluster, _directory(cluster).stat().st_mtime_ns, start
            if self._seen == seen:
                return
            results = [one for path in self._recent(cluster) if (one := _read(path).measurement)]
            own = [(one, one.times) for one in results if one.cluster == cluster]
            later = [one for one, times in own if times and times[1] > self._since.timestamp()]
            before = [one for one, _ in own if one not in later and misfit(one, start) is None]
            self._seen = seen
            self._found = (*chosen(before, start), *later)

    def _recent(self, cluster: str) -> list[Path]:
        """Return the newest files whose names have times from shortly before the start on."""
        earliest = self._since - timedelta(seconds=BEFORE_S) - _LONGEST
        since = f"{earliest.astimezone(UTC):%Y%m%d-%H%M%S}"
        own = sorted((p for p in _files(cluster) if "-".join(p.stem.split("-")[1:3]) >= since), key=_by_time)
        return own[-self._MOST :]


def _is_whole(cluster: Cluster) -> bool:
    """Return whether the nodes of a cluster are known, and none is still being read."""
    nodes = cluster.nodes
    return isinstance(nodes, tuple) and not any(isinstance(node, UnreadNode) and node.is_pending for node in nodes)


def _name_of(cluster: Cluster) -> str:
    name = cluster.clusterware.cluster_name if isinstance(cluster.clusterware, Clusterware) else ""
    return name if isinstance(name, str) else ""


def recent_load(measurements: Iterable[Measurement], since: str) -> tuple[RecentLoad, ...]:
    """Return what of these sent on the networks until shortly before a time, or later: ISO 8601 with a zone."""
    try:
        start = datetime.fromisoformat(since)
    except ValueError:  # of a file that racwire did not write
        return ()
    found = ((one, ended_at(one)) for one in measurements if one.kind != "storage")
    return tuple(
        RecentLoad(
            one.kind,
            one.node,
            tuple({n: None for p in one.paths for n in (p.source_node, p.target_node)}),
            end.isoformat(timespec="seconds"),
        )
        for one, end in found
        if end is not None and end + _RECENT > start
    )


def ended_at(measurement: Measurement) -> datetime | None:
    """Return when a measurement ended, with the zone of its node; None for a text that is no time with a zone."""
    try:
        end = datetime.fromisoformat(measurement.started_at) + timedelta(seconds=max(0.0, measurement.seconds))
    except (ValueError, OverflowError):
        return None
    return end if end.tzinfo else None


def age_of(measurement: Measurement, now: datetime) -> float | None:
    """Return the seconds from the start of a measurement until `now`, a time with a zone; None where not known."""
    try:
        return (now - datetime.fromisoformat(measurement.started_at).astimezone(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None


def _directory(cluster: str) -> Path:
    return state_directory() / "measurements" / (_UNSAFE.sub("_", cluster) or "_")


def _files(cluster: str | None) -> list[Path]:
    """Raises MeasurementFileError where the directory cannot be read."""
    above = state_directory() / "measurements"
    try:
        directories = [_directory(cluster)] if cluster is not None else sorted(above.iterdir())
        return [path for one in directories if one.is_dir() for path in sorted(one.iterdir()) if path.suffix == _ENDING]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise MeasurementFileError(f"{error.filename} could not be read: {error.strerror}.") from None


def _read(path: Path) -> StoredMeasurement:
    try:
        return StoredMeasurement(path, read_measurement(path))
    except MeasurementFileError as error:
        return StoredMeasurement(path, None, str(error))


def _by_name(path: Path) -> tuple[str, int]:
    """Return the key that sorts results of one kind by time: `sizes-20261124-050311-2` follows the one without a 2."""
    parts = path.stem.split("-")
    again = parts[3] if len(parts) > 3 else ""
    return "-".join(parts[:3]), int(again) if again.isascii() and again.isdigit() and len(again) < 9 else 0


def _by_time(path: Path) -> tuple[str, str, int]:
    name, again = _by_name(path)
    kind, _, time = name.partition("-")
    return time, kind, again


def _started(one: StoredMeasurement) -> tuple[float, str]:
    return (0.0 if one.measurement is None else _moment(one.measurement).timestamp(), one.path.name)


def _moment(measurement: Measurement) -> datetime:
    """Return the start in UTC; 1970 for a text that is no time."""
    try:
        return datetime.fromisoformat(measurement.started_at).astimezone(UTC)
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(0, UTC)


def _shown(number: int | None) -> str:
    return "of no number" if number is None else str(number)[:20]
