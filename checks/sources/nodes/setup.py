"""What a node would be after its next boot, and what runs on it: read in one trip by one program of plain `sh`."""

from __future__ import annotations

from contextlib import ExitStack

from checks.model.facts import NodeSetup
from checks.model.journal import Journal
from checks.sources.node_setup import SETUP
from checks.sources.nodes.sections import sections
from checks.sources.nodes.setup_text import parse_setup
from checks.sources.nodes.shell import Shell


async def read_setup(shell: Shell, journal: Journal, timeout_s: float) -> NodeSetup:
    """Read a node's setup. Raises ShellError when it does not answer in time.

    It stands in the journal under the topics `setup`, `boot files` and `lldp`.
    """
    with ExitStack() as journalled:
        entries = {
            topic: journalled.enter_context(journal.entry(shell.node, topic, SETUP.action(topic)))
            for topic in SETUP.topics
        }
        answer = await shell.run(SETUP, timeout_s=timeout_s)
        told = sections(answer.text)
        for topic, entry in entries.items():
            said = {part: told[part].text for part in SETUP.sections[topic] if part in told}
            entry.text = "\n\n".join(f"{part}:\n{text}" for part, text in said.items() if text)
            if len(said) < len(SETUP.sections[topic]):
                entry.outcome = "the answer ended before it was whole"
        return parse_setup(shell.node, told)
