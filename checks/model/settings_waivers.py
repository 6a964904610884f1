"""Waivers in the settings: findings that the operator knows and accepts until a day."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

LONGEST_DAYS = 366
"""The most days until a waiver expires: a finding that is never reviewed is forgotten, not accepted. Ours."""

_TEXT = 500


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Findings that you know and accept. They stay in every report, with a mark, and do not count in the exit code
    until the waiver expires or the finding gets worse. `racwire waive` writes such a table."""

    code: Annotated[str, Meta(max_length=64, description="The code of the finding.", examples=['"IC-BOOT-002"'])]
    subject: Annotated[
        str,
        Meta(
            max_length=_TEXT,
            description="The subject of the finding, as in the console's list; * stands for any text.",
            examples=['"eth2 rac1"'],
        ),
    ]
    reason: Annotated[
        str,
        Meta(max_length=_TEXT, description="The reason to accept it.", examples=['"fixed in the window of January"']),
    ]
    by: Annotated[
        str, Meta(max_length=100, description="The person who is responsible for the waiver.", examples=['"Ann Lee"'])
    ]
    expires: Annotated[
        date,
        Meta(
            description=f"The last day on which the waiver is in force, at most {LONGEST_DAYS} days ahead.",
            examples=["2027-01-31"],
        ),
    ]
    status: Annotated[
        Literal["WARN", "FAIL", "UNKNOWN"],
        Meta(
            description="The status of the finding when it was waived. FAIL lifts WARN; FAIL also covers warnings. "
            "UNKNOWN lifts both of them; a waiver of UNKNOWN covers only UNKNOWN.",
            examples=['"WARN"'],
        ),
    ] = "WARN"
    extent: Annotated[
        float | None,
        Meta(
            description="The highest accepted extent, where the finding has a number: a higher one lifts the waiver. "
            "`racwire waive` writes a count unchanged, and a measured value with headroom, since two measurements "
            "always differ. Without `extent` the number does not matter.",
            examples=["0.5"],
        ),
    ] = None
    nodes: Annotated[
        tuple[str, ...],
        Meta(
            max_length=255,
            description="The nodes of the finding: an additional node lifts the waiver. Without `nodes` the nodes do "
            "not matter.",
            examples=['["rac1"]'],
        ),
    ] = ()

    def is_about(self, code: str, subject: str) -> bool:
        """Return whether the waiver is for a finding of that code and subject, at any status and extent."""
        return code == self.code and matches(self.subject, subject)


def matches(pattern: str, subject: str) -> bool:
    """Return whether a subject matches the pattern of a waiver, in which only `*` is special: any text, or none."""
    head, *parts = pattern.split("*")
    if not parts:
        return subject == head
    place, end = len(head), len(subject) - len(parts[-1])
    if not subject.startswith(head) or not subject.endswith(parts[-1]) or place > end:
        return False
    for part in parts[:-1]:
        found = subject.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


Waivers = Annotated[tuple[Waiver, ...], Meta(max_length=1000)]
"""The waivers of a settings file."""
