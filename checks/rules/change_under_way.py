"""The next steps of findings while a change is open: to continue it, never a second one."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from checks.model.finding import Finding, NextStep

_PROPOSAL = "racwire change new"
"""The command by which a finding proposes a change."""
_CONTINUE = ("racwire change next",)


def step_instead(text: str) -> NextStep:
    """Return the step that continues the open change; `text` names the change."""
    return NextStep(text, _CONTINUE, is_change=True)


def proposes_a_change(findings: Iterable[Finding]) -> bool:
    """Return whether a finding proposes a change."""
    return any(_proposes(step) for finding in findings for step in finding.next)


def step_in_use(findings: Iterable[Finding]) -> NextStep | None:
    """Return the step that continues the change which was open when these findings were made; None where none names
    it."""
    return next((step for finding in findings for step in finding.next if step.commands == _CONTINUE), None)


def with_step(findings: Iterable[Finding], instead: NextStep) -> tuple[Finding, ...]:
    """Return the findings, with that step in place of each one that proposes a change."""
    return tuple(
        msgspec.structs.replace(
            finding, next=tuple(dict.fromkeys(instead if _proposes(step) else step for step in finding.next))
        )
        if any(map(_proposes, finding.next))
        else finding
        for finding in findings
    )


def _proposes(step: NextStep) -> bool:
    return any(command.startswith(_PROPOSAL) for command in step.commands)
