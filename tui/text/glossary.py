"""The terms of racwire, each with one meaning: `glossary.md`, which `make docs` copies to `docs/`."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files


def glossary_page() -> str:
    """Return the page of all terms, in Markdown."""
    return files("tui.text").joinpath("glossary.md").read_text(encoding="utf-8")


@cache
def terms() -> dict[str, str]:
    """Return `term: meaning` by the term in lower case, in the order of the page."""
    found = re.findall(r"^\*\*(.+?)\*\*: (.+?)\n\n", glossary_page() + "\n\n", re.MULTILINE | re.DOTALL)
    return {term.lower(): f"{term}: {' '.join(meaning.split())}" for term, meaning in found}
