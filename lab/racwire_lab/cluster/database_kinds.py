"""The kinds of the practice database: how Clusterware manages it, where it runs, and its role, as data only."""

from __future__ import annotations

from dataclasses import dataclass

from racwire_lab.lab_errors import LabUsageError


@dataclass(frozen=True)
class DatabaseKind:
    """How Clusterware manages a database, and its row in V$DATABASE."""

    name: str
    summary: str
    type: str = "RAC"
    """The type in `srvctl config database`: RAC, RACOneNode or SINGLE."""
    is_policy_managed: bool = False
    instance_names: str = "{stem}{number}"
    runs_once: bool = False
    """Whether only the first node has an instance."""
    role: str = "PRIMARY"
    open_mode: str = "READ WRITE"

    @property
    def is_open(self) -> bool:
        """Whether users other than SYSDBA can log in: not while the database is only mounted."""
        return self.open_mode != "MOUNTED"

    def instance_name(self, stem: str, number: int) -> str:
        """Return the name of the instance on the node with this number."""
        return self.instance_names.format(stem=stem, number=number)


DEFAULT_KIND = "rac"
KINDS = {
    kind.name: kind
    for kind in (
        DatabaseKind(DEFAULT_KIND, "an instance on every node, managed by the administrator"),
        DatabaseKind("policy", "policy-managed, instances prac_1, prac_2", is_policy_managed=True,
                     instance_names="{stem}_{number}"),
        DatabaseKind("one-node", "RAC One Node, prac_1 on the first node", type="RACOneNode",
                     instance_names="{stem}_{number}", runs_once=True),
        DatabaseKind("single", "one instance on the first node, no RAC", type="SINGLE", instance_names="{stem}",
                     runs_once=True),
        DatabaseKind("standby", "a mounted physical standby", role="PHYSICAL STANDBY", open_mode="MOUNTED"),
        DatabaseKind("read-only-standby", "a standby that is open for reads", role="PHYSICAL STANDBY",
                     open_mode="READ ONLY WITH APPLY"),
    )
}  # fmt: skip
SINGLE = KINDS["single"]


def kind_named(name: str) -> DatabaseKind:
    """Return the kind with this name. Raises LabUsageError when there is none."""
    if name not in KINDS:
        raise LabUsageError(f"The practice database is {', '.join(KINDS)}, not {name}: choose with --database-kind.")
    return KINDS[name]
