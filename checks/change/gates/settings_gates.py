"""Gates: do the nodes have the planned kernel settings now and at the next boot, and are their files saved?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from checks.change.gates.backup_gates import CLOCKS_APART
from checks.change.gates.gate import THEN_VERIFY, GateContext, as_root, gate, not_known, of_node
from checks.change.plan.change_plan import PlannedValue
from checks.change.steps.settings_commands import own_file, set_back, set_values
from checks.model.check import Kind
from checks.model.facts import Changing, Cluster, FileSeen, SysctlFiles, TunedProfile, Unknown
from checks.model.finding import Finding, NextStep, Status
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


def _values(context: GateContext, node: str) -> tuple[PlannedValue, ...]:
    return tuple(value for value in context.plan.values if value.node == node)


def _nodes(context: GateContext) -> tuple[str, ...]:
    """The nodes whose settings the plan changes, in its order."""
    return tuple(node for node in context.plan.nodes if _values(context, node))


def _nothing_planned(context: GateContext, kind: Kind) -> Iterator[Finding]:
    if not context.plan.values:
        yield kind.finding(Status.SKIPPED, "The plan changes no kernel settings.", subject="none planned")


def _again(context: GateContext, node: str, values: Sequence[PlannedValue]) -> NextStep:
    """Return the remedy with the commands that set the values of a node, now and in the files."""
    make = set_back if context.change.is_way_back else set_values
    # The file of racwire is written whole, so it needs all values of the node.
    lines = make(node, values, context.plan.id).lines
    return as_root(f"Set the values on {node}, now and for the next boot.", node, *lines)


@gate(
    "running-settings",
    question="Does each kernel have the planned settings now?",
    needs=("nodes",),
    uses=("networks",),
    kinds=(RUNNING, NOT_RUNNING, RUNNING_NOT_KNOWN),
)
def running_settings(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Compares the kernel's values in /proc/sys with the plan. For rp_filter, the larger of `all` and the interface's
    own value counts.
    """
    yield from _nothing_planned(context, RUNNING)
    for node in _nodes(context):
        values, read = _values(context, node), cluster.node(node)
        if read is None:
            why = next((n.reason for n in cluster.unread_nodes() if n.name == node), f"{node} was not read.")
            yield not_known(RUNNING_NOT_KNOWN, node, f"The settings of {node} are not known", why)
            continue
        now = {value.key: read.sysctls.get(value.key, Unknown("it was not read")) for value in values}
        unknown = [(key, found) for key, found in now.items() if isinstance(found, Unknown)]
        wrong = [value for value in values if isinstance(now[value.key], str) and not _is_set(cluster, value, now)]
        if wrong:
            yield of_node(
                NOT_RUNNING,
                Status.FAIL,
                node,
                listed(f"{value.key} {now[value.key]}" for value in wrong),
                f"On {node}, {listed(f'{v.key} is {now[v.key]}, not {v.after}' for v in wrong)}.",
                then=[_again(context, node, values), THEN_VERIFY],
                topic="sysctls",
            )
        elif unknown:
            key, why_not = unknown[0]
            yield not_known(RUNNING_NOT_KNOWN, node, f"{key} of {node} is not known", why_not.reason)
        else:
            yield of_node(
                RUNNING,
                Status.PASS,
                node,
                "set",
                f"On {node}, {listed(f'{v.key} is {now[v.key]}{_by_all(v, now)}' for v in values)}.",
                topic="sysctls",
            )


def _is_set(cluster: Cluster, value: PlannedValue, now: dict[str, str | Unknown]) -> bool:
    if now[value.key] == value.after:
        return True
    interface = interface_of(value.key) if value.key.endswith(f".{RP_FILTER}") else ""
    return bool(interface) and str(effective_rp_filter(cluster, value.node, interface)) == value.after


def _by_all(value: PlannedValue, now: dict[str, str | Unknown]) -> str:
    return "" if now[value.key] == value.after else f" ({value.after} in effect, by `all`)"


