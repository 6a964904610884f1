"""The lines around the panes: rules with text in them, the tabs, and the keys at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.cells import cell_len

from checks.model.wording import counted
from tui.console.actions import HELP, QUIT, Action
from tui.text.line import Line, cut, fitted

_LEAST_LEFT = 16
"""The fewest columns of a text that is cut before an alarm."""
_RULES = 6
"""Columns of the rule around its texts."""


def rule_line(width: int, left: str = "", right: str = "", *, joints: Sequence[int] = (), sign: str = "─") -> Line:
    """Return a rule over the whole width with text in it; at the columns `joints`, `sign` meets a line between two
    panes."""
    rule = "".join(sign if column in joints else "─" for column in range(width)) if joints else "─" * width
    right = f" {right} " if right and cell_len(right) + 10 <= width else ""
    room = width - cell_len(right) - 5
    left = f" {fitted(left, min(cell_len(left), room))} " if left and room > 2 else ""
    start, end = 1 + cell_len(left), width - 1 - cell_len(right)
    return [
        (rule[:1], "faint"),
        (left, "accent"),
        (rule[start:end], "faint"),
        (right, ""),
        (rule[width - 1 :], "faint"),
    ]


def fits_rule(width: int, left: str, right: str) -> bool:
    """Return whether a rule of that width has room for both texts."""
    return cell_len(right) + (cell_len(left) + 7 if left else 10 if right else 0) <= width


def alarm_rule(width: int, left: str, right: str, alarm: Callable[[int], tuple[str, str]]) -> Line:
    """Return a rule with an alarm after the text at the left. `alarm` returns its text and role for a number of
    columns. Without enough room the rule omits first the text at the right, then cuts that at the left."""
    text, role = alarm(width - _RULES)
    room = width - _RULES - 2 - cell_len(text)
    before = cut(left, room)
    left = before if before == left or cell_len(before) >= _LEAST_LEFT else ""
    left, right = (f" {part} " if part else "" for part in (left, right))
    line = [("─", "faint"), (left, "accent"), ("──" if left else "", "faint"), (f" {text} ", role)]
    rest = width - sum(cell_len(part) for part, _ in line)
    if rest < cell_len(right) + 2:
        right = ""
    return [*line, ("─" * (rest - cell_len(right) - 1), "faint"), (right, ""), ("─", "faint")]


def lines_below(number: int) -> str:
    """Return how many lines are hidden below, for a rule: `PgDn: 1 more line`; nothing where none is."""
    return f"PgDn: {counted(number, 'more line')}" if number else ""


def tabs_line(tabs: Mapping[str, str], current: str, width: int) -> Line:
    """Return the tabs with the current one marked. Where room is short, the last of the others are only their keys."""
    return [(text, "accent" if mode == current else "faint") for mode, text in _tabs(tabs, current, width)]


def tab_at(tabs: Mapping[str, str], current: str, width: int, column: int) -> str:
    """Return the mode of the tab at a column; empty where there is none."""
    for mode, text in _tabs(tabs, current, width):
        if (column := column - cell_len(text)) < 0:
            return mode
    return ""


def _tabs(tabs: Mapping[str, str], current: str, width: int) -> Iterator[tuple[str, str]]:
    before = " " if sum(cell_len(tab) + 2 for tab in tabs.values()) <= width else ""
    shown = dict(tabs)
    for mode in reversed(list(tabs)):
        if sum(cell_len(tab) + len(before) + 1 for tab in shown.values()) + 1 - len(before) <= width:
            break
        shown[mode] = tabs[mode] if mode == current else tabs[mode][:1]
    for mode, tab in shown.items():
        text = f"[{tab}]" if mode == current else f"{before}{tab} "
        if (width := width - cell_len(text)) < 0:
            return
        yield mode, text


def keys_line(actions: Sequence[Action], width: int) -> Line:
    """Return the keys with a label, as many as fit; help and quit always."""
    line: list[tuple[str, str]] = []
    for action in _fitting(actions, width):
        line += [("  " if line else " ", ""), (action.key, "accent"), (f" {action.label}", "")]
    return line


def action_at(actions: Sequence[Action], width: int, column: int) -> Action | None:
    """Return the action whose key or label is at a column; None where there is none."""
    end = -1
    for action in _fitting(actions, width):
        begin, end = end + 2, end + _length(action)
        if begin <= column <= end:
            return action
    return None


def _fitting(actions: Sequence[Action], width: int) -> list[Action]:
    named = [a for a in actions if a.label]
    shown = [a for a in named if a in (HELP, QUIT)]
    room = width + 1 - sum(_length(a) for a in shown)
    for action in named:
        if action not in shown and _length(action) <= room:
            shown.append(action)
            room -= _length(action)
    return [a for a in named if a in shown]


def _length(action: Action) -> int:
    return cell_len(f"  {action.key} {action.label}")
