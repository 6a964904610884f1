"""The colours, all of them: of both themes, and of each role of a text. They repeat what a letter or a word says."""

from __future__ import annotations

from typing import Any

DARK: dict[str, Any] = {
    "primary": "#abcdef",
    "secondary": "#af94d1",
    "accent": "#abcdef",
    "warning": "#dcb35c",
    "error": "#e77575",
    "success": "#76b892",
    "foreground": "#cfd4db",
    "background": "#15181d",
    "surface": "#15181d",
    "panel": "#15181d",
    "variables": {"faint": "#7d8692", "cursor-background": "#2b3644"},
}
"""The dark theme, by Textual's names."""
TERMINAL: dict[str, Any] = {
    "primary": "ansi_cyan",
    "secondary": "ansi_magenta",
    "accent": "ansi_cyan",
    "warning": "ansi_yellow",
    "error": "ansi_red",
    "success": "ansi_green",
    "variables": {"faint": "ansi_default", "cursor-background": "ansi_default"},
}
"""The sixteen colours of the terminal, where more are uncertain."""

ROLES = {
    "fail": ("bold red", "color: $error; text-style: bold"),
    "warn": ("yellow", "color: $warning"),
    "unknown": ("magenta", "color: $secondary"),
    "info": ("cyan", "color: $primary"),
    "pass": ("green", "color: $success"),
    "skipped": ("dim", "color: $faint"),
    "title": ("bold", "text-style: bold"),
    "label": ("dim", "color: $faint"),
    "command": ("cyan", "color: $primary"),
    "change": ("bold yellow", "color: $warning; text-style: bold"),
    "faint": ("dim", "color: $faint"),
    "accent": ("bold", "color: $accent"),
    "link": ("", "color: $accent"),
    "match": ("", "text-style: bold underline"),
    "found": ("", "text-style: bold reverse"),
    "sending": ("reverse", "text-style: reverse bold"),
}
"""The roles of spans: the style of each on the command line (rich), and in the console (Textual)."""
