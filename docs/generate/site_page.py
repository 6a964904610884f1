"""What the generator of the site calls for each page: `make site`."""

from __future__ import annotations

import re


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return the page with one word behind each fence: Python-Markdown does not know "```console lab" as one."""
    return re.sub(r"^```(\w+) \w+$", r"```\1", markdown, flags=re.MULTILINE)
