"""Gate: is there a backup of the network files and registries?"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import replace
from datetime import datetime, timedelta

from checks.change.gates.gate import THEN_VERIFY, GatePlace, gate
from checks.change.plan.change_plan import OF_NETWORKS, ChangeKind, Layer
from checks.change.steps.backup_commands import BACKUP_FILES, PROFILE, backup_directory, may_list_archives
from checks.model.check import Kind
from checks.model.facts import ArchiveSeen, FileSeen, NotGathered, OcrBackup, Unknown, VotingFile, part_of
from checks.model.finding import Finding, NextStep
from checks.model.wording import counted, lasting, listed

SAVED = Kind("CH-BACKUP-001", "A node's network files are saved")
NOT_SAVED = Kind(
    "CH-BACKUP-002",
    "A backup that the change requires is missing",
    "Files without a backup can only be restored from memory, in the middle of an outage.",
)
OLD = Kind("CH-BACKUP-003", "A backup is older than the plan")
REGISTRY_SAVED = Kind("CH-BACKUP-004", "The cluster's registry (OCR) has a manual backup newer than the plan")
REGISTRY_NOT_SAVED = Kind(
    "CH-BACKUP-005",
    "The cluster's registry (OCR) has no manual backup newer than the plan",
    sources=("Clusterware Administration Guide, ocrconfig -manualbackup",),
)
REGISTRY_NOT_READ = Kind("CH-BACKUP-006", "This user cannot read whether the registries were saved")
VOTING = Kind("CH-BACKUP-008", "The voting files and the ASM metadata, for the record")
ARCHIVE_UNFIT = Kind(
    "CH-BACKUP-009",
    "The archive of a node's network files cannot be restored, or lacks a file",
    "A damaged archive, or one without the files of a private interface, restores nothing when it is needed.",
)
BACKUPS_NOT_KNOWN = Kind("CH-BACKUP-007", "Whether a node's files are saved is not known")

CLOCKS_APART = timedelta(minutes=5)
"""The accepted clock difference between a node and the node where the plan was made. Chosen by racwire."""


@gate(
    "backups-made",
    question="Is there a backup of each node's network files and of the registries?",
    needs=("changing",),
    uses=("managed",),
    kinds=(
        *(SAVED, NOT_SAVED, OLD, ARCHIVE_UNFIT, BACKUPS_NOT_KNOWN),
        *(REGISTRY_SAVED, REGISTRY_NOT_SAVED, REGISTRY_NOT_READ, VOTING),
    ),
)
def backups_made(at: GatePlace) -> Iterator[Finding]:
    """Checks that the files of the step's commands exist on every node, are not empty and are newer than the plan.

    Lists the archive of the network files: it must be whole and hold the files of the private interfaces. Root alone
    may read it; another user attests it. Also runs `ocrconfig -showbackup manual` to find a backup of the registry that
    is newer than the plan. ocrconfig shows backups to root only: without root, the files are the only proof. Lists the
    voting files and the saved ASM metadata, which do not decide.
    """
    yield _registry(replace(at, topic="ocrconfig"))
    yield _voting(replace(at, topic="crsctl query css votedisk"))
    for node in at.plan.nodes:
        yield _of_node(at.on(node, "change files"))


def _of_node(at: GatePlace) -> Finding:
    files = at.asked(at.changing.backups)
    if isinstance(files, Unknown):
        return at.not_known(BACKUPS_NOT_KNOWN, f"Whether {at.node} has a backup is not known", files)
    directory = backup_directory(at.plan.id)
    if finding := _of_files(at, directory, files) or _of_archive(at.on(at.node, "change archive")):
        return finding
    sizes = "; ".join(f"{_name(p)}: {_of_file(f, at.plan.made_at)}" for p, f in files.items())
    archive = at.changing.archives.get(at.node, NotGathered())
    saved = f"{at.node} is saved in {directory} ({sizes}; {_listed(archive)})"
    own = at.changing.registries.get(at.node, Unknown("it was not queried"))
    if own is None or (isinstance(own, OcrBackup) and _is_old(own, at.plan.made_at)):
        sentence = f"{saved}, but the node's own registry (OLR) has no manual backup newer than the plan."
        return at.on(at.node, "ocrconfig -local").fails(NOT_SAVED, "OLR not saved", sentence, *_save_again(at))
    if isinstance(own, OcrBackup):
        saved += f", and the node's own registry (OLR) in {own.file}"
        if isinstance(seen := at.changing.registry_files.get(at.node), FileSeen):
            saved += f" ({_of_file(seen, at.plan.made_at)})"
    return at.holds(SAVED, "saved", f"{saved}.")


def _of_files(at: GatePlace, directory: str, files: dict[str, FileSeen | Unknown]) -> Finding | None:
    """Return the finding for files that are missing, empty or old; None where there are none."""
    made_s = (datetime.fromisoformat(at.plan.made_at) - CLOCKS_APART).timestamp()
    missing = [_name(path) for path, file in files.items() if not isinstance(file, FileSeen)]
    empty = [_name(path) for path, file in files.items() if isinstance(file, FileSeen) and file.size_bytes == 0]
    if missing or empty:
        problems = {"missing": missing, "empty": empty}
        found = listed(f"{listed(names)} {_is(names)} {how}" for how, names in problems.items() if names)
        text = f"{len(files) - len(missing) - len(empty)} of {len(files)} saved"
        return at.fails(NOT_SAVED, text, f"In {directory} on {at.node}, {found}.", *_save_again(at))
    old = [_name(path) for path, file in files.items() if isinstance(file, FileSeen) and file.mtime_s < made_s]
    if old:
        sentence = f"{listed(old)} in {directory} on {at.node} {_is(old)} older than the plan."
        return at.fails(OLD, "older than the plan", sentence, *_save_again(at))
    return None


def _of_archive(at: GatePlace) -> Finding | None:
    """Return why the archive of a node does not serve; None where it does, or where root alone can see it."""
    archive = at.changing.archives.get(at.node, NotGathered())
    if isinstance(archive, Unknown):
        is_attested = archive.right and not may_list_archives(at.plan.made_by)
        if is_attested or isinstance(archive, NotGathered):
            return None
        return at.not_known(BACKUPS_NOT_KNOWN, f"Whether the archive of {at.node} is whole is not known", archive)
    if archive.fault:
        sentence = f"The archive of {at.node} cannot be read to its end: `{archive.fault}`."
        return at.fails(ARCHIVE_UNFIT, "archive damaged", sentence, *_save_again(at))
    lacking = sorted({file for layer in at.layers if (file := _kept_file(layer))} - set(archive.names))
    if lacking:
        sentence = f"The archive of {at.node} lacks {listed(f'/{file}' for file in lacking)}."
        return at.fails(ARCHIVE_UNFIT, f"{counted(len(lacking), 'file')} not saved", sentence, *_save_again(at))
    return None


def _save_again(at: GatePlace) -> tuple[NextStep, NextStep]:
    return at.step_again(), THEN_VERIFY


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _is(names: Sized) -> str:
    return "is" if len(names) == 1 else "are"


def _kept_file(layer: Layer) -> str:
    """The file of a layer as tar prints its name; empty where none is kept, or where tar prints another spelling."""
    file = layer.file
    is_plain = file.isascii() and file.isprintable() and "\\" not in file
    return file.lstrip("/") if is_plain and not file.startswith("/run/") else ""


def _listed(archive: ArchiveSeen | Unknown) -> str:
    if isinstance(archive, Unknown):
        return "the archive was not listed" + (": root alone may read it" if archive.right else "")
    number = sum(not name.endswith("/") for name in archive.names)
    return f"the archive is whole and has {counted(number, 'file')}"


def _of_file(file: FileSeen | Unknown, made_at: str) -> str:
    """The size and the age of a file: `12,345 bytes, made 4 min after the plan`."""
    if isinstance(file, Unknown):
        return "not read"
    after_s = file.mtime_s - datetime.fromisoformat(made_at).timestamp()
    when = "before" if after_s < 0 else "after"
    return f"{counted(file.size_bytes, 'byte')}, made {lasting(abs(after_s))} {when} the plan"


def _voting(at: GatePlace) -> Finding:
    """Return the voting files and the ASM metadata, as far as they are known: they do not decide."""
    metadata = at.changing.asm_metadata
    saved = (
        f"The ASM metadata is saved ({counted(metadata.size_bytes, 'byte')})."
        if isinstance(metadata, FileSeen)
        else "The ASM metadata is not saved where this change would save it."
    )
    files = part_of(at.cluster.managed, lambda managed: managed.voting_files)
    if isinstance(files, Unknown):
        sentence = f"The voting files are not known: {at.because(files)} {saved}"
        return at.remarks(VOTING, "voting files not known", sentence)
    number = counted(len(files), "voting file")
    voting = f"{number}: {listed(map(_voting_file, files))}. Clusterware saves the voting data with the OCR."
    return at.remarks(VOTING, number, f"{voting} {saved}")


def _voting_file(file: VotingFile) -> str:
    group = f" in disk group {file.disk_group}" if file.disk_group else ""
    return f"{file.place}{group} ({file.state})"


def archive_path(plan_id: str) -> str:
    """The path of the archive of a node's network files."""
    return f"{backup_directory(plan_id)}/{BACKUP_FILES[0]}"


