"""Gate: is there something to go back to?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from checks.change.gates.gate import LOOK_AGAIN, GateContext, gate, not_known, of_node, whole
from checks.change.steps.backup_commands import BACKUP_FILES, backup_directory
from checks.model.check import Kind
from checks.model.facts import Changing, Cluster, FileSeen, Managed, OcrBackup, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed

SAVED = Kind("CH-BACKUP-001", "A node's network files are saved")
NOT_SAVED = Kind(
    "CH-BACKUP-002",
    "A backup that the change asks for is not there",
    "What is not saved can only be put together from memory, in the middle of an outage.",
)
OLD = Kind("CH-BACKUP-003", "A backup is older than the plan")
REGISTRY_SAVED = Kind("CH-BACKUP-004", "The cluster's registry (OCR) was saved by hand since the plan was made")
REGISTRY_NOT_SAVED = Kind(
    "CH-BACKUP-005",
    "The cluster's registry (OCR) was not saved by hand since the plan was made",
    sources=("Clusterware Administration Guide, ocrconfig -manualbackup",),
)
NOT_TOLD = Kind("CH-BACKUP-006", "Whether the registries were saved cannot be told as this user")
BACKUPS_NOT_KNOWN = Kind("CH-BACKUP-007", "Whether a node's files are saved is not known")

_CLOCKS_APART = timedelta(minutes=5)
"""How far a node's clock may be off from that of the node where the plan was made. Ours."""


@gate(
    "backups-made",
    question="Is there a backup of each node's network files and of the registries?",
    needs=("changing",),
    uses=("managed",),
    kinds=(SAVED, NOT_SAVED, OLD, REGISTRY_SAVED, REGISTRY_NOT_SAVED, NOT_TOLD, BACKUPS_NOT_KNOWN),
)
def backups_made(scene: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Looks on every node for the files that the step's commands write, newer than the plan and not empty, and asks
    `ocrconfig -showbackup manual` for a backup of the registry that is. ocrconfig tells it to root only: where it does
    not, the files must do.
    """
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return
    yield _registry(scene, cluster)
    for node in scene.plan.nodes:
        if node not in changing.backups:
            why = changing.unasked.get(node, Unknown(f"{node} was not asked."))
            yield not_known(BACKUPS_NOT_KNOWN, node, f"Whether {node} is saved is not known", why.reason)
            continue
        yield _of_files(scene, node, changing)


def _of_files(scene: GateContext, node: str, changing: Changing) -> Finding:
    directory = backup_directory(scene.plan.id)
    files = changing.backups[node]
    made_s = (datetime.fromisoformat(scene.plan.made_at) - _CLOCKS_APART).timestamp()
    missing = [path.rpartition("/")[2] for path, file in files.items() if not isinstance(file, FileSeen)]
    empty = [p.rpartition("/")[2] for p, f in files.items() if isinstance(f, FileSeen) and f.size_bytes == 0]
    old = [p.rpartition("/")[2] for p, f in files.items() if isinstance(f, FileSeen) and f.mtime_s < made_s]
    again = [
        Remedy(f"Run what this step has for {node}, as root there.", (f"racwire change next --node {node}",)),
        Remedy("Then look again.", (LOOK_AGAIN,)),
    ]
    if missing or empty:
        text = f"{counted_of(files, [*missing, *empty])} saved"
        told = [(missing, "not there"), (empty, "empty")]
        said = listed(f"{listed(names)} {'is' if len(names) == 1 else 'are'} {how}" for names, how in told if names)
        return of_node(
            NOT_SAVED, Status.FAIL, node, text, f"In {directory} on {node} {said}.", then=again, topic="change files"
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
    own = changing.registries.get(node, Unknown("it was not asked"))
    if isinstance(own, OcrBackup) and not _is_old(own, scene.plan.made_at):
        saved += f", and its own registry (OLR) in {own.file}"
    elif isinstance(own, OcrBackup) or own is None:
        return of_node(
            NOT_SAVED,
            Status.FAIL,
            node,
            "OLR not saved",
            f"{saved}; its own registry (OLR) was not saved since the plan was made.",
            then=again,
            topic="ocrconfig -local",
        )
    return of_node(SAVED, Status.PASS, node, "saved", f"{saved}.", topic="change files")


def counted_of(files: dict[str, FileSeen | Unknown], lacking: list[str]) -> str:
    """`1 of 3`."""
    return f"{len(files) - len(lacking)} of {len(files)}"


def backup_paths(plan_id: str) -> tuple[str, ...]:
    """The files that every node's backup holds in any case."""
    return tuple(f"{backup_directory(plan_id)}/{name}" for name in BACKUP_FILES)


def _registry(scene: GateContext, cluster: Cluster) -> Finding:
    managed = cluster.managed
    backup = managed.ocr_backup if isinstance(managed, Managed) else managed
    evidence = [(cluster.local_node, "ocrconfig")]
    if isinstance(backup, Unknown):
        return NOT_TOLD.finding(
            Status.INFO,
            f"Whether the cluster's registry (OCR) was saved is not told: {whole(backup.reason)}",
            subject="OCR not told",
            next=[Remedy("See it as root.", ("ocrconfig -showbackup manual",), "root on any node")],
            evidence=evidence,
        )
    if backup is None or _is_old(backup, scene.plan.made_at):
        home = next(iter(scene.plan.grid_homes.values()), "")
        return REGISTRY_NOT_SAVED.finding(
            Status.FAIL,
            "The cluster's registry (OCR) was not saved by hand since the plan was made"
            + (f"; the newest backup is of {backup.taken_at.replace('T', ' ')}." if backup else "."),
            subject="OCR not saved",
            next=[
                Remedy(
                    "Save it.",
                    (f"{home}/bin/ocrconfig -manualbackup" if home else "ocrconfig -manualbackup",),
                    "root on any node",
                )
            ],
            evidence=evidence,
        )
    return REGISTRY_SAVED.finding(
        Status.PASS,
        f"The cluster's registry (OCR) was saved on {backup.node} at {backup.taken_at.replace('T', ' ')}.",
        subject="OCR saved",
        evidence=evidence,
    )


def _is_old(backup: OcrBackup, made_at: str) -> bool:
    """Both by the clock on the wall: ocrconfig names no zone."""
    made = datetime.fromisoformat(made_at).replace(tzinfo=None) - _CLOCKS_APART
    try:
        return datetime.fromisoformat(backup.taken_at).replace(tzinfo=None) < made
    except ValueError:
        return False
