"""Gates: do the nodes have the planned kernel settings now and at the next boot, and are their files saved?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from checks.change.gates.backup_gates import CLOCKS_APART
from checks.change.gates.gate import THEN_VERIFY, GatePlace, node_gate
from checks.change.plan.change_plan import Plan, PlannedValue
from checks.change.steps.settings_commands import own_file, set_back, set_values
from checks.model.check import Kind
from checks.model.effect import Effect
from checks.model.facts import Cluster, FileSeen, Node, SysctlFiles, SysctlLine, TunedProfile, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.own_command import VERIFY
from checks.model.shell_command import for_each
from checks.model.wording import counted, listed
from checks.rules.sysctls_at_boot import (
    RP_FILTER,
    effective_rp_filter,
    interface_of,
    is_pattern,
    line_that_sets,
    tuned_line_against,
)

_ORDER = ("sysctl.d(5)", "sysctl(8)")
_LOST = "A value that is in no file, or that a later file replaces, is lost at the next boot."

RUNNING = Kind("CH-SETTING-001", "The kernel of a node has the planned settings")
NOT_RUNNING = Kind("CH-SETTING-002", "The kernel of a node does not have a planned setting")
RUNNING_NOT_KNOWN = Kind("CH-SETTING-003", "A kernel setting of a node is not known")
KEPT = Kind("CH-SETTING-004", "The files of a node set the planned settings at its next boot", sources=_ORDER)
NOT_KEPT = Kind("CH-SETTING-005", "The next boot of a node sets another value", _LOST, _ORDER)
REPLACED = Kind(
    "CH-SETTING-006",
    "/etc/sysctl.conf or a tuned profile sets another value after the other files",
    "`sysctl -p`, `sysctl --system` and tuned apply /etc/sysctl.conf after all other files. A tuned profile wins over "
    "the files where reapply_sysctl is 0.",
    (*_ORDER, "tuned-main.conf(5)"),
)
KEPT_NOT_KNOWN = Kind("CH-SETTING-007", "What a node sets at its next boot is not known")
SAVED = Kind("CH-SETTING-008", "The sysctl files of a node are saved")
NOT_SAVED = Kind(
    "CH-SETTING-009", "The sysctl files of a node are not saved", "Files without a backup can only be restored by hand."
)
SAVED_NOT_KNOWN = Kind("CH-SETTING-010", "Whether the sysctl files of a node are saved is not known")
NO_SETTINGS = "The plan changes no kernel settings."


def nodes_with_values(plan: Plan) -> tuple[str, ...]:
    """The nodes whose settings the plan changes, in its order."""
    changed = {value.node for value in plan.values}
    return tuple(node for node in plan.nodes if node in changed)


def _values(at: GatePlace) -> tuple[PlannedValue, ...]:
    return tuple(value for value in at.plan.values if value.node == at.node)


def _again(at: GatePlace) -> NextStep:
    """Return the remedy with the commands that set the values of a node, now and in the files."""
    make = set_back if at.change.is_way_back else set_values
    # The file of racwire is written whole, so it needs all values of the node.
    lines = make(at.node, _values(at), at.plan.id).lines
    return at.as_root(f"Set the values on {at.node}, now and for the next boot.", *lines)


@node_gate(
    "running-settings",
    question="Does each kernel have the planned settings now?",
    needs=("nodes",),
    uses=("networks",),
    topic="sysctls",
    kinds=(RUNNING, NOT_RUNNING, RUNNING_NOT_KNOWN),
    nodes=nodes_with_values,
    none_planned=(RUNNING, NO_SETTINGS),
    read=GatePlace.read,
    unread=(RUNNING_NOT_KNOWN, "The settings of {} are not known"),
)
def running_settings(at: GatePlace, node: Node) -> Finding:
    """Compares the kernel's values in /proc/sys with the plan. For rp_filter, the larger of `all` and the interface's
    own value counts.
    """
    values = _values(at)
    now = {value.key: node.sysctls.get(value.key, Unknown("it was not read")) for value in values}
    wrong = [value for value in values if isinstance(now[value.key], str) and not _is_set(at.cluster, value, now)]
    if wrong:
        return at.fails(
            NOT_RUNNING,
            listed(f"{value.key} {now[value.key]}" for value in wrong),
            f"On {at.node}, {listed(f'{v.key} is {now[v.key]}, not {v.after}' for v in wrong)}.",
            _again(at),
            THEN_VERIFY,
        )
    for key, found in now.items():
        if isinstance(found, Unknown):
            return at.not_known(RUNNING_NOT_KNOWN, f"{key} of {at.node} is not known", found)
    sentence = f"On {at.node}, {listed(f'{v.key} is {now[v.key]}{_by_all(v, now)}' for v in values)}."
    return at.holds(RUNNING, "set", sentence)


def _is_set(cluster: Cluster, value: PlannedValue, now: dict[str, str | Unknown]) -> bool:
    if now[value.key] == value.after:
        return True
    interface = interface_of(value.key) if value.key.endswith(f".{RP_FILTER}") else ""
    return bool(interface) and str(effective_rp_filter(cluster, value.node, interface)) == value.after


def _by_all(value: PlannedValue, now: dict[str, str | Unknown]) -> str:
    return "" if now[value.key] == value.after else f" ({value.after} in effect, by `all`)"


@node_gate(
    "kept-settings",
    question="Do the files of each node set the planned values at the next boot?",
    needs=("changing",),
    topic="sysctl files",
    kinds=(KEPT, NOT_KEPT, REPLACED, KEPT_NOT_KNOWN),
    nodes=nodes_with_values,
    none_planned=(KEPT, NO_SETTINGS),
    read=lambda at: at.asked(at.changing.sysctl_files),
    unread=(KEPT_NOT_KNOWN, "What {} sets at its next boot is not known"),
)
def kept_settings(at: GatePlace, files: SysctlFiles) -> Finding:
    """Reads the files of sysctl in the order of sysctl.d(5): the line that applies last at boot must have the planned
    value. /etc/sysctl.conf, which `sysctl -p` and tuned apply after all others, must not set another one; nor may a
    tuned profile that wins over the files. After a rollback, the files must be as before the change.
    """
    values, back = _values(at), at.change.is_way_back
    at_boot = {value.key: line_that_sets(files.at_boot, value.key) for value in values}
    wrong = [value for value in values if _value(at_boot[value.key]) != (value.kept_before if back else value.after)]
    if wrong:
        again = [_again(at)] if _needs_own(at, wrong, files) else []
        return at.fails(
            NOT_KEPT,
            f"{wrong[0].key} {_value(at_boot[wrong[0].key]) or 'in no file'} at boot",
            " ".join(_not_kept(at, wrong, files)),
            *(*_foreign(at, wrong, files), *again, THEN_VERIFY),
        )
    last = {value.key: line_that_sets(files.last, value.key) for value in values}
    if replaced := [value for value in values if _is_replaced(last[value.key], value, back)]:
        found = listed(f"{value.key} to {_value(last[value.key]) or 'no value'}" for value in replaced)
        return at.fails(
            REPLACED,
            "/etc/sysctl.conf differs",
            f"/etc/sysctl.conf of {at.node} sets {found}. `sysctl -p`, `sysctl --system` and tuned apply it last.",
            at.as_root(f"Correct the line in /etc/sysctl.conf of {at.node}.", "vi /etc/sysctl.conf"),
            _again(at),
            THEN_VERIFY,
        )
    if files.unread:
        what = f"Whether another file of {at.node} replaces the values is not known"
        elsewhere = NextStep("Verify as a user who may read these files.", where=f"root on {at.node}", own=(VERIFY,))
        return at.not_known(KEPT_NOT_KNOWN, what, Unknown(f"this user may not read {listed(files.unread)}"), elsewhere)
    if not back and (finding := _by_tuned(at, values, files)):
        return finding
    text, unknown = "kept", ""
    if isinstance(files.tuned, Unknown):
        text = "tuned not known"
        unknown = f" Whether a tuned profile replaces them is not known: {files.tuned.reason}."
    if not (set_by := dict.fromkeys(line.file for line in at_boot.values() if line)):
        sentence = f"At the next boot of {at.node}, no file sets {listed(v.key for v in values)}, as before.{unknown}"
        return at.holds(KEPT, text, sentence)
    set_to = listed(f"{v.key} to {_value(at_boot[v.key])}" for v in values)
    sentence = f"At the next boot of {at.node}, the files set {set_to}, the last one in {listed(set_by)}.{unknown}"
    return at.holds(KEPT, text, sentence)


def _value(line: SysctlLine | None) -> str | None:
    return line.value if line else None


def _is_replaced(line: SysctlLine | None, value: PlannedValue, back: bool) -> bool:
    now = _value(line)
    if back:
        return (now or "") != value.conf_before
    return now is not None and now != value.after


def _not_kept(at: GatePlace, wrong: Sequence[PlannedValue], files: SysctlFiles) -> Iterator[str]:
    """Yield the sentences about the values that the files do not set as planned."""
    lines = {value.key: line_that_sets(files.at_boot, value.key) for value in wrong}
    if at.change.is_way_back:
        for value in wrong:
            now = _value(lines[value.key])
            before = "no file set it" if value.kept_before is None else f"it was set to {value.kept_before}"
            found = "no file sets it" if now is None else f"it is set to {now}"
            yield f"{value.key} of {at.node}: at boot {found}; before the change {before}."
        return
    if lost := [key for key, line in lines.items() if line is None]:
        yield f"No file of {at.node} sets {listed(lost)}: at the next boot the planned values are lost."
    for value in wrong:
        if (line := lines[value.key]) is not None:
            pattern = f" with {line.key}" if is_pattern(line) else ""
            after = "" if _needs_own(at, [value], files) else f", which sorts after {own_file(at.plan.id)}"
            yield f"At the next boot of {at.node}, {value.key} is set to {line.value} by {line.file}{pattern}{after}."


def _needs_own(at: GatePlace, wrong: Sequence[PlannedValue], files: SysctlFiles) -> bool:
    """Whether the file of the change does not have these values; in a rollback, whether it is still there."""
    own = own_file(at.plan.id)
    if at.change.is_way_back:
        return own in files.files
    there = {(line.key, line.value) for line in files.at_boot if line.file == own}
    return any((value.key, value.after) not in there for value in wrong)


def _foreign(at: GatePlace, wrong: Sequence[PlannedValue], files: SysctlFiles) -> Iterator[NextStep]:
    """Yield the remedy for files of others that replace the values of racwire's file."""
    own = own_file(at.plan.id)
    lines = [line for value in wrong if (line := line_that_sets(files.at_boot, value.key))]
    others = dict.fromkeys(line.file for line in lines if line.file != own)
    if others and own in files.files and not at.change.is_way_back:
        yield NextStep(
            f"Ask who owns {listed(others)}, and correct the lines there: the file of the change comes before it.",
            for_each("grep -n -E 'rmem|wmem|rp_filter' {file}", file=others),
            f"root on {at.node}",
        )


