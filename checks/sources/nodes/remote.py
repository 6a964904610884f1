"""Read a peer in one round trip: one program of plain `sh`, whose answer is split into sections and parsed.

The peer needs `sh`, `cat`, `grep` and `ip`. The facts are the same as those that netlink provides on this node.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from checks.model.facts import Node, Unknown
from checks.model.journal import Journal
from checks.sources.kernel_files import KERNEL_RELEASE_PATH, PEER, PEER_WITH_ERRORS
from checks.sources.nodes.ip_text import parse_interfaces, parse_neighbours, parse_routes
from checks.sources.nodes.proc import parse_counters, parse_locks, parse_values, with_speeds
from checks.sources.nodes.sections import OutputSection, sections
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.nodes.sysctls import sysctls


def parse_node(name: str, text: str) -> Node:
    """Parse the output of the program PEER. Never raises: text that cannot be parsed is left out, or Unknown."""
    return _node(name, sections(text))


async def read_peer(shell: Shell, journal: Journal, timeout_s: float) -> Node:
    """Read a peer. Raises ShellError where the peer does not answer in time, or its answer has no interface."""
    with ExitStack() as journalled:
        entries = {
            topic: journalled.enter_context(journal.entry(shell.node, topic, PEER.action(topic)))
            for topic in PEER.topics
        }
        answer = await shell.run(PEER, timeout_s=timeout_s)
        parts = sections(answer.text)
        for topic, entry in entries.items():
            entry.text = "\n\n".join(parts[s].text for s in PEER.sections[topic] if s in parts)
            if topic not in parts:
                entry.outcome = "not in the answer"
            elif parts[topic].exit_status and topic in PEER_WITH_ERRORS:
                entry.outcome = f"exit status {parts[topic].exit_status}"
        node = _node(shell.node, parts)
        if not node.interfaces:
            printed = parts.get("interfaces", OutputSection()).text.partition("\n")[0]
            raise ShellError(
                f"{shell.node} answered, but `ip -d addr show` showed no interface there"
                f"{f' ({printed})' if printed else ''}: check that iproute is installed on {shell.node}.",
                answer.text,
            )
        return node


def _node(name: str, parts: Mapping[str, OutputSection]) -> Node:
    text = {section: parts.get(section, OutputSection()).text for part in PEER.sections.values() for section in part}
    interfaces = with_speeds(parse_interfaces(text["interfaces"]), parse_values(text["speeds"]))
    values = parse_values(text["sysctls"])
    unread = {
        topic: Unknown(f"The {topic} of {name} could not be read: {_reason(parts.get(topic))}")
        for topic in ("routes", "neighbours")
        if parts.get(topic, OutputSection(exit_status=1)).exit_status
    }
    return Node(
        name=name,
        read_by="ssh",
        kernel_release=values.get(KERNEL_RELEASE_PATH, ""),
        interfaces=interfaces,
        routes=parse_routes(f"{text['routes']}\n{text['routes6']}"),
        neighbours=parse_neighbours(text["neighbours"]),
        counters=parse_counters(text["counters"]),
        sysctls=sysctls((interface.name for interface in interfaces), values),
        unread=tuple(unread.values()),
        neighbours_unread=unread.get("neighbours"),
        racwires=parse_locks(text["racwires"]),
    )


def _reason(section: OutputSection | None) -> str:
    if section is None:
        return "the answer ended before this part."
    last_line = section.text.rpartition("\n")[2].strip()
    return f"{last_line or 'ip printed nothing'} (exit status {section.exit_status})."
