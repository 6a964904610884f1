"""The interpreters that a program sent over ssh finds on a node: Perl of the Grid home and of the system, and Python.

Every Grid home has a Perl of its own. Some faults take interpreters from one node, or make one print a banner: the
files of the Grid home change, and in the node another file covers the system's programs.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from racwire_lab.cluster.fault_kind import ActiveFault, of_node
from racwire_lab.cluster.processes import LabJob, Process, into, own_python
from racwire_lab.cluster.ssh_configuration import node_home

_PERL, _BANNER_PERL, _HIDDEN = "perl", "banner_perl", "no_program"
"""Files in the lab's directory: a copy of the machine's Perl, a script that prints a banner first, and no program."""
_BANNER = "*** Oracle Grid Infrastructure: use of this Perl is recorded. ***"
_DIRECTORIES = ("/usr/bin", "/usr/local/bin", "/usr/sbin", "/usr/libexec")
_SYSTEM_PERL = ("perl", "perl5*")
_PYTHON = ("python", "python2", "python2.[0-9]*", "python3", "python3.[0-9]*", "platform-python*")
_NO_FAR_END = "no-far-end"


FAR_END_FAULTS = (
    of_node(
        "no-perl",
        "One node has no Perl.",
        "Removes perl/bin/perl from the node's Grid home, and lets no one run /usr/bin/perl there. Python remains.",
    ),
    of_node(
        "perl-banner",
        "The Perl of the Grid home of one node prints a banner first.",
        "Replaces perl/bin/perl of the node's Grid home by a script that prints a line and then starts the real Perl.",
    ),
    of_node(
        _NO_FAR_END,
        "One node has neither Perl nor Python.",
        "As no-perl, and no one can run a system Python on the node either. Programs of the practice cluster itself "
        "continue.",
    ),
)
"""The faults of the interpreters of a node, in the order of `racwire lab faults`."""


class GridPerl(StrEnum):
    """The Perl of a Grid home."""

    REAL = "real"
    BANNER = "banner"
    NONE = "none"


@dataclass(frozen=True)
class Interpreters:
    """The desired interpreters of a node."""

    grid_perl: GridPerl = GridPerl.REAL
    hidden: tuple[str, ...] = ()
    """Patterns of names of the system's programs that no user of the node can run."""


def interpreters(node: str, broken: frozenset[ActiveFault]) -> Interpreters:
    """Return the desired interpreters of a node with these faults."""
    if ActiveFault(_NO_FAR_END, node, None) in broken:
        return Interpreters(GridPerl.NONE, (*_SYSTEM_PERL, *_PYTHON))
    if ActiveFault("no-perl", node, None) in broken:
        return Interpreters(GridPerl.NONE, _SYSTEM_PERL)
    return Interpreters(GridPerl.BANNER if ActiveFault("perl-banner", node, None) in broken else GridPerl.REAL)


def why_not(fault: str) -> str:
    """Return why this machine cannot have a fault; empty when it can."""
    needed = sorted(str(path) for path in own_python() if str(path.parent) in _DIRECTORIES)
    if fault != _NO_FAR_END or not needed:
        return ""
    return f"the practice nodes themselves run in {needed[0]}, which the fault would hide"


def install(directory: Path) -> None:
    """Copy the machine's Perl for the Grid homes, if it has one, and write the files that replace programs."""
    (directory / _HIDDEN).touch(mode=0o644)
    if found := shutil.which(_PERL):
        shutil.copy(found, directory / _PERL)
        script = f'#!/bin/sh\necho {shlex.quote(_BANNER)}\nexec {shlex.quote(str(directory / _PERL))} "$@"\n'
        (directory / _BANNER_PERL).write_text(script, encoding="utf-8")
        (directory / _BANNER_PERL).chmod(0o755)


def set_grid_perl(directory: Path, home: Path, wanted: GridPerl) -> None:
    """Put the wanted Perl into a Grid home. On a machine without Perl there is none."""
    program = home / "perl" / "bin" / "perl"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.unlink(missing_ok=True)
    sources = {GridPerl.REAL: _PERL, GridPerl.BANNER: _BANNER_PERL}
    if wanted in sources:
        with contextlib.suppress(FileNotFoundError):
            os.link(directory / sources[wanted], program)


def changes(
    directory: Path, nodes: dict[str, Process], before: dict[str, Interpreters], after: dict[str, Interpreters],
    *, rootless: bool,
) -> Iterator[LabJob]:  # fmt: skip
    """Change the interpreters of the nodes; yield the jobs that hide and show those of the system."""
    for node, wanted in after.items():
        if wanted.grid_perl != before[node].grid_perl:
            set_grid_perl(directory, node_home(directory, node) / "grid", wanted.grid_perl)
        steps = [
            *_covering(directory / _HIDDEN, set(before[node].hidden) - set(wanted.hidden), covers=False),
            *_covering(directory / _HIDDEN, set(wanted.hidden) - set(before[node].hidden), covers=True),
        ]
        if steps:
            argv = [*into(nodes[node], "mount", "pid", rootless=rootless), "sh", "-e", "-c", "\n".join(steps)]
            yield LabJob(argv, "", f"change the programs of {node}")


def _covering(cover: Path, names: set[str], *, covers: bool) -> Iterator[str]:
    """Yield the shell commands that cover or uncover the programs of these names."""
    file = shlex.quote(str(cover))
    change = f'[ "$found" -ef {file} ] || mount -n --bind {file} "$found"'
    if not covers:
        change = f'[ ! "$found" -ef {file} ] || umount -n "$found"'
    if names:
        places = " ".join(f"{directory}/{name}" for directory in _DIRECTORIES for name in sorted(names))
        # A name can be a link; several names can lead to one file.
        yield f'for name in {places}; do\n[ -e "$name" ] || continue\nfound=$(readlink -f "$name")\n{change}\ndone'
