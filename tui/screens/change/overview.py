"""The Change screen without a change: what a change is, earlier changes, and why a change cannot start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.progress.change_text import headline
from checks.change.progress.state import Change
from checks.change.record.change_journal import FoundJournal
from checks.model.facts import Cluster, Unknown
from checks.model.wording import counted
from tui.console.change_state import ChangeState, Doing, Refused
from tui.screens.change.step_page import StepPage
from tui.text.gate_lines import step_by_step
from tui.text.line import Line, Span, fitted, hanging, sanitize_line, width_of
from tui.text.own_keys import KEYS

_ABOUT = (
    "racwire leads through a planned change of the MTU of the private networks, step by step: what to do and why, the "
    "commands for each node of this cluster, and a gate that racwire checks on all nodes before the next step. You "
    "can roll back from every step.",
    "racwire runs none of the commands and changes nothing; you run them. Clusterware is down on all nodes for a "
    "while: plan a maintenance window. A journal records each step, so that you can leave and continue later.",
)
_ELSEWHERE = "A change is made on the cluster itself: quit, and start `racwire change` on one of its nodes."
_INDENT = 1


def overview_page(desk: ChangeState, cluster: Cluster | None, chosen: int, width: int) -> StepPage:
    """Return the page where there is no change; `chosen` is the number of the journal that Enter opens."""
    lines: list[Line] = []
    if desk.work.doing is Doing.READING:
        return StepPage([*_text("Reading the journals of changes.", width, "faint")])
    if desk.work.doing is Doing.PLANNING:
        lines += _text(
            "Planning the change: all checks run first, because a cluster with problems must not be changed.", width
        )
        return StepPage(lines)
    lines += [[(" No change of the MTU is open here.", "title")]] if not desk.problem else []
    lines += _text(desk.problem, width, "warn") if desk.problem else []
    lines.append([])
    for text in _ABOUT:
        lines += _text(text, width)
    lines.append([])
    lines += _mtus(cluster, width)
    lines += hanging([(" Next     ", "label"), ("n", "accent"), ("  ", "")], _next(desk), width)
    blocks: list[tuple[int, int]] = []
    if desk.others:
        lines += [[], [(" Changes with a journal here", "title")]]
    for number, found in enumerate(desk.others):
        blocks.append((len(lines), len(lines)))
        lines.append(_other(found, number == chosen, width))
    return StepPage(lines, tuple(blocks))


def refused_page(refused: Refused, chosen: int, width: int) -> StepPage:
    """Return the obstacles to a plan, each with what to do; `chosen` is the number of the one that `o` accepts."""
    to = f" to {refused.plan.target}" if refused.plan.target else ""
    lines: list[Line] = [[(f" The change{to} cannot start yet", "title")]]
    left = [o for o in refused.obstacles if not refused.reason_for(o)]
    lines += _text(
        f"{len(left)} of {counted(len(refused.obstacles), 'obstacle')} left. n plans again; Esc closes this list.",
        width,
        "faint",
    )
    blocks: list[tuple[int, int]] = []
    for number, obstacle in enumerate(refused.obstacles):
        reason = refused.reason_for(obstacle)
        first = len(lines) + 1
        sign, role = ("!", "warn") if reason else ("✗", "fail")
        code: Span = (f"{sanitize_line(obstacle.code)}  ", "accent" if number == chosen else "title")
        lines += [[], [(f" {sign} ", role), code, (sanitize_line(obstacle.title), "title")]]
        lines += hanging([("   ", "")], obstacle.sentence, width)
        lines += step_by_step(obstacle.next, 3, width, KEYS)
        if reason:
            lines += hanging([("   Accepted: ", "warn")], reason, width)
        elif obstacle.acceptable:
            lines += hanging(
                [("   ", "")],
                "o accepts this obstacle, with a reason.",
                width,
                "accent" if number == chosen else "faint",
            )
        blocks.append((first, len(lines) - 1))
    return StepPage(lines, tuple(blocks))


def replay_page(*, is_saved: bool, width: int) -> StepPage:
    """Return the page for a saved state or a recording."""
    return StepPage([*_text(f"This is a {'saved state' if is_saved else 'recording'}. {_ELSEWHERE}", width)])


def mtus_of(cluster: Cluster | None) -> str:
    """Return the present MTU of each private network as text; empty where they are not known."""
    if cluster is None or isinstance(cluster.networks, Unknown):
        return ""
    texts = [f"{n.interface} {n.mtu if isinstance(n.mtu, int) else 'differs between nodes'}" for n in cluster.networks]
    return ", ".join(sanitize_line(text) for text in texts)


def _mtus(cluster: Cluster | None, width: int) -> Iterator[Line]:
    if mtus := mtus_of(cluster):
        yield from hanging([(" MTU now  ", "label")], mtus, width)


def _next(desk: ChangeState) -> str:
    if desk.problem:
        return "plans a change; the sentence above says why no change is shown."
    return "plans a change for this cluster. Planning changes nothing."


def _other(found: FoundJournal, is_chosen: bool, width: int) -> Line:
    sign: Span = ("▸ ", "accent") if is_chosen else ("  ", "")
    text = (
        _summary(found.change) if found.change else f"{sanitize_line(found.path.name)}  {sanitize_line(found.problem)}"
    )
    line: list[Span] = [(" ", ""), sign]
    return [*line, (fitted(text, max(width - width_of(line), 0)).rstrip(), "" if found.change else "warn")]


def _summary(change: Change) -> str:
    outcome = change.outcome if not change.is_open else "open"
    return sanitize_line(f"{change.opened.id}  {change.opened.cluster}  {headline(change.opened)}  {outcome}")


def _text(text: str, width: int, role: str = "") -> Sequence[Line]:
    return list(hanging([(" " * _INDENT, "")], text, width, role))
