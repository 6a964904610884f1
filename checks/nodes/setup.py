"""What a node would be after its next boot, and what runs on it: read in one trip by one program of plain `sh`."""

from __future__ import annotations

from checks.facts import NodeSetup, Unknown
from checks.journal import Journal
from checks.nodes.shell import Shell

PROGRAM = "cat /proc/sys/kernel/random/boot_id"
"""Everything that is read; changes nothing there."""


async def read_setup(shell: Shell, journal: Journal, timeout_s: float) -> NodeSetup:
    """Read a node's setup. Raises ShellError when it does not answer in time."""
    with journal.entry(shell.node, "setup", PROGRAM) as entry:
        answer = await shell.run(PROGRAM, timeout_s=timeout_s)
        entry.text = answer.text
        boot_id = answer.text.strip()
        return NodeSetup(shell.node, boot_id=boot_id or Unknown("the kernel did not tell its boot id"))
