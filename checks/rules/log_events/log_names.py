"""The names in a line of a log: nodes in a message of any language, instances by name and number."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.model.facts import Cluster, Clusterware, NodeLogs, Unknown
from checks.model.known_instances import database_of

_A_PATH = re.compile(r"[\w.+-]*/[!-~]*", re.ASCII)
"""In a language without blanks the sentence goes on after a path."""
_FORMS = (
    re.compile(r"host '([^']{1,100})'"),
    re.compile(r"[Nn]ode \d{1,5}, (\S{1,100}?),"),
    re.compile(r"(\S{1,100}) \(\d{1,5}\)"),
    re.compile(r"(?:remote node|and node) '([^']{1,100})'"),
    re.compile(r"CRS-\d{4}:\s?Node (\S{1,100}?)[, ]"),
)
"""Where a message names a node; the number in brackets is the same in every language."""
_ROUTE = re.compile(r"HAIP route:\s*(\S{1,50}) / (\S{1,50}) / \S{1,50} / (\S{1,30})")
_NUMBERS = re.compile(
    r"(?:inst(?:ance)?(?:_number)?|eviction map is|kill map \(size \d{1,5}\) :)\s(\d{1,5}(?: \d{1,5}){0,99})"
)
_MEMBER = re.compile(r"Communications reconfiguration: instance (\d{1,5})")
"""Up to 11.1 this message counts from 0, as members of the group do: `Evicting instance 1` follows `instance 0`."""
_DIGITS = re.compile(r"(\d{1,5})$")


def known_nodes(cluster: Cluster) -> tuple[str, ...]:
    """Return the names of the nodes of the cluster, the longest first."""
    facts = cluster.clusterware
    members = () if not isinstance(facts, Clusterware) or isinstance(facts.members, Unknown) else facts.members
    names = {name for name in (*(m.name for m in members), *(n.name for n in cluster.all_nodes())) if name}
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


def node_in(text: str, known: Iterable[str], owner: str) -> str:
    """Return the node that a message is about, by its known name where it has one, but not the writer where the message
    names another one. Paths, which hold host names, do not count."""
    bare = _A_PATH.sub(" ", text)
    found = [match for form in _FORMS for match in form.findall(bare)]
    names = {name.partition(".")[0].casefold(): name for name in known}
    by_form = [names[short] for one in found if (short := one.partition(".")[0].casefold()) in names]
    by_word = [name for short, name in names.items() if _has_word(bare, short)]
    candidates = dict.fromkeys([*by_form, *by_word, *(() if by_form or by_word else found[-1:])])
    own = owner.partition(".")[0].casefold()
    others = [name for name in candidates if name.partition(".")[0].casefold() != own]
    return next(iter(others or candidates), "")


def _has_word(text: str, word: str) -> bool:
    # Letters of other scripts can stand next to a name without a blank.
    return bool(re.search(rf"(?<![A-Za-z0-9_.-]){re.escape(word)}(?![A-Za-z0-9_-])", text, re.IGNORECASE))


def route_in(text: str) -> str:
    """Return the route that Clusterware removed; empty where the line names none."""
    found = _ROUTE.search(text)
    return f"{found[1]} on {found[3]}" if found else ""


def instances_in(text: str) -> tuple[int, ...]:
    """Return the numbers of the instances that a line is about."""
    if member := _MEMBER.search(text):
        return (int(member[1]) + 1,)
    found = _NUMBERS.search(text)
    return tuple(dict.fromkeys(map(int, found[1].split()))) if found else ()


class InstanceNames:
    """The instances of the databases and of ASM: names and numbers, as far as they are known.

    The facts of the database count. Without them the digits at the end of the SID count, which Oracle's tools choose.
    """

    def __init__(self, cluster: Cluster) -> None:
        database = database_of(cluster)
        known = database.instances if database else ()
        self._number = {i.name: i.number for i in known}
        self._logs = {
            (log.database, log.owner)
            for setup in cluster.read_setups()
            if isinstance(setup.logs, NodeLogs)
            for log in setup.logs.logs
            if log.kind.is_of_instance
        }

    def number(self, name: str) -> int | None:
        """Return the number of an instance; None where it is not known."""
        if name in self._number:
            return self._number[name]
        digits = _DIGITS.search(name)
        number = int(digits[1]) if digits else None
        return None if number in self._number.values() and self._is_of_known(name) else number

    def _is_of_known(self, name: str) -> bool:
        """Whether a name belongs to the database whose instances are known, by another of its instances."""
        databases = {database for database, owner in self._logs if owner in self._number}
        return any(owner == name and database in databases for database, owner in self._logs)

    def name(self, number: int, database: str) -> str:
        """Return the name of an instance of a database, or `instance 2` where it is not known."""
        own = sorted(owner for unique_name, owner in self._logs if unique_name == database)
        is_known = any(owner in self._number for owner in own)
        by_facts = [name for name, n in self._number.items() if is_known and n == number]
        by_digits = [name for name in own if name not in self._number and self.number(name) == number]
        return next(iter((*by_facts, *by_digits)), f"instance {number}")
