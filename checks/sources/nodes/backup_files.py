"""Read backups: the manual backups of Clusterware's registries, and the files that a change leaves on a node.

The session's shell on the node reads the files and the node's own registry. The Clusterware Administration Guide,
appendix on OCRCONFIG, documents the answers of ocrconfig.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from checks.model.facts import ArchiveSeen, FileSeen, MissingRight, OcrBackup, Unknown
from checks.model.journal import Journal
from checks.model.shell_command import shell
from checks.sources.change_files import (
    ARCHIVE_STATUS,
    CHANGE_ARCHIVE,
    CHANGE_BACKUPS,
    OLR_BACKUP,
    UNREADABLE_ARCHIVE,
)
from checks.sources.clusterware.oracle_text import no_known_shape, printed_lines, quoted, read_messages, refusal_in
from checks.sources.grid_commands import MANUAL_BACKUPS
from checks.sources.nodes.proc import number
from checks.sources.nodes.sections import OutputSection, section_list, sections
from checks.sources.nodes.shell import Shell
from checks.sources.sh_text import NOT_FOUND, TIMED_OUT

_BACKUP = re.compile(r"(\S+)\s+(\d{4})/(\d\d)/(\d\d)\s+(\d\d:\d\d:\d\d)\s+([/+]\S+)(?:\s+\d+)?")
# No manual backup of the OCR, and none of the OLR.
_NONE = frozenset({"PROT-25", "PROTL-25"})


def parse_manual_backups(text: str, command: str = MANUAL_BACKUPS.command) -> OcrBackup | Unknown | None:
    """The newest backup of the lines `<node>  <date> <time>  <file>  [<patch level>]`; None where there is none.

    Lines of messages may be before them: with PROT-26 the lines are from a local copy, because CRSD does not run.
    Unknown where the text has another format.
    """
    found = [match for line in printed_lines(text) if (match := _BACKUP.fullmatch(line))]
    if found:
        newest = max(found, key=lambda match: (*match.groups()[1:4], match[5]))
        return OcrBackup(newest[1], f"{newest[2]}-{newest[3]}-{newest[4]}T{newest[5]}", newest[6])
    if _NONE & {message.code for message in read_messages(text)}:
        return None
    return no_known_shape(command, text)


_COMPLAINT = re.compile(r"(/\S*/)?(tar|gzip|nice|timeout|sh)(\[\d+\])?: |gzip: ")
"""The start of a line of tar or of a program that it runs; the names in an archive of racwire have none."""


async def read_change_files(
    shell: Shell, journal: Journal, paths: Sequence[str], timeout_s: float
) -> dict[str, FileSeen | Unknown]:
    """Read size and time of each file, with links followed. Unknown, with the reason, for a missing file.

    Raises ShellError where the node does not answer in time.
    """
    if not paths:
        return {}
    (topic,) = CHANGE_BACKUPS.topics
    with journal.entry(shell.node, topic, CHANGE_BACKUPS.action_on(*paths)) as entry:
        answer = await shell.run(CHANGE_BACKUPS, *paths, timeout_s=timeout_s)
        printed = [section for _, section in section_list(answer.text)]
        entry.text = "\n".join(section.text for section in printed)
        of_paths = zip_longest(paths, printed[: len(paths)], fillvalue=OutputSection())
        return {str(path): parse_file_seen(shell.node, str(path), section) for path, section in of_paths}


def parse_file_seen(node: str, path: str, section: OutputSection) -> FileSeen | Unknown:
    """Parse the output of `stat` for one file; Unknown where the file is missing or cannot be checked."""
    match [number(word) for word in section.text.split()]:
        case [int(size), int(mtime)] if section.exit_status == 0:
            return FileSeen(size, float(mtime))
    if "No such file" in section.text:
        return Unknown(f"{node} has no file {path}.")
    printed = printed_lines(section.text)
    return Unknown(f"{path} on {node} could not be checked{f': {quoted(printed[-1])}' if printed else ''}.")


async def read_archive(shell: Shell, journal: Journal, path: str, timeout_s: float) -> ArchiveSeen | Unknown | None:
    """List the names in an archive; None where there is no such file. Root alone can list what root alone may read.

    Raises ShellError where the node does not answer in time.
    """
    (topic,) = CHANGE_ARCHIVE.topics
    with journal.entry(shell.node, topic, CHANGE_ARCHIVE.action_on(path)) as entry:
        entry.text = (await shell.run(CHANGE_ARCHIVE, path, timeout_s=timeout_s)).text
        return parse_archive(shell.node, path, entry.text)


def parse_archive(node: str, path: str, text: str) -> ArchiveSeen | Unknown | None:
    """Parse what `tar -tzf` printed for an archive, with the line of its exit status; None for no text."""
    lines = printed_lines(text)
    if not lines:
        return None
    if lines == [UNREADABLE_ARCHIVE]:
        return Unknown(
            f"this user may not read {path} on {node}",
            MissingRight("read the archive", (shell("tar --force-local -tzf {file}", file=path),), f"root on {node}"),
        )
    marker, _, status = lines[-1].partition(" ")
    if marker != ARCHIVE_STATUS or not status.isdecimal():
        return Unknown(f"the list of {path} on {node} is longer than racwire reads")
    if int(status) in (TIMED_OUT, NOT_FOUND):
        why = "tar did not list it in time" if int(status) == TIMED_OUT else f"{node} lacks tar, nice or timeout"
        return Unknown(f"{path} on {node} could not be listed: {why}")
    said = [line for line in lines[:-1] if _COMPLAINT.match(line)]
    names = tuple(line for line in lines[:-1] if line not in said)
    return ArchiveSeen(names, "" if status == "0" else (said[0] if said else f"tar ended with exit status {status}"))


async def read_olr_backup(shell: Shell, journal: Journal, timeout_s: float) -> OcrBackup | Unknown | None:
    """Read the newest manual backup of the node's own registry (OLR); None where there is none.

    Raises ShellError where the node does not answer in time.
    """
    (topic,) = OLR_BACKUP.topics
    with journal.entry(shell.node, topic, OLR_BACKUP.action(topic)) as entry:
        answer = await shell.run(OLR_BACKUP, timeout_s=timeout_s)
        printed: Mapping[str, OutputSection] = sections(answer.text)
        olr = printed.get("olr", OutputSection())
        entry.text = olr.text
        if olr.exit_status == NOT_FOUND:
            return Unknown("the Grid home that olr.loc names has no ocrconfig")
        if refusal := refusal_in(olr.text):
            command = OLR_BACKUP.action(topic)
            return Unknown(
                f"this user may not run `{command}` on {shell.node} ({quoted(refusal)}): root may",
                MissingRight(f"run `{command}` as root", where=f"root on {shell.node}"),
            )
        return parse_manual_backups(olr.text, OLR_BACKUP.action(topic))
