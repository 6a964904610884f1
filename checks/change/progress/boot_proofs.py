"""Which boots prove that the files of a node set the planned MTU: from the events of a change. No I/O.

A proof stands until the files of the node fail, or a later boot comes back with another MTU: setting a lost MTU again,
or verifying the step set-mtu again, asks for no further boot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from checks.change.progress.change_events import Booted, JournalLine, RolledBack, Surprise, Surprised, Verified
from checks.change.progress.state import Change
from checks.model.finding import Status

_SET_MTU = "set-mtu"
_FILES, _NOW, _BOOT = "kept-mtu", "running-mtu", "rebooted"
"""The gates of the files, of the MTU now, and of the boot."""


@dataclass(frozen=True)
class BootProof:
    """What the boots of a node have shown since its MTU was set."""

    since: str
    """The boot id of the node when its files were verified, or of a later boot that lost the MTU; empty if it was not
    read. A boot after it can prove the files."""
    proved_by: str = ""
    """The boot id that the gate `rebooted` passed with; empty if there is none."""
    lost_the_mtu: bool = False
    """Whether the last boot came back with another MTU: then a boot of another node proves nothing for this one."""


def boot_proofs(change: Change) -> dict[str, BootProof]:
    """Return the proof of each node of the current plan; a node is left out before set-mtu was verified."""
    found: dict[str, BootProof] = {}
    booted: set[str] = set()
    for line in _of_current_plan(change):
        match line.event:
            case Booted(node=node) | Surprised(what=Surprise.REBOOTED, node=node):
                booted.add(node)
            case Verified():
                for node in change.plan.nodes:
                    proof = _after(found.pop(node, None), node, line.event, is_booted=node in booted)
                    if proof is not None:
                        found[node] = proof
                booted.clear()
    return found


def _of_current_plan(change: Change) -> Iterator[JournalLine]:
    starts = [place for place, line in enumerate(change.lines) if isinstance(line.event, RolledBack)]
    yield from change.lines[starts[-1] if starts else 0 :]


def _after(proof: BootProof | None, node: str, verified: Verified, *, is_booted: bool) -> BootProof | None:
    """Return the proof of a node after a verification."""
    results = {(r.check, r.status) for r in verified.results if r.node == node}
    boot = verified.look.boot_ids.get(node, "")
    if (_FILES, Status.FAIL) in results:
        proof = None
    elif is_booted and not results.isdisjoint(((_NOW, Status.FAIL), (_BOOT, Status.FAIL))):
        return BootProof(boot, lost_the_mtu=True)
    elif proof is not None and (_BOOT, Status.PASS) in results:
        return replace(proof, proved_by=boot, lost_the_mtu=False)
    return BootProof(boot) if proof is None and verified.step == _SET_MTU else proof
