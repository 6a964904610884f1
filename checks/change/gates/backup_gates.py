"""Gate: is there a backup of the network files and registries?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from checks.change.gates.gate import THEN_VERIFY, GateContext, gate, not_known, of_node, whole
from checks.change.plan.change_plan import OF_NETWORKS, ChangeKind, Layer
from checks.change.steps.backup_commands import BACKUP_FILES, PROFILE, backup_directory, may_list_archives
from checks.model.check import Kind
from checks.model.facts import (
    ArchiveSeen,
    Changing,
    Cluster,
    FileSeen,
    Managed,
    NotGathered,
    OcrBackup,
    Unknown,
    VotingFile,
)
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import OwnCommand
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
def backups_made(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Checks that the files of the step's commands exist on every node, are not empty and are newer than the plan.

    Lists the archive of the network files: it must be whole and hold the files of the private interfaces. Root alone
    may read it; another user attests it. Also runs `ocrconfig -showbackup manual` to find a backup of the registry that
    is newer than the plan. ocrconfig shows backups to root only: without root, the files are the only proof. Lists the
    voting files and the saved ASM metadata, which do not decide.
    """
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return
    yield _registry(context, cluster, changing)
    yield _voting(cluster, changing)
    for node in context.plan.nodes:
        if node not in changing.backups:
            why = changing.unasked.get(node, Unknown(f"{node} was not queried."))
            yield not_known(BACKUPS_NOT_KNOWN, node, f"Whether {node} has a backup is not known", why.reason)
            continue
        yield _of_files(context, node, changing)


def _of_files(context: GateContext, node: str, changing: Changing) -> Finding:
    directory = backup_directory(context.plan.id)
    files = changing.backups[node]
    made_s = (datetime.fromisoformat(context.plan.made_at) - CLOCKS_APART).timestamp()
    missing = [path.rpartition("/")[2] for path, file in files.items() if not isinstance(file, FileSeen)]
    empty = [p.rpartition("/")[2] for p, f in files.items() if isinstance(f, FileSeen) and f.size_bytes == 0]
    old = [p.rpartition("/")[2] for p, f in files.items() if isinstance(f, FileSeen) and f.mtime_s < made_s]
    again = [
        NextStep(
            f"Run the commands of this step for {node}, as root on {node}.", own=(OwnCommand("next", f"--node {node}"),)
        ),
        THEN_VERIFY,
    ]
    if missing or empty:
        text = f"{counted_of(files, [*missing, *empty])} saved"
        problems = [(missing, "missing"), (empty, "empty")]
        found = listed(
            f"{listed(names)} {'is' if len(names) == 1 else 'are'} {how}" for names, how in problems if names
        )
        return of_node(
            NOT_SAVED, Status.FAIL, node, text, f"In {directory} on {node}, {found}.", then=again, topic="change files"
        )
    if old:
        return of_node(
            OLD,
            Status.FAIL,
            node,
            "older than the plan",
            f"{listed(old)} in {directory} on {node} {'is' if len(old) == 1 else 'are'} older than the plan.",
            then=again,
            topic="change files",
        )
    archive = changing.archives.get(node, NotGathered())
    if (unfit := _unfit(context, node, archive, again)) is not None:
        return unfit
    sizes = "; ".join(f"{p.rpartition('/')[2]}: {_of_file(f, context.plan.made_at)}" for p, f in files.items())
    saved = f"{node} is saved in {directory} ({sizes}; {_listed(archive)})"
    own = changing.registries.get(node, Unknown("it was not queried"))
    if isinstance(own, OcrBackup) and not _is_old(own, context.plan.made_at):
        saved += f", and the node's own registry (OLR) in {own.file}"
        if isinstance(seen := changing.registry_files.get(node), FileSeen):
            saved += f" ({_of_file(seen, context.plan.made_at)})"
    elif isinstance(own, OcrBackup) or own is None:
        return of_node(
            NOT_SAVED,
            Status.FAIL,
            node,
            "OLR not saved",
            f"{saved}, but the node's own registry (OLR) has no manual backup newer than the plan.",
            then=again,
            topic="ocrconfig -local",
        )
    return of_node(SAVED, Status.PASS, node, "saved", f"{saved}.", topic="change files")