def backup_paths(plan_id: str, kind: ChangeKind | None = None) -> tuple[str, ...]:
    """The paths of the files that every node's backup must hold for this kind of change."""
    names = (*BACKUP_FILES, PROFILE) if kind in OF_NETWORKS else BACKUP_FILES
    return tuple(f"{backup_directory(plan_id)}/{name}" for name in names)


def _registry(at: GatePlace) -> Finding:
    backup = part_of(at.cluster.managed, lambda managed: managed.ocr_backup)
    if isinstance(backup, Unknown):
        return at.remarks(
            REGISTRY_NOT_READ,
            "OCR not known",
            f"Whether the cluster's registry (OCR) was saved is not known: {at.because(backup)}",
            NextStep("List the manual backups as root.", ("ocrconfig -showbackup manual",), "root on any node"),
        )
    if backup is None or _is_old(backup, at.plan.made_at):
        node = next(iter(at.plan.grid_homes), "")
        newest = f"; the newest backup is from {backup.taken_at.replace('T', ' ')}" if backup else ""
        return at.fails(
            REGISTRY_NOT_SAVED,
            "OCR not saved",
            f"The cluster's registry (OCR) has no manual backup newer than the plan{newest}.",
            NextStep("Save the registry.", (at.on(node).tool("ocrconfig -manualbackup"),), "root on any node"),
        )
    file = at.changing.ocr_file
    if isinstance(file, FileSeen):
        size = _of_file(file, at.plan.made_at)
    else:
        size = "its size is not read" + (": it is a file in ASM" if backup.file.startswith("+") else "")
    return at.holds(
        REGISTRY_SAVED,
        "OCR saved",
        f"The cluster's registry (OCR) was saved on {backup.node} at {backup.taken_at.replace('T', ' ')} (local time) "
        f"in {backup.file}; {size}.",
    )


def _is_old(backup: OcrBackup, made_at: str) -> bool:
    """Whether the backup is older than the plan, by local times: ocrconfig prints no time zone."""
    made = datetime.fromisoformat(made_at).replace(tzinfo=None) - CLOCKS_APART
    try:
        return datetime.fromisoformat(backup.taken_at).replace(tzinfo=None) < made
    except ValueError:
        return False
