"""What is recorded and saved before anything is changed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from checks.change.change_plan import Commands, Gate, Layer, Step
from checks.change.steps import backup_commands, recording_commands
from checks.change.steps.draft import Draft

FIGURES = ("gc-blocks-lost", "instance-ping")
"""Checks of the database whose figures are kept for the report; before the change they must not fail either."""


def baseline(draft: Draft) -> Step:
    """The recording that the later one is compared with."""
    gates = [Gate("baseline-recording")]
    if draft.has_database:
        gates += [Gate(check) for check in FIGURES if check not in draft.excused]
    return Step(
        id="baseline",
        title="baseline",
        what=f"Record {recording_commands.for_time(draft.record_s)} of the usual load, at MTU {draft.before}. Choose a "
        "time that you can have again afterwards: the same job, the same users.",
        why="Without a recording from before, nobody can tell afterwards what the change brought, or broke.",
        commands=(
            *recording_commands.begun(draft.databases, draft.has_pack),
            Commands(
                f"As {_login(draft)}, while the usual load runs:",
                (recording_commands.record(draft.baseline_file, f"mtu{draft.before}", draft.record_s, draft.options),),
                draft.first,
                "With --probe it also records how long packets take on each private path. A recording that is there "
                "already and not good enough: add --force.",
            ),
            *recording_commands.over(draft.databases, draft.has_pack),
            cluvfy(draft, "before"),
        ),
        expected="The recording holds every node for the whole time.",
        gates=tuple(gates),
        if_rolled_back="Nothing has been changed: give the change up.",
    )


def cluvfy(draft: Draft, when: str) -> Commands:
    """Oracle's own look at the network, where it is installed."""
    tool = shlex.quote(f"{draft.home(draft.first)}/bin/cluvfy")
    file = f"{backup_commands.backup_directory(draft.id)}-cluvfy-{when}.txt"
    return Commands(
        f"As the Grid owner{f' ({draft.grid_owner})' if draft.grid_owner else ''} on {draft.first}, if you like:",
        (f"if [ -x {tool} ]; then {tool} comp nodecon -n all -verbose > {file}; fi",),
        draft.first,
        "It takes some minutes, and is for your files; racwire does not wait for it.",
    )


def backups(draft: Draft) -> Step:
    """What leads back by hand, whatever happens."""
    return Step(
        id="backups",
        title="backups",
        what="Save the cluster's registry (OCR) once, and on every node its own registry (OLR), its network files, its "
        "addresses and routes, and the GPnP profile.",
        why="The MTU stands in none of these: Clusterware keeps it neither in the OCR nor in the GPnP profile. They "
        "are for the case that somebody's hand slips.",
        commands=(
            backup_commands.save_registry(draft.first, draft.home(draft.first)),
            *(
                backup_commands.save_node(node, draft.home(node), draft.id, _places(draft, node))
                for node in draft.nodes
            ),
            *backup_commands.create(draft.databases, draft.id),
        ),
        expected=f"An OCR backup of today, and {', '.join(backup_commands.BACKUP_FILES)} in "
        f"{backup_commands.backup_directory(draft.id)} on every node.",
        gates=(Gate("backups-made"),),
        if_rolled_back="Nothing has been changed: give the change up. The backups may stay.",
    )


def _login(draft: Draft) -> str:
    user, at, _ = draft.made_by.partition("@")
    return f"{user} on {draft.first}" if at else f"the user of racwire on {draft.first}"


def _places(draft: Draft, node: str) -> tuple[str, ...]:
    """The directories that hold the files of its keepers, and the scripts beside them."""
    found = [_directory(layer) for layer in draft.layers_of(node)]
    scripts = [one.line.file for one in draft.fragile if one.node == node]
    return tuple(dict.fromkeys(place for place in (*found, *scripts) if place))


def _directory(layer: Layer) -> str:
    if layer.file.startswith("/run/"):
        return ""  # made anew at each boot from what lies elsewhere
    parts: Sequence[str] = layer.file.split("/")[:-1]
    if parts and parts[-1].endswith(".d"):
        parts = parts[:-1]
    return "/".join(parts) or ("/etc/NetworkManager/system-connections" if "NetworkManager" in layer.keeper else "")
