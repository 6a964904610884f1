"""`racwire explain ID|CODE`: what a check, or a gate of a change, does and what a code means, as oerr does."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator

from checks.change.gates import documented
from checks.engine import KINDS
from checks.plugin import Check, Checks, Kind, discover
from tui.errors import UsageError
from tui.printable import for_encoding, printable


def run_explain(args: argparse.Namespace) -> int:
    """Print the page of a check or a code, or the list of all. Raises UsageError when there is none."""
    found = Checks((*discover(), *documented()))
    kinds = {code: (kind, check.id) for code, (kind, check) in found.kinds().items()}
    kinds |= {kind.code: (kind, "any check") for kind in KINDS}
    asked = args.what
    if asked is None:
        lines = list(_contents(tuple(found), kinds))
    elif check := found.get(asked.lower()):
        lines = list(_check_page(check))
    elif asked.upper() in kinds:
        lines = list(_kind_page(*kinds[asked.upper()]))
    else:
        raise UsageError(f"There is no check and no code {asked!r}; `racwire explain` lists them.")
    print(for_encoding("\n".join(map(printable, lines)), getattr(sys.stdout, "encoding", None)))
    return 0


def _contents(checks: tuple[Check, ...], kinds: dict[str, tuple[Kind, str]]) -> Iterator[str]:
    wide = max(map(len, (*(check.id for check in checks), *kinds))) + 2
    for check in checks:
        yield f"{check.id:<{wide}}{check.question}"
    yield ""
    for code, (kind, _) in kinds.items():
        yield f"{code:<{wide}}{kind.title}"


def _check_page(check: Check) -> Iterator[str]:
    yield f"{check.id}: {check.question}"
    yield ""
    for paragraph in check.page.split("\n\n"):
        yield from textwrap.wrap(paragraph, 80)
        yield ""
    yield f"Judges: {', '.join((*check.needs, *check.uses))}"
    yield "Findings:"
    for kind in check.kinds:
        yield f"  {kind.code:<16}{kind.title}"


def _kind_page(kind: Kind, check: str) -> Iterator[str]:
    yield f"{kind.code}: {kind.title}"
    yield f"Made by: {check}"
    if kind.why:
        yield ""
        yield from textwrap.wrap(kind.why, 80)
    if kind.sources:
        yield ""
        yield f"Sources: {'; '.join(kind.sources)}"
    yield ""
    yield "What was seen, what was expected and what to do next stand in the finding itself."
