"""The evidence of a change's gates in addition to the facts of the cluster: one more group with its gatherer.

The gatherer reads only what the gates of this verification need: a recording can be large, and most steps need none.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from checks.change.gates.backup_gates import archive_path, backup_paths
from checks.change.plan.change_plan import Plan
from checks.change.record.copies import other_copies, stored_hashes
from checks.change.session.experiment_facts import (
    OF_DATABASE,
    again_recording,
    changes_seen,
    differences,
    not_restored,
    restore_facts,
)
from checks.change.session.recording_facts import compare_recordings, see_recording
from checks.change.session.settings_facts import FoundSettings, read_settings, wants_settings
from checks.change.steps.backup_commands import asm_metadata_file
from checks.change.steps.recording_commands import stretch_s
from checks.model.facts import (
    ArchiveSeen,
    Changing,
    Cluster,
    Database,
    FileSeen,
    JournalCopy,
    Managed,
    NoRecording,
    NotGathered,
    OcrBackup,
    OpenPluggable,
    RecordingsCompared,
    SeenRecording,
    StoredHash,
    Unknown,
)
from checks.run.gathering import CHANGING, Gatherer
from checks.sources.database.pluggables import read_pluggables
from checks.sources.database.worker import Worker
from checks.sources.nodes.backup_files import read_archive, read_change_files, read_olr_backup
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import Shell, ShellError

_RECORDING_LIMIT_S = 240.0
_RESOLVE_LIMIT_S = 3.0
_COPIES_LIMIT_S = 5.0
_PDBS_LIMIT_S = 120.0
"""In addition to the limit of the database, which is awaited."""

T = TypeVar("T")


@dataclass
class _OfNodes:
    """The evidence from the nodes."""

    backups: dict[str, dict[str, FileSeen | Unknown]] = field(default_factory=dict)
    archives: dict[str, ArchiveSeen | Unknown] = field(default_factory=dict)
    registries: dict[str, OcrBackup | Unknown | None] = field(default_factory=dict)
    registry_files: dict[str, FileSeen | Unknown] = field(default_factory=dict)
    ocr_file: FileSeen | Unknown = field(default_factory=NotGathered)
    asm_metadata: FileSeen | Unknown = field(default_factory=NotGathered)
    unasked: dict[str, Unknown] = field(default_factory=dict)
    copies: dict[str, tuple[JournalCopy, ...]] = field(default_factory=dict)
    hashes: dict[str, tuple[StoredHash, ...]] = field(default_factory=dict)
    settings: FoundSettings = field(default_factory=FoundSettings)


@dataclass(frozen=True)
class _Backups:
    """The backups to read: those of a plan, and the file of the newest backup of the OCR."""

    plan: Plan
    ocr: OcrBackup | None


def gate_facts_gatherer(plan: Plan, checks: Collection[str], directory: Path) -> Gatherer:
    """Return the gatherer for these checks. `directory` holds this change's journal, on this node and on the peers."""

    wants_pdbs = "pdbs-open" in checks
    wants_points = not OF_DATABASE.isdisjoint(checks)

    async def gather(session: Session, cluster: Cluster) -> Changing:
        files = _recordings(plan, checks)
        names = _addresses(plan) if "ssh-apart" in checks else _none()
        managed = cluster.managed
        ocr = managed.ocr_backup if isinstance(managed, Managed) else None
        wanted = _Backups(plan, ocr if isinstance(ocr, OcrBackup) else None) if "backups-made" in checks else None
        nodes = _of_nodes(session, plan, wanted, checks, directory)
        pdbs = open_pluggables(session) if wants_pdbs else _not_gathered()
        points = restore_facts(session) if wants_points else not_restored()
        (before, after, compared), addresses, found, pluggables, (restore_points, area) = await asyncio.gather(
            files, names, nodes, pdbs, points
        )
        return Changing(
            before=before,
            after=after,
            compared=compared,
            addresses=addresses,
            backups={**found.backups, **found.settings.backups},
            archives=found.archives,
            registries=found.registries,
            registry_files=found.registry_files,
            ocr_file=found.ocr_file,
            asm_metadata=found.asm_metadata,
            unasked=found.unasked,
            copies=found.copies,
            hashes=found.hashes,
            sysctl_files=found.settings.files,
            udp_sockets=found.settings.sockets,
            pluggables=pluggables,
            again=await _in_thread(lambda: again_recording(plan, checks)),
            unlike=await _in_thread(lambda: differences(plan, checks)),
            restore_points=restore_points,
            recovery_area=area,
            # The journals of experiments are in a directory below that of the changes.
            changes=changes_seen(directory.parent, checks) if plan.experiment else NotGathered(),
        )

    if wants_pdbs or wants_points:
        limit_s = CHANGING.limit_s + _PDBS_LIMIT_S
        return replace(CHANGING, gather=gather, after=("managed",), awaits=("database",), limit_s=limit_s)
    return replace(CHANGING, gather=gather, after=("managed",))


