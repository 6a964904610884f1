"""Whether the files that a change is to leave on a node are there, and what the node says of its own registry's backup.

Read by the shell that the session holds on the node; changes nothing there.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from checks.model.facts import FileSeen, OcrBackup, Unknown
from checks.model.journal import Journal
from checks.sources.clusterware.oracle_text import printed_lines, quoted
from checks.sources.nodes.backups_text import parse_manual_backups
from checks.sources.nodes.proc import number
from checks.sources.nodes.sections import Section, program, sections
from checks.sources.nodes.setup_program import HOME, TOOL_LIMIT_S
from checks.sources.nodes.shell import Shell

OLR_COMMAND = "ocrconfig -local -showbackup manual"
_OLR_PROGRAM = program(
    {"olr": f'{HOME}; timeout {TOOL_LIMIT_S} "$home/bin/ocrconfig" -local -showbackup manual'}, says_why=("olr",)
)
_NOT_FOUND = (126, 127)


async def read_change_files(
    shell: Shell, journal: Journal, paths: Sequence[str], timeout_s: float
) -> dict[str, FileSeen | Unknown]:
    """Size and time of each file, links followed. Unknown, with the reason, for one that is not there.

    Raises ShellError when the node does not answer in time.
    """
    commands = {str(i): f"stat -L -c '%s %Y' -- {shlex.quote(path)}" for i, path in enumerate(paths)}
    with journal.entry(shell.node, "change files", "\n".join(commands.values())) as entry:
        answer = await shell.run(program(commands, says_why=tuple(commands)), timeout_s=timeout_s)
        told = sections(answer.text)
        entry.text = "\n".join(section.text for section in told.values())
        return {path: parse_file_seen(shell.node, path, told.get(str(i), Section())) for i, path in enumerate(paths)}


def parse_file_seen(node: str, path: str, told: Section) -> FileSeen | Unknown:
    """What `stat` printed of one file."""
    match [number(word) for word in told.text.split()]:
        case [int(size), int(mtime)] if told.exit_status == 0:
            return FileSeen(size, float(mtime))
    if "No such file" in told.text:
        return Unknown(f"{node} has no file {path}.")
    said = printed_lines(told.text)
    return Unknown(f"{path} on {node} could not be looked at{f': {quoted(said[-1])}' if said else ''}.")


async def read_olr_backup(shell: Shell, journal: Journal, timeout_s: float) -> OcrBackup | Unknown | None:
    """The newest backup of the node's own registry (OLR) that was taken by hand; None where there is none.

    Raises ShellError when the node does not answer in time.
    """
    with journal.entry(shell.node, "ocrconfig -local", OLR_COMMAND) as entry:
        answer = await shell.run(_OLR_PROGRAM, timeout_s=timeout_s)
        told: Mapping[str, Section] = sections(answer.text)
        olr = told.get("olr", Section())
        entry.text = olr.text
        if olr.exit_status in _NOT_FOUND:
            return Unknown("there is no ocrconfig in a Grid home that olr.loc names")
        return parse_manual_backups(olr.text, OLR_COMMAND)
