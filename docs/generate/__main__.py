"""Write every generated page, `python -m docs.generate`; with `--outputs` also what the commands of the pages print."""

from __future__ import annotations

import argparse
import sys

from docs.generate.checks_page import checks_page
from docs.generate.message_catalogue import ROOT, messages_page
from docs.generate.outputs import pages, rewrite_outputs, workplace
from tui.text.glossary import glossary_page

PAGES = {"docs/reference/messages.md": messages_page, "docs/checks.md": checks_page, "docs/glossary.md": glossary_page}
"""The function that returns each page, by the path of the page in the checkout."""


def main() -> int:
    """Write the pages that changed, and print the path of each."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
    parser.add_argument(
        "--outputs",
        nargs="*",
        metavar="PAGE",
        help="also run the commands in the `console` blocks of these pages (default: all) and write what they print",
    )
    args = parser.parse_args()
    for path, page in PAGES.items():
        text, file = page(), ROOT / path
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"{path}: written")
    if args.outputs is not None:
        with workplace() as place:
            for path in args.outputs or pages():
                if rewrite_outputs(place, path):
                    print(f"{path}: outputs written; read the difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
