"""Explain the failure of an Oracle cluster tool in a sentence that a DBA can act on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from checks.model.facts import MissingRight, ToolMessage, Unknown
from checks.sources.clusterware.grid_home import how_to_run_as_owner, right_to_the_tools
from checks.sources.clusterware.grid_tool_command import CommandOutput
from checks.sources.clusterware.oracle_text import (
    as_printed,
    printed_lines,
    quoted,
    read_message,
    read_messages,
    refusal_in,
)

# OHASD does not run, so no part of the stack runs.
_ALL_DOWN = frozenset({"CRS-4639"})
# Another daemon cannot be contacted: the stack, or that part of it, is down on this node.
_PART_DOWN = frozenset({"CRS-4535", "CRS-4530", "CRS-4534", "PRCO-2", "PRCO-19", "PRKH-1053", "PRIF-12"})
# The cluster registry or the GPnP profile cannot be read: while the stack is down, and for some users always.
_REGISTRY = frozenset({"PRIF-10", "PRIF-11", "PRIF-23", "PRIF-24", "PROC-15"})
# PROC-5 and PROC-6: the user has no permission on the registry (Error Messages, PROC-00005, PROC-00006).
_NOT_PERMITTED = frozenset({"PROC-5", "PROC-6", "CRS-4563"})
_SUDO_REFUSED = re.compile(r"^(sudo: .*|Sorry, user .*)$", re.MULTILINE)
_SUDO_BROKEN = re.compile(
    r"^sudo: .*(?:is (?:world|group) writable|is owned by [ug]id|is mode 0|unable to (?:open|stat|read|initialize)"
    r"|no valid sudoers|setuid|effective uid is not 0).*$",
    re.MULTILINE,
)
"""What sudo prints where its installation or sudoers is at fault; no line of sudoers can help."""
_USAGE = re.compile(r"\busage\s*:|invalid (argument|option|parameter)|parse error|unknown (option|parameter)", re.I)


@dataclass(frozen=True, slots=True)
class ToolUser:
    """The user who runs the tools, and the owner of the tools."""

    user: str
    grid_owner: str
    is_outsider: bool
    """Neither root nor the Grid owner nor in the group of the tools: the manuals promise such a user nothing."""

    @property
    def right(self) -> MissingRight:
        """The right to run the tools."""
        return right_to_the_tools(self.grid_owner)

    def not_permitted(self, command: str) -> str:
        """The message that the user may not run the command, and how to run it."""
        return f"{self.user} may not run `{command}`: {how_to_run_as_owner(self.grid_owner)}."


def explain_failure(command: str, output: CommandOutput, tool_user: ToolUser) -> Unknown | None:
    """Why a command that ran printed no answer; None where its output has no reason that racwire knows.

    The codes are those of the Error Messages manual, their numbers without padding.
    """
    if output.exit_status < 0:
        return Unknown(f"Signal {-output.exit_status} ended `{command}`.")
    if broken := _SUDO_BROKEN.search(output.stderr):
        return Unknown(
            f"sudo does not work on this node ({quoted(broken[0].strip())}): have root repair it, or "
            f"{how_to_run_as_owner(tool_user.grid_owner, by_sudo=False)}.",
            MissingRight(tool_user.right.needed),
        )
    if refused := _SUDO_REFUSED.search(output.stderr):
        return Unknown(
            f"sudo does not let {tool_user.user} run `{command}` as {tool_user.grid_owner} "
            f"({quoted(refused[0].strip())}): have root install the lines that `racwire plan --sudoers` prints.",
            tool_user.right,
        )
    messages = read_messages(output.text)
    codes = {message.code for message in messages}
    if codes & _NOT_PERMITTED or refusal_in(output.text):
        return Unknown(tool_user.not_permitted(command), tool_user.right)
    if message := _first(messages, _ALL_DOWN):
        return Unknown(f"Clusterware is not running on this node: `{command}` printed {as_printed(message)}.")
    message = _first(messages, _PART_DOWN)
    if message is None and (message := _first(messages, _REGISTRY)) and tool_user.is_outsider:
        return Unknown(
            f"`{command}` could not open the cluster registry as {tool_user.user} ({as_printed(message)}): "
            f"{how_to_run_as_owner(tool_user.grid_owner)}. If the answer is the same, Clusterware is not running.",
            tool_user.right,
        )
    if message:
        return Unknown(
            f"Clusterware is not running on this node, or only in part: `{command}` printed {as_printed(message)}."
        )
    if output.exit_status != 0:
        lines = printed_lines(output.text)
        # A tool such as lsnrctl prints its version before the message.
        first = next((line for line in lines if read_message(line)), lines[0] if lines else "")
        printed = f": {quoted(first)}" if lines else " and printed nothing"
        return Unknown(f"`{command}` failed with exit status {output.exit_status}{printed}.")
    return None


def is_stack_down(output: CommandOutput) -> bool:
    """Whether the output can be that of a tool on a node whose Clusterware stack is down, whole or in part."""
    return any(message.code in _ALL_DOWN | _PART_DOWN | _REGISTRY for message in read_messages(output.text))


def stack_down(command: str, services: tuple[ToolMessage, ...]) -> Unknown | None:
    """Why no tool answers, where `crsctl check crs` printed that the stack is down; None where it printed otherwise."""
    if message := _first(services, _ALL_DOWN):
        return Unknown(f"Clusterware is not running on this node: `{command}` printed {as_printed(message)}.")
    if message := _first(services, _PART_DOWN):
        return Unknown(f"Clusterware is running only in part on this node: `{command}` printed {as_printed(message)}.")
    return None


def is_usage_error(text: str) -> bool:
    """Whether a tool refused its arguments, as an older release does with an option that it does not have."""
    return _USAGE.search(text) is not None


def _first(messages: tuple[ToolMessage, ...], codes: frozenset[str]) -> ToolMessage | None:
    return next((message for message in messages if message.code in codes), None)
