"""Who may read what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from racwire_lab.database.backend import Caller
from racwire_lab.oracle_sql.dictionary import View

EVERYTHING = "*"
"""In place of objects: SELECT ANY DICTIONARY and the tables of PERFSTAT."""


@dataclass(frozen=True)
class Access:
    """Per user the objects that SELECT is granted on, such as `PERFSTAT.STATS$SNAPSHOT`, or `EVERYTHING`."""

    granted: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def all(cls, *users: str) -> Access:
        """These users may read everything."""
        return cls({user.upper(): frozenset({EVERYTHING}) for user in users})

    def may_read(self, caller: Caller, view: View) -> bool:
        """Whether the session may read the view."""
        if caller.is_sysdba or view.is_public or caller.user.upper() == view.owner:
            return True
        granted = self.granted.get(caller.user.upper(), frozenset())
        return EVERYTHING in granted or view.grant in granted

    def objects(self, user: str) -> frozenset[str]:
        """What is granted to the user, as given."""
        return self.granted.get(user.upper(), frozenset())
