"""Paths on the screen."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tui.text.line import cell_len

_ROOM = 75
"""Columns of a notice in a terminal of 80."""


def short(path: Path) -> str:
    """Return the path with `~` for the home directory."""
    with suppress(ValueError, RuntimeError):
        return f"~/{path.relative_to(Path.home())}"
    return str(path)


def with_path(path: Path, *forms: str) -> str:
    """Return the first of these forms, the longest first, that has room for the whole path, which `{}` stands for, in a
    notice. A path that no form has room for keeps its end, which has the name of the file."""
    name = short(path)
    fits = (form for form in forms if cell_len(form.replace("{}", name)) <= _ROOM)
    if (form := next(fits, "")) or not forms:
        return form.replace("{}", name)
    end = name[len(name) - (_ROOM - 1 - cell_len(forms[-1].replace("{}", ""))) :]
    return forms[-1].replace("{}", f"…{end}")
