"""A peer, read in one trip: one program of plain `sh`, whose answer is cut into sections and parsed.

The peer needs `sh`, `cat`, `grep` and `ip`. The answer gives the same facts as netlink does on this node.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from checks.model.facts import Node
from checks.model.journal import Journal
from checks.sources.nodes.ip_text import parse_interfaces, parse_neighbours, parse_routes
from checks.sources.nodes.proc import COUNTER_FILES, SPEED_FILES, parse_counters, parse_values, with_speeds
from checks.sources.nodes.sections import Section, program, sections
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.nodes.sysctls import INTERFACE_SYSCTLS, KERNEL_RELEASE_PATH, NODE_SYSCTLS, PROC_SYS, sysctls

COMMANDS = {
    "interfaces": "ip -d addr show",
    "speeds": f"cd /sys/class/net && grep -H . -- {' '.join(f'*/{name}' for name in SPEED_FILES)}",
    "routes": "ip -4 route show",
    "routes6": "ip -6 route show",
    "neighbours": "ip neigh show",
    "counters": f"cat {' '.join(COUNTER_FILES)}",
    # cat and grep read a file whole; the `read` of some shells goes byte by byte, and gets one digit from /proc/sys.
    "sysctls": (
        f"cd {PROC_SYS} && grep -H . -- {KERNEL_RELEASE_PATH} "
        + " ".join(key.replace(".", "/") for key in NODE_SYSCTLS)
        + "".join(f" net/ipv4/conf/*/{name}" for name in INTERFACE_SYSCTLS)
    ),
}
"""What is run for each section. Each of them shows what there is and leaves out what there is not."""

_JOURNAL_TOPICS = ("interfaces", "routes", "neighbours", "counters", "sysctls")
_SAYS_WHY = ("interfaces", "routes", "routes6", "neighbours", "counters")
"""Sections whose error messages are evidence; grep's are about files that are known to be missing on many nodes."""

PROGRAM = program(COMMANDS, _SAYS_WHY)
"""Everything that is read of a peer; changes nothing there. About ten short-lived processes."""


def parse_node(name: str, text: str) -> Node:
    """The node from what PROGRAM printed. Never raises: what makes no sense is left out, or Unknown."""
    return _node(name, sections(text))


async def read_peer(shell: Shell, journal: Journal, timeout_s: float) -> Node:
    """Read a peer. Raises ShellError when it does not answer in time, or its answer shows no interface at all."""
    with ExitStack() as journalled:
        entries = {
            topic: journalled.enter_context(journal.entry(shell.node, topic, _action(topic)))
            for topic in _JOURNAL_TOPICS
        }
        answer = await shell.run(PROGRAM, timeout_s=timeout_s)
        told = sections(answer.text)
        for topic, entry in entries.items():
            entry.text = "\n\n".join(told[s].text for s in _sections_of(topic) if s in told)
            if topic not in told:
                entry.outcome = "not in the answer"
            elif told[topic].exit_status and topic in _SAYS_WHY:
                entry.outcome = f"exit status {told[topic].exit_status}"
        node = _node(shell.node, told)
        if not node.interfaces:
            said = told.get("interfaces", Section()).text.partition("\n")[0]
            raise ShellError(
                f"{shell.node} answered, but `{COMMANDS['interfaces']}` showed no interface there"
                f"{f' ({said})' if said else ''}: is iproute installed?",
                answer.text,
            )
        return node


def _node(name: str, told: Mapping[str, Section]) -> Node:
    text = {section: told.get(section, Section()).text for section in COMMANDS}
    interfaces = with_speeds(parse_interfaces(text["interfaces"]), parse_values(text["speeds"]))
    values = parse_values(text["sysctls"])
    return Node(
        name=name,
        read_by="ssh",
        kernel_release=values.get(KERNEL_RELEASE_PATH, ""),
        interfaces=interfaces,
        routes=parse_routes(f"{text['routes']}\n{text['routes6']}"),
        neighbours=parse_neighbours(text["neighbours"]),
        counters=parse_counters(text["counters"]),
        sysctls=sysctls((interface.name for interface in interfaces), values),
        limits=tuple(
            f"The {topic} of {name} could not be read: {_reason(told.get(topic))}"
            for topic in ("routes", "neighbours")
            if told.get(topic, Section(exit_status=1)).exit_status
        ),
    )


def _reason(section: Section | None) -> str:
    if section is None:
        return "it was not in the answer."
    last_line = section.text.rpartition("\n")[2].strip()
    return f"{last_line or 'ip said nothing'} (exit status {section.exit_status})."


def _sections_of(topic: str) -> tuple[str, ...]:
    return {"interfaces": ("interfaces", "speeds"), "routes": ("routes", "routes6")}.get(topic, (topic,))


def _action(topic: str) -> str:
    return "; ".join(COMMANDS[section] for section in _sections_of(topic))
