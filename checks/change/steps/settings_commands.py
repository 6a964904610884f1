"""Commands that save the sysctl files of a node, set kernel settings now and for the next boot, and set them back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from checks.change.plan.change_plan import PlannedValue
from checks.change.plan.command_block import Commands, Who
from checks.change.steps.backup_commands import backup_directory
from checks.model.shell_command import plain, shell
from checks.rules.sysctls_at_boot import spelled

SAVED_FILES = ("sysctl.tar.gz", "sysctl.txt")
"""The files that each node's backup directory holds after the step backups."""


def own_file(plan_id: str) -> str:
    """The file that sets the planned values at boot. Its name sorts after all that start with a digit."""
    return f"/etc/sysctl.d/zz-racwire-{plan_id}.conf"


def backup_paths(plan_id: str) -> tuple[str, ...]:
    """The paths of the files that every node's backup must hold."""
    return tuple(f"{backup_directory(plan_id)}/{name}" for name in SAVED_FILES)


def save_files(node: str, plan_id: str) -> Commands:
    """Return the commands that save a node's sysctl files, its tuned profiles and its present settings."""
    directory = backup_directory(plan_id)
    archive, listing = backup_paths(plan_id)
    return Commands(
        Who.ROOT,
        tuple(shell(script, directory=directory, archive=archive, listing=listing) for script in _SAVE),
        node,
        shell("To restore a node's files by hand: tar -C / -xzf {archive}", archive=archive),
    )


# Every user may write to /var/tmp: nothing is written into a directory that another user created in advance.
_SAVE = (
    "test -O {directory} || mkdir -m 755 {directory}",
    "test -O {directory} && (umask 077; tar -C / -czf {archive} "
    "$(cd / && ls -d etc/sysctl.conf etc/sysctl.d etc/tuned 2>/dev/null))",
    "test -O {directory} && (sysctl -a 2>/dev/null || true) > {listing}",
)


def set_values(node: str, values: Sequence[PlannedValue], plan_id: str) -> Commands:
    """Return the commands that set the planned values of a node now, and in a file of their own for the next boot."""
    lines = (f"# Change {plan_id} of racwire", *(f"{spelled(value.key)} = {value.after}" for value in values))
    corrected = [value for value in values if value.conf_before and value.conf_before != value.after]
    return Commands(
        Who.ROOT,
        (
            *_now(values),
            shell(r"printf '%s\n' {lines} > {file}", lines=lines, file=own_file(plan_id)),
            *_in_conf((value.key, value.after) for value in corrected),
        ),
        node,
        _CORRECTED if corrected else "",
    )


_CORRECTED = (
    "/etc/sysctl.conf sets another value. `sysctl -p` and tuned apply it after all other files, so the value is "
    "changed there, too; the step backups saved the file."
)


def set_back(node: str, values: Sequence[PlannedValue], plan_id: str) -> Commands:
    """Return the commands of a rollback: the old values now, and the files as before. `after` has the old value."""
    restored = [(value.key, value.conf_before) for value in values if value.conf_before]
    return Commands(Who.ROOT, (*_now(values), shell("rm -f {file}", file=own_file(plan_id)), *_in_conf(restored)), node)


def _now(values: Iterable[PlannedValue]) -> tuple[str, ...]:
    return tuple(shell("sysctl -w {key}={value}", key=spelled(value.key), value=value.after) for value in values)


def _in_conf(values: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the commands that change the lines of these keys in /etc/sysctl.conf; other lines stay as they are."""
    for key, value in values:
        name = plain(spelled(key), "key")
        expression = re.sub("[./]", "[./]", name)
        edit = rf"s|^[[:space:]]*-?[[:space:]]*{expression}[[:space:]]*=.*|{name} = {plain(value, 'value')}|"
        yield shell("sed -i --follow-symlinks -E {edit} /etc/sysctl.conf", edit=edit)
