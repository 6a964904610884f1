"""Why an Oracle cluster tool gave no answer, in a sentence that a DBA can act on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from checks.model.facts import ToolMessage
from checks.sources.clusterware.grid_home import how_to_run_as_owner
from checks.sources.clusterware.grid_tool_command import CommandOutput
from checks.sources.clusterware.oracle_text import printed_lines, quoted, read_messages

# OHASD is not there, so nothing of the stack is.
_ALL_DOWN = frozenset({"CRS-4639"})
# Another daemon cannot be contacted: the stack, or that part of it, is down on this node.
_PART_DOWN = frozenset({"CRS-4535", "CRS-4530", "CRS-4534", "PRCO-2", "PRCO-19", "PRKH-1053", "PRIF-12"})
# The cluster registry or the GPnP profile cannot be read: so it is while the stack is down, and for some users always.
_REGISTRY = frozenset({"PRIF-10", "PRIF-11", "PRIF-23", "PRIF-24", "PROC-15"})
# PROC-5 and PROC-6: the user has no permission on the registry (Error Messages, PROC-00005, PROC-00006).
_NOT_PERMITTED = frozenset({"PROC-5", "PROC-6", "CRS-4563"})
_NOT_PERMITTED_WORDS = re.compile(r"permission denied|insufficient (user )?privileges", re.IGNORECASE)
_USAGE = re.compile(r"\busage\s*:|invalid (argument|option|parameter)|parse error|unknown (option|parameter)", re.I)


@dataclass(frozen=True, slots=True)
class Asker:
    """The user as whom the tools are run, and whose tools they are."""

    user: str
    grid_owner: str
    is_outsider: bool
    """Neither root nor the Grid owner nor in the group of the tools: the manuals promise such a user nothing."""

    def not_permitted(self, command: str) -> str:
        """The user may not run the command; who may."""
        return f"`{command}` may not be run by {self.user}: {how_to_run_as_owner(self.grid_owner)}."


def explain_failure(command: str, output: CommandOutput, asker: Asker) -> str | None:
    """Why the command, which did run, gave no answer; None when it tells no reason that racwire knows.

    The codes are those of the Error Messages manual, their numbers without padding.
    """
    if output.exit_status < 0:
        return f"`{command}` was ended by signal {-output.exit_status}."
    messages = read_messages(output.text)
    codes = {message.code for message in messages}
    if codes & _NOT_PERMITTED or _NOT_PERMITTED_WORDS.search(output.text):
        return asker.not_permitted(command)
    if told := _first(messages, _ALL_DOWN):
        return f"Clusterware is not running on this node: `{command}` answered {_as_printed(told)}."
    told = _first(messages, _PART_DOWN)
    if told is None and (told := _first(messages, _REGISTRY)) and asker.is_outsider:
        return (
            f"`{command}` could not open the cluster registry as {asker.user} ({_as_printed(told)}): "
            f"{how_to_run_as_owner(asker.grid_owner)}; the same answer there means that Clusterware is not running."
        )
    if told:
        return f"Clusterware is not running on this node, or only in part: `{command}` answered {_as_printed(told)}."
    if output.exit_status != 0:
        lines = printed_lines(output.text)
        said = f": {quoted(lines[0])}" if lines else " and printed nothing"
        return f"`{command}` failed with exit status {output.exit_status}{said}."
    return None


def is_usage_error(text: str) -> bool:
    """Whether a tool refused its arguments, as an older release does with an option that it does not have."""
    return _USAGE.search(text) is not None


def _first(messages: tuple[ToolMessage, ...], codes: frozenset[str]) -> ToolMessage | None:
    return next((message for message in messages if message.code in codes), None)


def _as_printed(message: ToolMessage) -> str:
    return quoted(f"{message.code}: {message.text}")