def _unfit(context: GateContext, node: str, archive: ArchiveSeen | Unknown, again: list[NextStep]) -> Finding | None:
    """Return why the archive of a node does not serve; None where it does, or where root alone can see it."""
    if isinstance(archive, Unknown):
        is_attested = archive.right and not may_list_archives(context.plan.made_by)
        if is_attested or isinstance(archive, NotGathered):
            return None
        return not_known(
            BACKUPS_NOT_KNOWN, node, f"Whether the archive of {node} is whole is not known", archive.reason
        )
    lacking = sorted({file for layer in context.layers(node) if (file := _kept_file(layer))} - set(archive.names))
    if not archive.fault and not lacking:
        return None
    text = "archive damaged" if archive.fault else f"{counted(len(lacking), 'file')} not saved"
    why = (
        f"The archive of {node} cannot be read to its end: `{archive.fault}`."
        if archive.fault
        else f"The archive of {node} lacks {listed(f'/{file}' for file in lacking)}."
    )
    return of_node(ARCHIVE_UNFIT, Status.FAIL, node, text, why, then=again, topic="change archive")


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


def _voting(cluster: Cluster, changing: Changing) -> Finding:
    """Return the voting files and the ASM metadata, as far as they are known: they do not decide."""
    managed = cluster.managed
    files = managed.voting_files if isinstance(managed, Managed) else managed
    voting = (
        f"The voting files are not known: {whole(files.reason)}"
        if isinstance(files, Unknown)
        else f"{counted(len(files), 'voting file')}: {listed(_voting_file(file) for file in files)}. Clusterware saves "
        "the voting data with the OCR."
    )
    metadata = changing.asm_metadata
    saved = (
        f"The ASM metadata is saved ({counted(metadata.size_bytes, 'byte')})."
        if isinstance(metadata, FileSeen)
        else "The ASM metadata is not saved where this change would save it."
    )
    return VOTING.finding(
        Status.INFO,
        f"{voting} {saved}",
        subject="voting files not known" if isinstance(files, Unknown) else counted(len(files), "voting file"),
        evidence=[(cluster.local_node, "crsctl query css votedisk")],
    )


def _voting_file(file: VotingFile) -> str:
    group = f" in disk group {file.disk_group}" if file.disk_group else ""
    return f"{file.place}{group} ({file.state})"


def counted_of(files: dict[str, FileSeen | Unknown], lacking: list[str]) -> str:
    """Return how many files are present, of all: `1 of 3`."""
    return f"{len(files) - len(lacking)} of {len(files)}"


def archive_path(plan_id: str) -> str:
    """The path of the archive of a node's network files."""
    return f"{backup_directory(plan_id)}/{BACKUP_FILES[0]}"


def backup_paths(plan_id: str, kind: ChangeKind | None = None) -> tuple[str, ...]:
    """The paths of the files that every node's backup must hold for this kind of change."""
    names = (*BACKUP_FILES, PROFILE) if kind in OF_NETWORKS else BACKUP_FILES
    return tuple(f"{backup_directory(plan_id)}/{name}" for name in names)


def _registry(context: GateContext, cluster: Cluster, changing: Changing) -> Finding:
    managed = cluster.managed
    backup = managed.ocr_backup if isinstance(managed, Managed) else managed
    evidence = [(cluster.local_node, "ocrconfig")]
    if isinstance(backup, Unknown):
        return REGISTRY_NOT_READ.finding(
            Status.INFO,
            f"Whether the cluster's registry (OCR) was saved is not known: {whole(backup.reason)}",
            subject="OCR not known",
            next=[NextStep("List the manual backups as root.", ("ocrconfig -showbackup manual",), "root on any node")],
            evidence=evidence,
        )
    if backup is None or _is_old(backup, context.plan.made_at):
        home = next(iter(context.plan.grid_homes.values()), "")
        return REGISTRY_NOT_SAVED.finding(
            Status.FAIL,
            "The cluster's registry (OCR) has no manual backup newer than the plan"
            + (f"; the newest backup is from {backup.taken_at.replace('T', ' ')}." if backup else "."),
            subject="OCR not saved",
            next=[
                NextStep(
                    "Save the registry.",
                    (f"{home}/bin/ocrconfig -manualbackup" if home else "ocrconfig -manualbackup",),
                    "root on any node",
                )
            ],
            evidence=evidence,
        )
    size = (
        _of_file(changing.ocr_file, context.plan.made_at)
        if isinstance(changing.ocr_file, FileSeen)
        else "its size is not read" + (": it is a file in ASM" if backup.file.startswith("+") else "")
    )
    return REGISTRY_SAVED.finding(
        Status.PASS,
        f"The cluster's registry (OCR) was saved on {backup.node} at {backup.taken_at.replace('T', ' ')} (local time) "
        f"in {backup.file}; {size}.",
        subject="OCR saved",
        evidence=evidence,
    )


def _is_old(backup: OcrBackup, made_at: str) -> bool:
    """Whether the backup is older than the plan, by local times: ocrconfig prints no time zone."""
    made = datetime.fromisoformat(made_at).replace(tzinfo=None) - CLOCKS_APART
    try:
        return datetime.fromisoformat(backup.taken_at).replace(tzinfo=None) < made
    except ValueError:
        return False
