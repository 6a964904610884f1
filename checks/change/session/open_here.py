"""The open change of this node, and the next steps of findings while it is open: to continue it, never a second one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from checks.change.plan.change_plan import Plan
from checks.change.progress.change_text import headline
from checks.change.record.change_journal import ChangeJournalError, find
from checks.change.record.journal_files import directory_of
from checks.model.finding import Finding
from checks.model.settings import Settings
from checks.rules.change_under_way import proposes_a_change, step_instead, with_step


def node_here(plan: Plan, host: str) -> str:
    """Return the plan's name of the node `host`; `host` itself if it is not a node of the plan."""
    short = host.partition(".")[0].casefold()
    return next((node for node in plan.nodes if node.partition(".")[0].casefold() == short), host)


def peers_of(plan: Plan, host: str) -> tuple[str, ...]:
    """Return the other nodes of the plan; none if `host` is not a node of the plan."""
    here = node_here(plan, host)
    return tuple(node for node in plan.nodes if node != here) if here in plan.nodes else ()


def open_here(directory: Path, host: str) -> tuple[Plan, Path] | None:
    """Return the plan and the journal of an open change of which this host is a node; None without one.

    The journal names its nodes, so this needs no Clusterware. Raises ChangeJournalError if the directory cannot be
    read.
    """
    for journal in find(directory):
        if journal.change and journal.change.is_open and node_here(plan := journal.change.opened, host) in plan.nodes:
            return plan, journal.path
    return None


def continued(findings: Iterable[Finding], plan: Plan) -> tuple[Finding, ...]:
    """Return the findings, with the open change of this plan in place of each next step that proposes a change."""
    instead = step_instead(
        f"The change {plan.id} of {plan.cluster} is open on this node ({headline(plan)}): continue it, or roll it back "
        "(`racwire change rollback`). A second change cannot be opened meanwhile."
    )
    return with_step(findings, instead)


def advised(findings: tuple[Finding, ...], settings: Settings) -> tuple[Finding, ...]:
    """Return the findings of a check, with the open change of this node in place of each next step that proposes one.

    Reads files, only where a finding proposes a change. A directory that cannot be read has no open change for it:
    `racwire change new` itself refuses a second one.
    """
    if not proposes_a_change(findings):
        return findings
    try:
        found = open_here(directory_of(settings), os.uname().nodename)
    except ChangeJournalError:
        return findings
    return continued(findings, found[0]) if found else findings