@gate(
    "kept-settings",
    question="Do the files of each node set the planned values at the next boot?",
    needs=("changing",),
    kinds=(KEPT, NOT_KEPT, REPLACED, KEPT_NOT_KNOWN),
)
def kept_settings(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Reads the files of sysctl in the order of sysctl.d(5): the line that applies last at boot must have the planned
    value. /etc/sysctl.conf, which `sysctl -p` and tuned apply after all others, must not set another one; nor may a
    tuned profile that wins over the files. After a rollback, the files must be as before the change.
    """
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return
    yield from _nothing_planned(context, KEPT)
    for node in _nodes(context):
        files = changing.sysctl_files.get(node) or changing.unasked.get(node) or Unknown(f"{node} was not queried.")
        if isinstance(files, Unknown):
            yield not_known(KEPT_NOT_KNOWN, node, f"What {node} sets at its next boot is not known", files.reason)
            continue
        yield _kept(context, node, files)


def _kept(context: GateContext, node: str, files: SysctlFiles) -> Finding:
    values, back = _values(context, node), context.change.is_way_back
    again = [_again(context, node, values), THEN_VERIFY]
    at_boot = {value.key: line_that_sets(files.at_boot, value.key) for value in values}
    wrong = [value for value in values if _value(at_boot[value.key]) != (value.kept_before if back else value.after)]
    if wrong:
        first = at_boot[wrong[0].key]
        return of_node(
            NOT_KEPT,
            Status.FAIL,
            node,
            f"{wrong[0].key} {_value(first) or 'in no file'} at boot",
            " ".join(_not_kept(context, node, wrong, files)),
            then=[*_foreign(context, node, wrong, files), *(again if _needs_own(context, wrong, files) else again[1:])],
            topic="sysctl files",
        )
    last = {value.key: line_that_sets(files.last, value.key) for value in values}
    replaced = [value for value in values if _is_replaced(last[value.key], value, back)]
    if replaced:
        found = listed(f"{value.key} to {_value(last[value.key]) or 'no value'}" for value in replaced)
        return of_node(
            REPLACED,
            Status.FAIL,
            node,
            "/etc/sysctl.conf differs",
            f"/etc/sysctl.conf of {node} sets {found}. `sysctl -p`, `sysctl --system` and tuned apply it last.",
            then=[
                as_root(f"Correct the line in /etc/sysctl.conf of {node}.", node, "vi /etc/sysctl.conf"),
                *again,
            ],
            topic="sysctl files",
        )
    if files.unread:
        return not_known(
            KEPT_NOT_KNOWN,
            node,
            f"Whether another file of {node} replaces the values is not known",
            f"this user may not read {listed(files.unread)}",
            then=[
                NextStep("Verify as a user who may read these files.", ("racwire change verify",), f"root on {node}")
            ],
        )
    if not back and (finding := _by_tuned(context, node, values, files, again)):
        return finding
    set_by = dict.fromkeys(line.file for line in at_boot.values() if line)
    by = f"the last one in {listed(set_by)}"
    unknown = ""
    if isinstance(files.tuned, Unknown):
        unknown = f" Whether a tuned profile replaces them is not known: {files.tuned.reason}."
    return of_node(
        KEPT,
        Status.PASS,
        node,
        "tuned not known" if unknown else "kept",
        f"At the next boot of {node}, the files set {listed(f'{v.key} to {_value(at_boot[v.key])}' for v in values)}, "
        f"{by}.{unknown}"
        if set_by
        else f"At the next boot of {node}, no file sets {listed(v.key for v in values)}, as before.{unknown}",
        topic="sysctl files",
    )


def _value(line: object) -> str | None:
    return getattr(line, "value", None)


def _is_replaced(line: object, value: PlannedValue, back: bool) -> bool:
    now = _value(line)
    if back:
        return (now or "") != value.conf_before
    return now is not None and now != value.after


def _not_kept(context: GateContext, node: str, wrong: Sequence[PlannedValue], files: SysctlFiles) -> Iterator[str]:
    """Yield the sentences about the values that the files do not set as planned."""
    if context.change.is_way_back:
        for value in wrong:
            now = _value(line_that_sets(files.at_boot, value.key))
            before = "no file set it" if value.kept_before is None else f"it was set to {value.kept_before}"
            found = "no file sets it" if now is None else f"it is set to {now}"
            yield f"{value.key} of {node}: at boot {found}; before the change {before}."
        return
    lines = {value.key: line_that_sets(files.at_boot, value.key) for value in wrong}
    if lost := [key for key, line in lines.items() if line is None]:
        yield f"No file of {node} sets {listed(lost)}: at the next boot the planned values are lost."
    for value in wrong:
        if (line := lines[value.key]) is not None:
            pattern = f" with {line.key}" if is_pattern(line) else ""
            after = "" if _needs_own(context, [value], files) else f", which sorts after {own_file(context.plan.id)}"
            yield f"At the next boot of {node}, {value.key} is set to {line.value} by {line.file}{pattern}{after}."


def _needs_own(context: GateContext, wrong: Sequence[PlannedValue], files: SysctlFiles) -> bool:
    """Whether the file of the change does not have these values; in a rollback, whether it is still there."""
    own = own_file(context.plan.id)
    if context.change.is_way_back:
        return own in files.files
    there = {(line.key, line.value) for line in files.at_boot if line.file == own}
    return any((value.key, value.after) not in there for value in wrong)


def _foreign(context: GateContext, node: str, wrong: Sequence[PlannedValue], files: SysctlFiles) -> Iterator[NextStep]:
    """Yield the remedy for files of others that replace the values of racwire's file."""
    own = own_file(context.plan.id)
    others = dict.fromkeys(
        line.file
        for value in wrong
        if (line := line_that_sets(files.at_boot, value.key)) is not None and line.file != own
    )
    if others and own in files.files and not context.change.is_way_back:
        yield NextStep(
            f"Ask who owns {listed(others)}, and correct the lines there: the file of the change comes before it.",
            tuple(f"grep -n -E 'rmem|wmem|rp_filter' {file}" for file in others),
            f"root on {node}",
        )


def _by_tuned(
    context: GateContext, node: str, values: Sequence[PlannedValue], files: SysctlFiles, again: list[NextStep]
) -> Finding | None:
    """Return the finding of a tuned profile that wins over the files; INFO where the plan was opened with it."""
    against = [line for v in values if (line := tuned_line_against(files.tuned, v.key, v.after))]
    if not against or not isinstance(files.tuned, TunedProfile):
        return None
    accepted = any(one.code == "CH-START-072" for one in context.change.opened.accepted)
    return of_node(
        REPLACED,
        Status.INFO if accepted else Status.FAIL,
        node,
        f"tuned sets {against[0].key}",
        f"On {node}, the tuned profile {files.tuned.name} sets {listed(f'{x.key} = {x.value}' for x in against)}, and "
        "wins over the files at boot (reapply_sysctl = 0)."
        + (" This was accepted when the change was opened." if accepted else ""),
        then=[NextStep("Correct the profile, or set reapply_sysctl = 1 in /etc/tuned/tuned-main.conf."), *again],
        topic="sysctl files",
    )


@gate(
    "settings-saved",
    question="Are the sysctl files of each node saved?",
    needs=("changing",),
    kinds=(SAVED, NOT_SAVED, SAVED_NOT_KNOWN),
)
def settings_saved(context: GateContext, cluster: Cluster) -> Iterator[Finding]:
    """Checks that the files of the step's commands exist on every changed node, are not empty and are newer than the
    plan.
    """
    changing = cluster.changing
    if isinstance(changing, Unknown):
        return
    yield from _nothing_planned(context, SAVED)
    for node in _nodes(context):
        yield _saved(context, node, changing)


def _saved(context: GateContext, node: str, changing: Changing) -> Finding:
    if node not in changing.backups:
        why = changing.unasked.get(node, Unknown(f"{node} was not queried."))
        return not_known(SAVED_NOT_KNOWN, node, f"Whether {node} has a backup is not known", why.reason)
    files = changing.backups[node]
    made_s = (datetime.fromisoformat(context.plan.made_at) - CLOCKS_APART).timestamp()
    seen = {path: file for path, file in files.items() if isinstance(file, FileSeen) and file.size_bytes}
    lacking = [path for path in files if path not in seen]
    old = [path for path, file in seen.items() if file.mtime_s < made_s]
    if lacking or old:
        problem = f"{listed(lacking or old)} {'is missing or empty' if lacking else 'is older than the plan'}"
        return of_node(
            NOT_SAVED,
            Status.FAIL,
            node,
            f"{len(files) - len(lacking or old)} of {len(files)} saved",
            f"On {node}, {problem}.",
            then=[
                NextStep(f"Run the commands of this step for {node}.", (f"racwire change next --node {node}",)),
                THEN_VERIFY,
            ],
            topic="change files",
        )
    sizes = listed(f"{path} ({counted(file.size_bytes, 'byte')})" for path, file in seen.items())
    return of_node(SAVED, Status.PASS, node, "saved", f"{node} has {sizes}.", topic="change files")
