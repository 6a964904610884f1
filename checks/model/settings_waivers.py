"""A waiver as the settings have it: a finding that the operator knows of and lives with until a day."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

LONGEST_DAYS = 366
"""How far ahead a waiver may expire: what is never looked at again is forgotten, not accepted. Ours."""

_TEXT = 500


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Findings that you know of and live with. They stay in every report, marked, and out of the exit code, until the
    waiver expires or the finding gets worse. `racwire waive` writes such a table."""

    code: Annotated[str, Meta(max_length=64, description="The code of the finding.", examples=['"IC-BOOT-002"'])]
    subject: Annotated[
        str,
        Meta(
            max_length=_TEXT,
            description="What the finding is about, in the words of the console's list; * stands for any text.",
            examples=['"eth2 rac1"'],
        ),
    ]
    reason: Annotated[
        str, Meta(max_length=_TEXT, description="Why it may stay.", examples=['"mended in the window of January"'])
    ]
    by: Annotated[str, Meta(max_length=100, description="Who takes that on.", examples=['"Ann Lee"'])]
    expires: Annotated[
        date,
        Meta(
            description=f"The last day on which it holds, {LONGEST_DAYS} days ahead at most.",
            examples=["2027-01-31"],
        ),
    ]
    status: Annotated[
        Literal["WARN", "FAIL", "UNKNOWN"],
        Meta(
            description="How grave it was when it was waived. WARN is lifted by a failure, FAIL covers warnings too, "
            "and either is lifted when the finding cannot be told any more; UNKNOWN covers only not knowing.",
            examples=['"WARN"'],
        ),
    ] = "WARN"
    extent: Annotated[
        float | None,
        Meta(
            description="How bad it may be, where the finding has a number for that: a higher one lifts the waiver. "
            "racwire waive writes a count as it was found and leaves room above what was measured, which is another "
            "number each time. Without it the number does not matter.",
            examples=["0.5"],
        ),
    ] = None
    nodes: Annotated[
        tuple[str, ...],
        Meta(
            max_length=255,
            description="The nodes it was about: one more lifts the waiver. Without it the nodes do not matter.",
            examples=['["rac1"]'],
        ),
    ] = ()

    def is_about(self, code: str, subject: str) -> bool:
        """Whether a finding of that code and subject is what is waived, however bad it is."""
        return code == self.code and matches(self.subject, subject)


def matches(pattern: str, subject: str) -> bool:
    """Whether a subject is as the waiver has it, where only `*` stands for something else: any text, or none."""
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
"""Those of a settings file."""
