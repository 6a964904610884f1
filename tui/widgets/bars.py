"""The lines around the panes: rules that carry a word, and the keys at the bottom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from tui.actions import HELP, QUIT, Action
from tui.widgets.line import Line, fitted


def rule_line(width: int, left: str = "", right: str = "", *, joint: int = -1, sign: str = "─") -> Line:
    """A rule over the whole width with words in it; `joint` is the column where `sign` meets the line between panes."""
    rule = "─" * joint + sign + "─" * (width - joint - 1) if 0 <= joint < width else "─" * width
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


def tabs_line(tabs: Mapping[str, str], shown: str, width: int) -> Line:
    """The main screens by their keys, the shown one marked; one that there is no room for is left to the help."""
    line: list[tuple[str, str]] = []
    room = width
    for mode, tab in tabs.items():
        text = f"[{tab}]" if mode == shown else f" {tab} "
        if (room := room - cell_len(text)) < 0:
            break
        line.append((text, "accent" if mode == shown else "faint"))
    return line


def keys_line(actions: Sequence[Action], width: int) -> Line:
    """The keys that have a word, as many as there is room for; help and quit always."""
    named = [a for a in actions if a.label]
    shown = [a for a in named if a in (HELP, QUIT)]
    room = width + 1 - sum(_length(a) for a in shown)
    for action in named:
        if action not in shown and _length(action) <= room:
            shown.append(action)
            room -= _length(action)
    line: list[tuple[str, str]] = []
    for action in (a for a in named if a in shown):
        line += [("  " if line else " ", ""), (action.key, "accent"), (f" {action.label}", "")]
    return line


def _length(action: Action) -> int:
    return cell_len(f"  {action.key} {action.label}")
