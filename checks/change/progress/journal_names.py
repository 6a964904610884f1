"""The files of a change: the names of its journal, and of the hashes of its last line that people keep on other nodes.

No I/O: racwire prints the commands that store a hash, and reads what is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from checks.change.plan.change_plan import Plan
from checks.change.progress.change_events import JournalSeal
from checks.model.shell_command import shell

SUFFIX = ".change"
EXPERIMENTS = "experiments"
"""The directory of the journals of experiments, below that of the changes: an open experiment allows a change."""
_STORED = re.compile(r"(\d{1,9}) ([0-9a-f]{64})", re.ASCII)


def name_of(text: str) -> str:
    """Return the name of a cluster or plan as a part of a file name, with `_` for other characters."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)[:80] or "_"


def noun_of(directory: Path) -> str:
    """Return the word for what the journals of a directory are about: `change` or `experiment`."""
    return "experiment" if directory.name == EXPERIMENTS else "change"


def file_name(plan: Plan) -> str:
    """Return the name of the file of a change's journal."""
    return f"{name_of(plan.cluster)}-{name_of(plan.id)}{SUFFIX}"


def hash_path(directory: Path, plan: Plan) -> Path:
    """Return the path, on every other node, of the hashes of a journal: `.../prodrac-2026-11-20-a.sha256`."""
    return (directory.absolute() / file_name(plan)).with_suffix(".sha256")


def store_commands(directory: Path, plan: Plan, seal: JournalSeal, peers: Iterable[str]) -> Iterator[str]:
    """Yield the command for each peer that appends the number and the hash of the last line there.

    racwire prints these commands and does not run them.
    """
    path = hash_path(directory, plan)
    line = shell(
        "mkdir -p {directory} && echo {number} {sha256} >> {path}",
        directory=str(path.parent),
        number=seal.lines,
        sha256=seal.sha256,
        path=str(path),
    )
    yield from (shell("ssh {peer} {line}", peer=peer, line=line) for peer in peers)


def parse_stored(text: str) -> tuple[tuple[int, str], ...]:
    """Return the numbers and hashes of lines in the file of a peer, each once; other lines are left out."""
    found = (_STORED.fullmatch(line.strip()) for line in text.splitlines())
    return tuple(dict.fromkeys((int(match[1]), match[2]) for match in found if match))
