"""Journals of a cluster's changes on its other nodes: racwire lists and reads them there, and never changes them."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from checks.change.plan.change_plan import Plan
from checks.change.progress.change_events import Closed
from checks.change.progress.journal_names import SUFFIX, hash_path, name_of, parse_stored
from checks.change.record.plans_of_0_2_0 import decoded
from checks.model.facts import JournalCopy, StoredHash, Unknown
from checks.model.journal import Journal
from checks.sources.change_files import CHANGE_JOURNALS, JOURNAL_ENDS
from checks.sources.nodes.sections import section_list
from checks.sources.nodes.shell import Shell

_MOST = 20
"""The number of journals that are read, the newest by name; older ones were closed long ago."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")


async def other_copies(
    shell: Shell, journal: Journal, directory: Path, cluster: str, timeout_s: float
) -> tuple[JournalCopy, ...]:
    """Return the journals of a cluster in the same directory of a peer.

    Raises ShellError if the node does not answer within `timeout_s` seconds.
    """
    (topic,) = CHANGE_JOURNALS.topics
    where = _absolute(directory), name_of(cluster)
    with journal.entry(shell.node, topic, CHANGE_JOURNALS.action_on(*where)) as entry:
        answer = await shell.run(CHANGE_JOURNALS, *where, timeout_s=timeout_s)
        names = listed_names(answer.text, directory)
        entry.text = "\n".join(names)
        if not names:
            return ()
        paths = [str(directory / name) for name in names]
        answer = await shell.run(JOURNAL_ENDS, *paths, timeout_s=timeout_s)
        texts = [section.text for _, section in section_list(answer.text)]
    return tuple(parse_copy(shell.node, path, text) for path, text in zip(paths, texts, strict=False))


async def stored_hashes(
    shell: Shell, journal: Journal, directory: Path, plan: Plan, timeout_s: float
) -> tuple[StoredHash, ...]:
    """Return the hashes of this change's journal that people stored on a peer: the first ones and the last.

    Raises ShellError if the node does not answer within `timeout_s` seconds.
    """
    (topic,) = JOURNAL_ENDS.topics
    path = str(hash_path(directory, plan))
    with journal.entry(shell.node, topic, JOURNAL_ENDS.action_on(path)) as entry:
        answer = await shell.run(JOURNAL_ENDS, path, timeout_s=timeout_s)
        found = [stored for _, section in section_list(answer.text) for stored in parse_stored(section.text)]
        entry.text = "\n".join(f"{line} {sha256}" for line, sha256 in found)
    return tuple(StoredHash(path, line, sha256) for line, sha256 in found)


def _absolute(directory: Path) -> str:
    return str(directory.absolute())


def listed_names(text: str, directory: Path) -> list[str]:
    """Return the journal names in a peer's listing, the newest last.

    Other names are left out, also the pattern itself, which the shell prints when no file matches.
    """
    beginning = f"{directory}/"
    names = [line.removeprefix(beginning) for line in text.splitlines() if line.startswith(beginning)]
    return sorted(name for name in names if _NAME.fullmatch(name) and name.endswith(SUFFIX))[-_MOST:]


def parse_copy(node: str, path: str, text: str) -> JournalCopy:
    """Return the journal described by its first line and its last complete line."""
    begins, _, rest = text.partition("\n")
    for raw in reversed(rest.splitlines()):
        try:
            line = decoded(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        outcome = line.event.outcome if isinstance(line.event, Closed) else ""
        return JournalCopy(node=node, path=path, begins=begins, lines=line.number, outcome=outcome)
    return JournalCopy(node=node, path=path, begins=begins, lines=Unknown("its last line could not be read"))
