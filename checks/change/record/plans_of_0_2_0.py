"""Reads the lines of journals that racwire 0.2.0 wrote, with sentences where there are typed fields now.

Nothing else reads a sentence back. The digests of a journal are those of its lines as they are in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from checks.change.plan.change_plan import SCHEMA
from checks.change.plan.command_block import Who
from checks.change.progress.change_events import JournalLine
from checks.model.own_command import CHANGE, EXPERIMENT, OwnCommand
from checks.model.shell_command import Language

OLD_SCHEMA = "racwire-change/1"
_OWN = re.compile(
    r"racwire (?P<program>change|experiment)"
    r"(?: (?P<name>new|next|verify|attest|override|note|rollback|abandon|report|status|list))?(?: (?P<arguments>[^`]+))?"
)
_QUOTED = re.compile(rf"`{_OWN.pattern}`")
_VERIFY_AGAIN = re.compile(r"Then \w+( it| the gate)? again:?")
_OPTIONAL = re.compile(r" \(optional(, [^)]*)?\)$")
_WITH_NODE = (
    (re.compile(r"(?P<by_hand>By hand, as )root on (?P<node>\S+?)(?:, (?P<purpose>.*))?"), Who.ROOT),
    (re.compile(r"As root on (?P<node>\S+?)(?:, (?P<purpose>.*))?"), Who.ROOT),
    (re.compile(r"As the Grid owner(?: \((?P<name>[^)]*)\))? on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"), Who.GRID_OWNER),
    (re.compile(r"As the owner of database (?P<name>.+?) on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"), Who.DATABASE_OWNER),
    (re.compile(r"As SYSDBA of (?P<name>.+?), in SQL\*Plus(?: on (?P<place>[^,]+))?(?:, (?P<purpose>.*))?"), Who.SYSDBA),
    (re.compile(r"As SYSASM \(sqlplus / as sysasm\) on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"), Who.SYSASM),
    (re.compile(r"As the owner of the Enterprise Manager agent, on (?P<place>[^,]+)"), Who.AGENT_OWNER),
    (re.compile(r"As any user on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"), Who.ANY_USER),
    (re.compile(r"As (?P<name>\S+|the user of racwire) on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"), Who.RACWIRE_USER),
    (re.compile(r"To ask (?P<name>.*)"), Who.ASKED),
    (re.compile(r"(?P<place>On .*?) \((?P<name>[^()]*)\)"), Who.OPERATOR),
)
"""The headings of blocks. Any other heading becomes the place of an operator, and is shown as it was."""
