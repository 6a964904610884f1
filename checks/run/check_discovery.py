"""Discovery of checks: the built-in checks, then those of installed packages."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache

from checks.model.broken_dependency import error_text
from checks.model.check import Check, Kind
from checks.model.exit_codes import Interrupted
from checks.model.facts.cluster import ON_REQUEST

ENTRY_POINT_GROUP = "racwire.checks"


@dataclass(frozen=True)
class BrokenPlugin:
    """An installed check that could not be loaded."""

    name: str
    reason: str


@dataclass(frozen=True)
class Checks:
    """All available checks, in the order in which they are listed."""

    checks: tuple[Check, ...]
    """Those that a run makes unless others are named."""
    broken: tuple[BrokenPlugin, ...] = ()
    on_request: tuple[Check, ...] = ()
    """Those whose facts only a step of `racwire investigate` reads."""

    @property
    def every(self) -> tuple[Check, ...]:
        """All of them."""
        return (*self.checks, *self.on_request)

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def get(self, id: str) -> Check | None:  # noqa: A002
        """Return the check with that id, or None."""
        return next((c for c in self.every if c.id == id), None)

    def kinds(self) -> dict[str, tuple[Kind, Check]]:
        """Return every kind of finding by code, with the check that makes it."""
        return {kind.code: (kind, check) for check in self.every for kind in check.kinds}


def discover() -> Checks:
    """Return the built-in checks, then those of installed packages, and the packages that could not be loaded."""
    from importlib.metadata import entry_points  # late: it takes as long to load as the rest of this module

    found = list(_built_in())
    broken: list[BrokenPlugin] = []
    ids = {c.id for c in found}
    codes = {kind.code for c in found for kind in c.kinds}
    for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda p: p.name):
        try:
            with redirect_stdout(sys.stderr):  # stdout is only for the report
                loaded = point.load()
        except Interrupted:
            raise
        except BaseException as error:  # no error of a foreign module may stop the others
            broken.append(BrokenPlugin(point.name, f"{point.value} could not be imported: {error_text(error)}"))
            continue
        if not isinstance(loaded, Check):
            broken.append(BrokenPlugin(point.name, f"{point.value} is not a check made with @check"))
        elif loaded.id in ids:
            broken.append(BrokenPlugin(point.name, f"{point.value} has the id {loaded.id} of another check"))
        elif taken := sorted(codes & {kind.code for kind in loaded.kinds}):
            broken.append(BrokenPlugin(point.name, f"{point.value} has the code {taken[0]} of another check"))
        else:
            found.append(loaded)
            ids.add(loaded.id)
            codes |= {kind.code for kind in loaded.kinds}
    usual = tuple(c for c in found if ON_REQUEST.isdisjoint(c.needs))
    return Checks(usual, tuple(broken), tuple(c for c in found if c not in usual))


@cache
def _built_in() -> tuple[Check, ...]:
    """Return the checks that the modules and packages of `checks.plugins` declare, in the order of their names."""
    package = importlib.import_module("checks.plugins")
    found: list[Check] = []
    for module in pkgutil.iter_modules(package.__path__):
        loaded = importlib.import_module(f"checks.plugins.{module.name}")
        checks = (value for value in vars(loaded).values() if isinstance(value, Check))
        found += (check for check in checks if check.judge.__module__ == loaded.__name__)
    return tuple(sorted(found, key=lambda check: check.id))


@cache
def known_codes() -> frozenset[str]:
    """Return the codes of all findings that the available checks can make."""
    return frozenset(discover().kinds())
