"""Which running instances belong to a planned database: by name, although Clusterware may give them other numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from checks.change.plan.change_plan import PlannedDatabase

_NUMBER = re.compile(r"_?\d+$")


def count_of(database: PlannedDatabase, planned: Sequence[PlannedDatabase], running: Iterable[str]) -> int:
    """Return how many of the running instances belong to the database: those in the plan, and others with the same name
    stem, as those of RAC One Node and of policy-managed databases on other nodes."""
    named = {name for one in planned for name in one.instances.values()}
    own = set(database.instances.values())
    stems = {_stem(name) for name in own}
    return sum(name in own or (name not in named and _stem(name) in stems) for name in running)


def _stem(instance: str) -> str:
    """Return an instance's name without its number: `prod` for prod1, prod_1 and prod12."""
    return _NUMBER.sub("", instance)
