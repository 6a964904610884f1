"""Write every generated page: `python -m docs.generate`."""

from __future__ import annotations

import sys

from docs.generate.message_catalogue import ROOT, messages_page

PAGES = {"docs/reference/messages.md": messages_page}
"""The function that returns each page, by the path of the page in the checkout."""


def main() -> int:
    """Write the pages that changed, and print the path of each."""
    for path, page in PAGES.items():
        text, file = page(), ROOT / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"{path}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
