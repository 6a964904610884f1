"""Journals of a cluster's changes that lie on its other nodes: listed and looked at there, never fetched or changed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import msgspec

from checks.change.change_events import Closed, JournalLine
from checks.change.change_journal import SUFFIX, name_of
from checks.model.facts import JournalCopy, Unknown
from checks.model.journal import Journal
from checks.sources.nodes.sections import program, sections
from checks.sources.nodes.shell import Shell

BEGINS_BYTES = 400
"""Of a journal's first line: the time, who began it, and the change's name."""
_MOST = 20
"""Journals that are looked at, the newest by their names; older ones were closed long ago."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")


async def other_copies(
    shell: Shell, journal: Journal, directory: Path, cluster: str, timeout_s: float
) -> tuple[JournalCopy, ...]:
    """The journals of that cluster in the same directory of a peer.

    Raises ShellError when the node does not answer in time.
    """
    listing = _listing(directory, name_of(cluster))
    with journal.entry(shell.node, "change journals", listing) as entry:
        answer = await shell.run(listing, timeout_s=timeout_s)
        names = listed_names(answer.text, directory)
        entry.text = "\n".join(names)
        if not names:
            return ()
        commands = {str(n): _looking_at(directory / name) for n, name in enumerate(names)}
        answer = await shell.run(program(commands), timeout_s=timeout_s)
        told = sections(answer.text)
    return tuple(
        parse_copy(shell.node, str(directory / name), told[str(n)].text)
        for n, name in enumerate(names)
        if str(n) in told
    )


def planned_copies() -> tuple[str, str]:
    """The two programs, for `racwire plan`: one that lists, one that looks at a file."""
    directory = Path("DIR")
    return _listing(directory, "CLUSTER"), _looking_at(directory / f"CLUSTER-ID{SUFFIX}")


def _listing(directory: Path, cluster: str) -> str:
    return f"for file in {shlex.quote(str(directory))}/{cluster}-*{SUFFIX}; do printf '%s\\n' \"$file\"; done"


def _looking_at(path: Path) -> str:
    file = shlex.quote(str(path))
    return f"head -c {BEGINS_BYTES} -- {file}; printf '\\n'; tail -n 2 -- {file}"


def listed_names(text: str, directory: Path) -> list[str]:
    """The names that a peer listed, the newest last; what is no name of a journal is left out, as is the pattern
    itself where nothing matched."""
    beginning = f"{directory}/"
    names = [line.removeprefix(beginning) for line in text.splitlines() if line.startswith(beginning)]
    return sorted(name for name in names if _NAME.fullmatch(name) and name.endswith(SUFFIX))[-_MOST:]


def parse_copy(node: str, path: str, text: str) -> JournalCopy:
    """What the beginning and the last lines of a journal tell; the very last may still be being written."""
    begins, _, rest = text.partition("\n")
    for raw in reversed(rest.splitlines()):
        try:
            line = msgspec.json.decode(raw, type=JournalLine)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        outcome = line.event.outcome if isinstance(line.event, Closed) else ""
        return JournalCopy(node=node, path=path, begins=begins, lines=line.number, outcome=outcome)
    return JournalCopy(node=node, path=path, begins=begins, lines=Unknown("its last line could not be read"))