def _by_tuned(at: GatePlace, values: Sequence[PlannedValue], files: SysctlFiles) -> Finding | None:
    """Return the finding of a tuned profile that wins over the files; INFO where the plan was opened with it."""
    against = [line for v in values if (line := tuned_line_against(files.tuned, v.key, v.after))]
    if not against or not isinstance(files.tuned, TunedProfile):
        return None
    accepted = any(one.code == "CH-START-072" for one in at.change.opened.accepted)
    report = at.remarks if accepted else at.fails
    return report(
        REPLACED,
        f"tuned sets {against[0].key}",
        f"On {at.node}, the tuned profile {files.tuned.name} sets {listed(f'{x.key} = {x.value}' for x in against)}, "
        "and wins over the files at boot (reapply_sysctl = 0)."
        + (" This was accepted when the change was opened." if accepted else ""),
        NextStep(
            "Correct the profile, or set reapply_sysctl = 1 in /etc/tuned/tuned-main.conf.",
            where=f"root on {at.node}",
            is_change=True,
            effect=Effect.AT_NEXT_START,
        ),
        _again(at),
        THEN_VERIFY,
    )


@node_gate(
    "settings-saved",
    question="Are the sysctl files of each node saved?",
    needs=("changing",),
    topic="change files",
    kinds=(SAVED, NOT_SAVED, SAVED_NOT_KNOWN),
    nodes=nodes_with_values,
    none_planned=(SAVED, NO_SETTINGS),
    read=lambda at: at.asked(at.changing.backups),
    unread=(SAVED_NOT_KNOWN, "Whether {} has a backup is not known"),
)
def settings_saved(at: GatePlace, files: dict[str, FileSeen | Unknown]) -> Finding:
    """Checks that the files of the step's commands exist on every changed node, are not empty and are newer than the
    plan.
    """
    made_s = (datetime.fromisoformat(at.plan.made_at) - CLOCKS_APART).timestamp()
    seen = {path: file for path, file in files.items() if isinstance(file, FileSeen) and file.size_bytes}
    lacking = [path for path in files if path not in seen]
    old = [path for path, file in seen.items() if file.mtime_s < made_s]
    if lacking or old:
        problem = f"{listed(lacking or old)} {'is missing or empty' if lacking else 'is older than the plan'}"
        text = f"{len(files) - len(lacking or old)} of {len(files)} saved"
        return at.fails(NOT_SAVED, text, f"On {at.node}, {problem}.", at.step_again(), THEN_VERIFY)
    sizes = listed(f"{path} ({counted(file.size_bytes, 'byte')})" for path, file in seen.items())
    return at.holds(SAVED, "saved", f"{at.node} has {sizes}.")
