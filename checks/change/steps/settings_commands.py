"""Commands that save the sysctl files of a node, set kernel settings now and for the next boot, and set them back."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from checks.change.plan.change_plan import PlannedValue
from checks.change.plan.command_block import Commands, Who
from checks.change.steps.backup_commands import backup_directory
from checks.rules.sysctls_at_boot import spelled

SAVED_FILES = ("sysctl.tar.gz", "sysctl.txt")
"""The files that each node's backup directory holds after the step backups."""
_CONF = "/etc/sysctl.conf"
_PLACES = ("etc/sysctl.conf", "etc/sysctl.d", "etc/tuned")


def own_file(plan_id: str) -> str:
    """The file that sets the planned values at boot. Its name sorts after all that start with a digit."""
    return f"/etc/sysctl.d/zz-racwire-{plan_id}.conf"


def backup_paths(plan_id: str) -> tuple[str, ...]:
    """The paths of the files that every node's backup must hold."""
    return tuple(f"{backup_directory(plan_id)}/{name}" for name in SAVED_FILES)


def save_files(node: str, plan_id: str) -> Commands:
    """Return the commands that save a node's sysctl files, its tuned profiles and its present settings."""
    directory = backup_directory(plan_id)
    # Every user may write to /var/tmp: nothing is written into a directory that another user created in advance.
    ours = f"test -O {directory} &&"
    archive, listing = backup_paths(plan_id)
    places = f"$(cd / && ls -d {' '.join(_PLACES)} 2>/dev/null)"
    return Commands(
        Who.ROOT,
        (
            f"test -O {directory} || mkdir -m 755 {directory}",
            f"{ours} (umask 077; tar -C / -czf {archive} {places})",
            f"{ours} (sysctl -a 2>/dev/null || true) > {listing}",
        ),
        node,
        f"To restore a node's files by hand: tar -C / -xzf {archive}",
    )


def set_values(node: str, values: Sequence[PlannedValue], plan_id: str) -> Commands:
    """Return the commands that set the planned values of a node now, and in a file of their own for the next boot."""
    written = rf"printf '%s\n' {{}} > {own_file(plan_id)}"
    lines = (f"# Change {plan_id} of racwire", *(f"{spelled(value.key)} = {value.after}" for value in values))
    corrected = [value for value in values if value.conf_before and value.conf_before != value.after]
    return Commands(
        Who.ROOT,
        (
            *_now(values),
            written.format(shlex.join(lines)),
            *_in_conf((value.key, value.after) for value in corrected),
        ),
        node,
        _CORRECTED if corrected else "",
    )


_CORRECTED = (
    f"{_CONF} sets another value. `sysctl -p` and tuned apply it after all other files, so the value is changed there, "
    "too; the step backups saved the file."
)


def set_back(node: str, values: Sequence[PlannedValue], plan_id: str) -> Commands:
    """Return the commands of a rollback: the old values now, and the files as before. `after` has the old value."""
    restored = [(value.key, value.conf_before) for value in values if value.conf_before]
    return Commands(Who.ROOT, (*_now(values), f"rm -f {own_file(plan_id)}", *_in_conf(restored)), node)


def _now(values: Iterable[PlannedValue]) -> list[str]:
    return [shlex.join(("sysctl", "-w", f"{spelled(value.key)}={value.after}")) for value in values]


def _in_conf(values: Iterable[tuple[str, str]]) -> list[str]:
    """Return the commands that change the lines of these keys in /etc/sysctl.conf; other lines stay as they are."""
    return [
        shlex.join(
            (
                *("sed", "-i", "--follow-symlinks", "-E"),
                rf"s|^[[:space:]]*-?[[:space:]]*{_expression(key)}[[:space:]]*=.*|{spelled(key)} = {value}|",
                _CONF,
            )
        )
        for key, value in values
    ]


def _expression(key: str) -> str:
    """Return the expression of grep -E for a key, with dots or slashes between its parts."""
    return "[./]".join(part.replace("/", "[./]") for part in spelled(key).split("."))
