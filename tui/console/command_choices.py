"""The command line of the console (`:`): verbs such as `save` and `explain IC-PATH-003`, and the names of this cluster.

Pure: `choices` decides what a text offers, and the actions of the app in `command_line.py` do it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checks.model.facts import Cluster, Database
from checks.model.report import Report
from checks.report.causes import cause_entries
from tui.console.actions import EVERYWHERE, TABS, Action

_OF_MOVEMENT = frozenset({"move", "edge", "page", "scroll", "match", "next", "previous", "seek", "palette", "show"})
"""Actions whose keys move a selection or a page, or open what has a name of its own here."""


@dataclass(frozen=True)
class Choice:
    """What the command line offers."""

    name: str
    """What the operator types, or the key of an action."""
    help: str
    action: str
    """The action in Textual's notation; `{}` stands for the argument, in quotes."""
    argument: str = ""
    """The name of the argument for the display; empty where the choice takes none."""
    is_optional: bool = False
    """Whether the choice also works without its argument."""

    def with_argument(self, text: str) -> str:
        """Return the action with that argument."""
        return self.action.replace("{}", repr(text)) if self.argument else self.action


_VERBS = (
    Choice("rerun", "Run all checks again, or the named check: rerun df-ping.", "app.rerun({})", "CHECK", True),
    Choice("save", "Save the whole state in a file for another machine.", "app.write('saved file')"),
    Choice("report", "Write the report in a format: report html.", "app.write({})", "FORMAT", True),
    Choice("record", "Start or stop a recording of the live samples.", "app.record"),
    Choice("explain", "Explain a code, a check or a cause: explain IC-PATH-003.", "app.explain({})", "WHAT"),
    Choice("shell", "Open a shell on this terminal; racwire goes on sampling.", "app.shell"),
    Choice("connect", "How to connect to a database: connect rac-scan:1521/SERVICE.", "app.connect({})", "WHERE", True),
    Choice("graphs", "Change between graphs of blocks and of braille.", "app.graphs"),
    Choice("theme", "Change between the colours of racwire and those of the terminal.", "app.theme"),
)


def choices(text: str, actions: Iterable[Action], report: Report | None) -> list[Choice]:
    """Return what a text offers, the best first: the verb or name that it is, then those that start with it, then what
    has all its words. Without a text: the verbs, the screens and the actions; names only where they are typed."""
    words = text.casefold().split()
    known = [*_verbs(), *_of_screen(actions)]
    if not words:
        return known
    named = list(_objects(report)) if report else []
    first, rest = words[0], words[1:]
    verbs = [one for one in known if one.argument and one.name == first and rest]
    whole = [one for one in (*known, *named) if one.name.casefold() == " ".join(words)]
    starts = [one for one in (*known, *named) if len(words) == 1 and one.name.casefold().startswith(first)]
    anywhere = [one for one in (*known, *named) if all(w in f"{one.name} {one.help}".casefold() for w in words)]
    return list(dict.fromkeys((*verbs, *whole, *starts, *anywhere)))


def argument_of(choice: Choice, text: str) -> str | None:
    """Return the argument that a text has for a choice; None where it lacks one that is needed."""
    verb, _, rest = text.strip().partition(" ")
    typed = rest.strip() if choice.argument and verb.casefold() == choice.name else ""
    return typed if typed or not choice.argument or choice.is_optional else None


def _verbs() -> Iterator[Choice]:
    yield from _VERBS
    taken = {verb.name for verb in _VERBS}
    for mode, tab in ((mode, tab) for mode, tab in TABS.items() if tab[2:].casefold() not in taken):
        yield Choice(tab[2:].casefold(), f"Show the {tab[2:]} screen.", f"app.show('{mode}')")


def _of_screen(actions: Iterable[Action]) -> Iterator[Choice]:
    for action in dict.fromkeys((*actions, *EVERYWHERE)):
        if action.name not in _OF_MOVEMENT:
            yield Choice(action.key, action.help, action.action)


def _objects(report: Report) -> Iterator[Choice]:
    """Yield the names of the cluster, and the codes, checks and causes of the report."""
    for name, what in dict.fromkeys(_names(report.cluster)):
        yield Choice(name, f"List the findings about {what} {name}.", f"app.find({name!r})")
    for entry in cause_entries(report):
        for cause in entry.causes:
            yield Choice(cause.cause, entry.headline, f"app.find_code({cause.cause!r})")
    for finding in report.findings:
        yield Choice(finding.code, finding.title, f"app.find_code({finding.code!r})")
    for check in dict.fromkeys(finding.check for finding in report.findings):
        yield Choice(check, f"List the findings of the check {check}.", f"app.find({check!r})")


def _names(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for node in cluster.nodes if isinstance(cluster.nodes, tuple) else ():
        yield node.name, "the node"
    for network in cluster.networks if isinstance(cluster.networks, tuple) else ():
        for interface in dict.fromkeys((network.interface, *(port.interface for port in network.ports))):
            yield interface, "the interface"
        yield network.name, "the network"
    if isinstance(cluster.database, Database):
        for instance in cluster.database.instances:
            yield instance.name, "the instance"
