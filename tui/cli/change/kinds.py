"""`racwire change kinds`: the kinds of change that racwire plans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from checks.change.kinds.descriptions import DESCRIPTIONS, KindDescription
from tui.cli.change.change_context import ChangeContext
from tui.cli.change.change_json import as_json
from tui.text.line import Line, command_lines, hanging

_INDENT = "    "


def print_kinds(context: ChangeContext) -> int:
    """Print the kinds of change, as text or JSON. Return the exit code."""
    return context.print(
        lambda width: (line for kind in DESCRIPTIONS for line in _lines(kind, width)), lambda: as_json(_document())
    )


def _lines(kind: KindDescription, width: int) -> Iterator[Line]:
    yield [(kind.name, "title"), (f"  {kind.title}", "")]
    for text in (kind.what, f"When: {kind.when}", f"Outage: {kind.outage}", f"Sources: {', '.join(kind.sources)}."):
        yield from hanging([(_INDENT, "")], text, width)
    yield from command_lines(kind.example, len(_INDENT), width)
    yield []


def _document() -> dict[str, Any]:
    return {"schema": "racwire-change-kinds/1", "kinds": [msgspec.to_builtins(kind) for kind in DESCRIPTIONS]}
