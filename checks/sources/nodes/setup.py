"""Read a node's setup in one round trip, by one program of plain `sh`: running software and boot configuration."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from checks.model.facts import NodeSetup
from checks.model.journal import Journal
from checks.sources.entries import BY_SUDO
from checks.sources.nic_drivers import NO_NIC, queried
from checks.sources.node_setup import SETUP
from checks.sources.nodes.sections import sections
from checks.sources.nodes.setup_text import parse_setup
from checks.sources.nodes.shell import Shell


async def read_setup(
    shell: Shell,
    journal: Journal,
    timeout_s: float,
    *,
    sudo: bool = False,
    grid_owner: str = "",
    nics: Sequence[str] = (),
) -> NodeSetup:
    """Read a node's setup; `sudo` permits `sudo -n` for tools that refuse this user.

    `grid_owner` is the owner of the Grid home, who is the same user on all nodes; empty where it is not known.
    `nics` are the private NICs, whose drivers are queried.

    Raises ShellError where the node does not answer in time.
    The journal has it under the topics `setup`, `boot files`, `host` and `lldp`.
    """
    with ExitStack() as journalled:
        entries = {
            topic: journalled.enter_context(journal.entry(shell.node, topic, SETUP.action(topic)))
            for topic in SETUP.topics
        }
        answer = await shell.run(SETUP, BY_SUDO if sudo else "no", *(queried(nics) or (NO_NIC,)), timeout_s=timeout_s)
        parts = sections(answer.text)
        for topic, entry in entries.items():
            texts = {name: parts[name].text for name in SETUP.sections[topic] if name in parts}
            entry.text = "\n\n".join(f"{name}:\n{text}" for name, text in texts.items() if text)
            if len(texts) < len(SETUP.sections[topic]):
                entry.outcome = "the answer is incomplete"
        return parse_setup(shell.node, parts, grid_owner)
