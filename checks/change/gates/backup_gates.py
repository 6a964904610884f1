"""Gate: is there a backup of the network files and registries?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from checks.change.gates.gate import THEN_VERIFY, GateContext, gate, not_known, of_node, whole
from checks.change.steps.backup_commands import BACKUP_FILES, backup_directory
from checks.model.check import Kind
from checks.model.facts import Changing, Cluster, FileSeen, Managed, OcrBackup, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed

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
BACKUPS_NOT_KNOWN = Kind("CH-BACKUP-007", "Whether a node's files are saved is not known")

_CLOCKS_APART = timedelta(minutes=5)
"""The accepted clock difference between a node and the node where the plan was made. Chosen by racwire."""


@gate(
    "backups-made",
    question="Is there a backup of each node's network files and of the registries?",
    needs=("changing",),
    uses=("managed",),
    kinds=(SAVED, NOT_SAVED, OLD, REGISTRY_SAVED, REGISTRY_NOT_SAVED, REGISTRY_NOT_READ, BACKUPS_NOT_KNOWN),
)
def backups_made(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Checks that the files of the step's commands exist on every node, are not empty and are newer than the plan.

    Also runs `ocrconfig -showbackup manual` to find a backup of the registry that is newer than the plan. ocrconfig
    shows backups to root only: without root, the files are the only proof.
    """
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return
    yield _registry(context, cluster)
    for node in context.plan.nodes:
        if node not in changing.backups:
            why = changing.unasked.get(node, Unknown(f"{node} was not queried."))
            yield not_known(BACKUPS_NOT_KNOWN, node, f"Whether {node} has a backup is not known", why.reason)
            continue
        yield _of_files(context, node, changing)


def _of_files(context: GateContext, node: str, changing: Changing) -> Finding:
    directory = backup_directory(context.plan.id)
    files = changing.backups[node]
    made_s = (datetime.fromisoformat(context.plan.made_at) - _CLOCKS_APART).timestamp()
    missing = [path.rpartition("/")[2] for path, file in files.items() if not isinstance(file, FileSeen)]
    empty = [p.rpartition("/")[2] for p, f in files.items() if isinstance(f, FileSeen) and f.size_bytes == 0]
    old = [p.rpartition("/")[2] for p, f in files.items() if isinstance(f, FileSeen) and f.mtime_s < made_s]
    again = [
        Remedy(
            f"Run the commands of this step for {node}, as root on {node}.", (f"racwire change next --node {node}",)
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
    saved = f"{node} is saved in {directory}"
    own = changing.registries.get(node, Unknown("it was not queried"))
    if isinstance(own, OcrBackup) and not _is_old(own, context.plan.made_at):
        saved += f", and the node's own registry (OLR) in {own.file}"
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


def counted_of(files: dict[str, FileSeen | Unknown], lacking: list[str]) -> str:
    """Return how many files are present, of all: `1 of 3`."""
    return f"{len(files) - len(lacking)} of {len(files)}"


def backup_paths(plan_id: str) -> tuple[str, ...]:
    """The paths of the files that every node's backup must hold."""
    return tuple(f"{backup_directory(plan_id)}/{name}" for name in BACKUP_FILES)


def _registry(context: GateContext, cluster: Cluster) -> Finding:
    managed = cluster.managed
    backup = managed.ocr_backup if isinstance(managed, Managed) else managed
    evidence = [(cluster.local_node, "ocrconfig")]
    if isinstance(backup, Unknown):
        return REGISTRY_NOT_READ.finding(
            Status.INFO,
            f"Whether the cluster's registry (OCR) was saved is not known: {whole(backup.reason)}",
            subject="OCR not known",
            next=[Remedy("List the manual backups as root.", ("ocrconfig -showbackup manual",), "root on any node")],
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
                Remedy(
                    "Save the registry.",
                    (f"{home}/bin/ocrconfig -manualbackup" if home else "ocrconfig -manualbackup",),
                    "root on any node",
                )
            ],
            evidence=evidence,
        )
    return REGISTRY_SAVED.finding(
        Status.PASS,
        f"The cluster's registry (OCR) was saved on {backup.node} at {backup.taken_at.replace('T', ' ')} (local time).",
        subject="OCR saved",
        evidence=evidence,
    )


def _is_old(backup: OcrBackup, made_at: str) -> bool:
    """Whether the backup is older than the plan, by local times: ocrconfig prints no time zone."""
    made = datetime.fromisoformat(made_at).replace(tzinfo=None) - _CLOCKS_APART
    try:
        return datetime.fromisoformat(backup.taken_at).replace(tzinfo=None) < made
    except ValueError:
        return False
