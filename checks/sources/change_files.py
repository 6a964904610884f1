"""The registry's entries for what a change leaves: its backups, journals and recordings."""

from __future__ import annotations

from checks.sources.entries import CLUSTER, DIRECTORY, FILES, Argument, Program, Read, RegistryEntry, RunsOn
from checks.sources.node_setup import home_tool
from checks.sources.sh_text import MARK, program

CHANGE_RECORDINGS = RegistryEntry(
    name="recordings",
    groups=("changing",),
    where=RunsOn.HERE,
    purpose="the measurements before and after the change",
    reads=(Read("", "recordings", "the recordings before and after the change, each read once"),),
)
NODE_ADDRESSES = RegistryEntry(
    name="node addresses",
    groups=("changing",),
    where=RunsOn.HERE,
    purpose="whether racwire reaches a node over a network that the change affects",
    reads=(Read("", "names", "the addresses of the nodes' names, from the system's resolver"),),
)

_STAT = f"""\
for file in "$@"; do
printf '\\n{MARK} file\\n'
(stat -L -c '%s %Y' -- "$file") 2>&1
printf '\\n{MARK} end %s\\n' $?
done
"""
CHANGE_BACKUPS = Program(
    name="change files",
    groups=("changing",),
    where=RunsOn.NODES,
    purpose="size and time of the backups that a change ID starts with",
    text=_STAT,
    reads=(Read("change files", "backups", "stat -L -c '%s %Y' -- FILE"),),
    arguments=(FILES,),
    example=tuple(
        f"/var/tmp/racwire-ID/{name}"  # noqa: S108 - a path that is only read
        for name in ("network.tar.gz", "ip-address.txt", "ip-route.txt")
    ),
)
_ARCHIVE_LIMIT_S = 4
_MOST_ARCHIVED_BYTES = 200_000
"""Bytes of an archive's list of names that are read; the archive of a node has some dozens of files."""
UNREADABLE_ARCHIVE = f"{MARK}-archive-unreadable"
ARCHIVE_STATUS = f"{MARK}-archive-status"
"""The start of the line with tar's exit status. It is missing where the list is longer than what is read."""
CHANGE_ARCHIVE = Program(
    name="change archive",
    groups=("changing",),
    where=RunsOn.NODES,
    purpose="the names in the archive of a node's network files: they show that it can be read, and what it saves",
    # tar reads options from TAR_OPTIONS, too. A name with a colon would be a file of another host.
    text=(
        f'if [ -f "$1" ] && [ -r "$1" ]; then (TAR_OPTIONS= timeout {_ARCHIVE_LIMIT_S} nice '
        f'tar --force-local -tzf "$1"; '
        f"printf '\\n{ARCHIVE_STATUS} %s\\n' $?) 2>&1 | head -c {_MOST_ARCHIVED_BYTES}; "
        f"elif [ -e \"$1\" ]; then printf '{UNREADABLE_ARCHIVE}\\n'; fi"
    ),
    reads=(
        Read(
            "change archive",
            "archive",
            f"timeout {_ARCHIVE_LIMIT_S} nice tar --force-local -tzf ARCHIVE",
            "root: the step backups makes the archive readable for root only",
        ),
    ),
    arguments=(Argument("ARCHIVE", FILES.pattern),),
    example=("/var/tmp/racwire-ID/network.tar.gz",),  # noqa: S108 - a path that is only read
)
OLR_BACKUP = Program(
    name="olr backup",
    groups=("changing",),
    where=RunsOn.NODES,
    purpose="the last manual backup of the node's own registry (OLR), from the Grid home that olr.loc names",
    text=program({"olr": home_tool("ocrconfig -local -showbackup manual")}, with_errors=("olr",)),
    reads=(Read("ocrconfig -local", "registry", "ocrconfig -local -showbackup manual", "root"),),
)

_FIRST_BYTES = 400
"""Bytes of a journal's first line: the time, the operator who started the change, and the change's name."""
CHANGE_JOURNALS = Program(
    name="change journals",
    groups=("changing",),
    where=RunsOn.PEERS,
    purpose="the names of the journals of this cluster's changes, with every check of the state",
    text='for file in "$1/$2"-*.change; do printf \'%s\\n\' "$file"; done',
    reads=(Read("change journals", "names", "ls DIRECTORY/CLUSTER-*.change"),),
    arguments=(DIRECTORY, CLUSTER),
    example=("/DIR", "CLUSTER"),
)
JOURNAL_ENDS = Program(
    name="journal ends",
    groups=("changing",),
    where=RunsOn.PEERS,
    purpose="the operator who started each change of this cluster, and its last step; the stored hashes of its journal",
    text=f"""\
for file in "$@"; do
printf '\\n{MARK} file\\n'
(head -c {_FIRST_BYTES} -- "$file"; printf '\\n'; tail -n 2 -- "$file") 2>/dev/null
printf '\\n{MARK} end %s\\n' $?
done
""",
    reads=(Read("change journals", "journals", f"head -c {_FIRST_BYTES} -- FILE; tail -n 2 -- FILE"),),
    arguments=(FILES,),
    example=("/DIR/CLUSTER-ID.change",),
)