async def open_pluggables(session: Session) -> tuple[OpenPluggable, ...] | Unknown:
    """Return the open PDBs of the connected database, once the run knows the database."""
    database = (await session.cluster_with("database")).database
    if not isinstance(database, Database):
        return Unknown(database.reason, database.right if isinstance(database, Unknown) else None)
    return await read_pluggables(session.databases, database)


async def _not_gathered() -> NotGathered:
    return NotGathered()


async def _none() -> dict[str, tuple[str, ...]]:
    return {}


async def _recordings(
    plan: Plan, checks: Collection[str]
) -> tuple[
    SeenRecording | NoRecording | Unknown,
    SeenRecording | NoRecording | Unknown,
    RecordingsCompared | NoRecording | Unknown,
]:
    """Read and compare the recordings one after the other: each keeps a CPU busy, and the node may be in production."""
    before, after = Path(plan.baseline_file), Path(plan.after_file)
    by_s = stretch_s(plan.record_s)
    again = Path(plan.experiment.again_file) if plan.experiment else None
    return (
        NotGathered() if _OF_BEFORE.isdisjoint(checks) else await _in_thread(lambda: see_recording(before)),
        NotGathered() if _OF_AFTER.isdisjoint(checks) else await _in_thread(lambda: see_recording(after)),
        NotGathered()
        if _OF_COMPARISON.isdisjoint(checks)
        else await _in_thread(lambda: compare_recordings(before, after, by_s, again)),
    )


_OF_BEFORE = frozenset({"baseline-recording", "run-a-recording", "run-again-recording", "mtu-changed"})
_OF_AFTER = frozenset({"after-recording", "run-b-recording"})
_OF_COMPARISON = frozenset({"comparison", "experiment-result"})


async def _in_thread(function: Callable[[], T]) -> T | Unknown:
    """Run the function in a thread of its own; a cancelled verification does not wait for it."""
    worker = Worker("recording")
    try:
        return await worker.call(function, _RECORDING_LIMIT_S)
    except TimeoutError:
        return Unknown(f"Reading the recording took longer than {_RECORDING_LIMIT_S:.0f} s and was cancelled.")
    finally:
        worker.end()


async def _addresses(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the addresses that the nodes' names resolve to on this node, by the system's resolver."""

    def resolve(name: str) -> tuple[str, ...]:
        try:
            return tuple(dict.fromkeys(str(found[4][0]) for found in socket.getaddrinfo(name, None)))
        except OSError:
            return ()

    async def one(name: str) -> tuple[str, tuple[str, ...]]:
        worker = Worker("resolver")
        try:
            return name, await worker.call(lambda: resolve(name), _RESOLVE_LIMIT_S)
        except TimeoutError:
            return name, ()
        finally:
            worker.end()

    found = await asyncio.gather(*map(one, plan.nodes))
    return {name: addresses for name, addresses in found if addresses}


async def _of_nodes(
    session: Session, plan: Plan, backups: _Backups | None, checks: Collection[str], directory: Path
) -> _OfNodes:
    found = _OfNodes()
    of_all = backups is not None or wants_settings(checks)
    queried = plan.nodes if of_all else [node for node in plan.nodes if node != session.local_node]
    done = 0

    async def ask(node: str) -> None:
        nonlocal done
        try:
            shell = await session.shell(node)
            if backups:
                await _read_backups(session, backups, shell, found)
            if wants_settings(checks):
                await read_settings(session, shell, checks, plan.id, found.settings)
            if node != session.local_node:
                found.copies[node] = await other_copies(
                    shell, session.journal, directory, plan.cluster, _COPIES_LIMIT_S
                )
                found.hashes[node] = await stored_hashes(shell, session.journal, directory, plan, _COPIES_LIMIT_S)
        except ShellError as error:
            found.unasked[node] = Unknown(str(error))
        finally:
            done += 1
            session.progress(CHANGING.group, f"read files of the change on {node}", done, len(queried))

    await asyncio.gather(*map(ask, queried))
    return found


async def _read_backups(session: Session, wanted: _Backups, shell: Shell, found: _OfNodes) -> None:
    limit_s = session.settings.ssh.read_timeout_s
    plan, node = wanted.plan, shell.node
    found.backups[node] = await read_change_files(shell, session.journal, backup_paths(plan.id, plan.kind), limit_s)
    archive = await read_archive(shell, session.journal, archive_path(plan.id), limit_s)
    if archive is not None:
        found.archives[node] = archive
    own = found.registries[node] = await read_olr_backup(shell, session.journal, limit_s)
    more = {
        "olr": own.file if isinstance(own, OcrBackup) else "",
        "ocr": wanted.ocr.file if wanted.ocr and wanted.ocr.node == node else "",
        "asm": asm_metadata_file(plan.id),
    }
    # A name such as +DATA:/... is a file in ASM, which no shell reads.
    files = [path for path in more.values() if path.startswith("/")]
    seen = await read_change_files(shell, session.journal, files, limit_s)
    if more["olr"] in seen:
        found.registry_files[node] = seen[more["olr"]]
    found.ocr_file = seen.get(more["ocr"], found.ocr_file)
    if not isinstance(found.asm_metadata, FileSeen):
        found.asm_metadata = seen[more["asm"]]
