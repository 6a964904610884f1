"""The steps that record and save the state of the cluster before anything is changed."""

from __future__ import annotations

from collections.abc import Sequence

from checks.change.plan.change_plan import Gate, Layer, Step
from checks.change.plan.command_block import Commands, Who
from checks.change.steps import backup_commands, recording_commands
from checks.change.steps.draft import Draft
from checks.model.shell_command import shell

FIGURES = ("gc-blocks-lost", "instance-ping")
"""Checks of the database whose figures go into the report; they must not fail before the change either."""


def baseline(draft: Draft) -> Step:
    """Return the step that records the load before the change, for the comparison afterwards."""
    gates = [Gate("baseline-recording")]
    if draft.has_database:
        gates += [Gate(check) for check in FIGURES if check not in draft.excused]
    return Step(
        id="baseline",
        title="baseline",
        what=f"Record {recording_commands.for_time(draft.record_s)} of the usual load, at MTU {draft.before}. Choose a "
        "load that you can repeat after the change: the same job, the same users.",
        why="Without a recording from before the change, there is no way to show afterwards what the change improved "
        "or broke.",
        commands=(
            *recording_commands.recording(
                draft,
                draft.databases,
                draft.baseline_file,
                f"mtu{draft.before}",
                "while the usual load runs",
                note="With --probe, racwire also records how long packets take on each private path.",
            ),
            cluvfy(draft, "before"),
        ),
        expected="The recording holds every node for the whole time.",
        gates=tuple(gates),
        if_rolled_back="Nothing has been changed: abandon the change.",
    )


def cluvfy(draft: Draft, when: str) -> Commands:
    """Return the command that runs Oracle's Cluster Verification Utility, if it is installed."""
    tool = f"{draft.home(draft.first)}/bin/cluvfy"
    file = f"{backup_commands.backup_directory(draft.id)}-cluvfy-{when}.txt"
    return Commands(
        Who.GRID_OWNER,
        (shell("if [ -x {tool} ]; then {tool} comp nodecon -n all -verbose > {file}; fi", tool=tool, file=file),),
        draft.first,
        "cluvfy takes some minutes. Its output is for your files: racwire does not read it.",
        draft.grid_owner,
        optional=True,
    )


def backups(draft: Draft) -> Step:
    """Return the step that saves what a restore by hand needs."""
    return Step(
        id="backups",
        title="backups",
        what="Save the cluster's registry (OCR) once. On every node, save its own registry (OLR), its network files, "
        "its addresses and routes, and the GPnP profile.",
        why="The backups let you restore a node by hand after a mistake. Clusterware stores the MTU neither in the OCR "
        "nor in the GPnP profile, so the change itself does not need these two.",
        commands=(
            backup_commands.save_registry(draft.first, draft.home(draft.first)),
            *(
                backup_commands.save_node(node, draft.home(node), draft.id, _places(draft, node))
                for node in draft.nodes
            ),
            backup_commands.save_asm_metadata(draft.first, draft.id, draft.grid_owner),
            *backup_commands.create(draft.databases, draft.id),
        ),
        expected=f"An OCR backup of today, and {', '.join(backup_commands.BACKUP_FILES)} in "
        f"{backup_commands.backup_directory(draft.id)} on every node.",
        gates=(Gate("backups-made"),),
        attest=""
        if backup_commands.may_list_archives(draft.made_by)
        else "On every node, tar listed the archive without an error, with the files of the private interfaces.",
        if_rolled_back="Nothing has been changed: abandon the change. The backups may stay.",
    )


def _places(draft: Draft, node: str) -> tuple[str, ...]:
    """The directories of the files of a node's network services, and the scripts that set an MTU, too."""
    found = [_directory(layer) for layer in draft.layers_of(node)]
    scripts = [one.line.file for one in draft.fragile if one.node == node]
    return tuple(dict.fromkeys(place for place in (*found, *scripts) if place))


def _directory(layer: Layer) -> str:
    if layer.file.startswith("/run/"):
        return ""  # generated at each boot from files in another directory
    parts: Sequence[str] = layer.file.split("/")[:-1]
    if parts and parts[-1].endswith(".d"):
        parts = parts[:-1]
    return "/".join(parts) or (
        "/etc/NetworkManager/system-connections" if "NetworkManager" in layer.network_service else ""
    )
