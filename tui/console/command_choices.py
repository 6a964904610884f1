"""The command line of the console (`:`): verbs such as `save` and `explain IC-PATH-003`, the names of this cluster, the
commands of every screen, and what can be explained.

Pure: `choices` decides what a text offers, and the actions of the app in `command_line.py` do it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from checks.model.facts import Cluster, Database
from checks.model.report import Report
from checks.model.wording import nearest
from checks.report.causes import cause_entries
from tui.console.actions import EVERYWHERE, TABS, Action

SYNONYMS = {
    "app.rerun({})": "refresh reload again recheck retry repeat update check scan run",
    "app.write('saved file')": "archive keep dump store bundle snapshot",
    "app.write({})": "export write print html pdf markdown text json mail ticket sr",
    "app.record": "capture sample samples trace tcpdump oswatcher",
    "app.explain({})": "why what meaning describe info oerr cause code",
    "app.shell": "bash sh host terminal ssh !",
    "app.connect({})": "login logon sqlplus password user tns service database",
    "app.graphs": "braille blocks characters charts",
    "app.theme": "colour colours color colors dark light contrast palette",
    "app.show('checks')": "findings finding problems causes errors faults issues status health home main",
    "app.show('paths')": "ping pings mtu jumbo df network networks matrix route routes latency rtt",
    "app.show('traffic')": "loss lost drop drops dropped bandwidth rate rates load throughput packets errors nic nics "
    "interface cpu softirq live graph graphs top",
    "app.show('database')": "loss lost blocks gc lms instance instances awr statspack waits history db cache fusion",
    "app.show('change')": "mtu jumbo 9000 plan runbook maintenance rollback",
    "app.show('measure')": "benchmark bench test iperf speed throughput latency experiment",
    "app.show('events')": "alarm alarms alert alerts log incidents loss lost drop drops cable link flap eviction node",
    "app.ran": "journal log history commands executed audit activity queries",
    "app.help": "keys shortcuts manual man usage ?",
    "app.stop": "suspend background bg",
    "app.quit": "exit close end logout bye",
    "pause": "freeze hold stop resume play",
    "sort": "order",
    "filter": "search find grep",
    "problems": "errors failures only",
    "problem": "errors failures bad next",
    "zoom": "full fullscreen maximise maximize enlarge bigger pane",
    "verify": "fixed confirm prove gate",
    "copy": "clipboard yank commands",
    "forget": "clear delete remove acknowledge ack",
    "redact": "pseudonyms anonymise anonymize mask hide names",
    "seek": "time jump when playhead",
    "interval": "faster slower frequency every rate",
    "reset": "peaks zero highest",
    "speed": "faster slower replay",
    "all": "nodes overview",
    "others": "public interfaces",
    "export": "write file events",
    "attest": "sign confirm approve",
    "override": "force skip",
    "rollback": "undo back revert",
    "plan": "new mtu",
    "go": "send start",
}
"""The words that find a command beyond its own name and its help: what a DBA types. By command, in Textual's notation
with or without its arguments; the words are separated by spaces."""


_OF_MOVEMENT = frozenset({"move", "edge", "page", "scroll", "match", "next", "previous", "palette", "show"})
"""Actions whose keys move a selection or a page, or open what has a name of its own here."""
_ONLY_THERE = frozenset({"back", "clear", "end", "leave", "fold", "rerun", "choose", "step", "leap", "mark", "run"})
"""Further actions that mean nothing before their screen is in sight, or have a verb."""
_AT_ONCE = frozenset(
    {"all", "filter", "interval", "others", "pause", "problem", "problems", "seek", "sort", "sort_reversed"}
)
"""Actions that change only what their screen shows: they are done as soon as it is shown. Of the others it says the
key, since they act on what is selected there, or write, or send."""


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
    words: Sequence[str] = ()
    """Other words that find it."""

    def with_argument(self, text: str) -> str:
        """Return the action with that argument."""
        return self.action.replace("{}", repr(text)) if self.argument else self.action


@dataclass(frozen=True)
class Scope:
    """What can be offered."""

    actions: Sequence[Action] = ()
    """The commands of the screen in sight."""
    report: Report | None = None
    elsewhere: Sequence[tuple[str, Action]] = ()
    """The commands of the other main screens, with the mode of each."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """What `racwire explain` explains, with the title of each."""


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


def synonyms(command: str) -> Sequence[str]:
    """Return the words that find a command, its own name first."""
    stem = command.partition("(")[0]
    return (stem.rpartition(".")[2], *SYNONYMS.get(command, SYNONYMS.get(stem, "")).split())


def choices(text: str, scope: Scope) -> list[Choice]:
    """Return what a text offers, the best first: the verb or name that it is, what it is a synonym of, then those that
    start with it, then what has all its words; at the end what can be explained, since that is listed a while later
    than the rest. Without a text: the verbs, the screens and the actions in sight."""
    words = text.casefold().split()
    known = [*_verbs(), *_of_screen(scope.actions)]
    if not words:
        return known
    known += [*_elsewhere(scope.elsewhere), *(_objects(scope.report) if scope.report else ())]
    return list(dict.fromkeys((*_ranked(known, words), *_ranked(_pages(scope.pages), words))))


def _ranked(known: Iterable[Choice], words: Sequence[str]) -> list[Choice]:
    found = [(rank, one) for one in known if (rank := _rank(one, words)) is not None]
    return [one for _, one in sorted(found, key=lambda each: each[0])]


def _rank(choice: Choice, words: Sequence[str]) -> int | None:
    """Return how well a text fits a choice, 0 best; None where it does not."""
    name, whole = choice.name.casefold(), " ".join(words)
    if choice.argument and name == words[0] and len(words) > 1:
        return 0
    if name == whole:
        return 1
    if whole in choice.words:
        return 2
    if name.startswith(whole):
        return 3
    if any(word.startswith(whole) for word in choice.words):
        return 4
    searched = f"{name} {choice.help} {' '.join(choice.words)}".casefold()
    return 5 if all(word in searched for word in words) else None


def nothing_found(text: str, scope: Scope) -> tuple[str, ...]:
    """Return the sentences for a text that nothing matches: what to do about it, with the name that is most like it."""
    known = [*choices("", scope), *_elsewhere(scope.elsewhere), *(_objects(scope.report) if scope.report else ())]
    words = (*(word for one in known for word in (one.name, *one.words)), *scope.pages)
    close = nearest(text, (word for word in words if len(word) > 1))
    likely = f" Did you mean {close}?" if close else ""
    return (
        f"Nothing matches {text}.{likely}",
        "Change the text, or delete it to see all commands. Names of nodes and interfaces, codes (IC-PATH-003, "
        "CAUSE-05) and checks (df-ping) are found too.",
        "Esc goes back; there ? lists the keys, and / searches what the screen shows.",
    )


def argument_of(choice: Choice, text: str) -> str | None:
    """Return the argument that a text has for a choice; None where it lacks one that is needed."""
    verb, _, rest = text.strip().partition(" ")
    typed = rest.strip() if choice.argument and verb.casefold() == choice.name else ""
    return typed if typed or not choice.argument or choice.is_optional else None


def _verbs() -> Iterator[Choice]:
    yield from (replace(verb, words=synonyms(verb.action)[1:]) for verb in _VERBS)
    taken = {verb.name for verb in _VERBS}
    for mode, tab in ((mode, tab) for mode, tab in TABS.items() if tab[2:].casefold() not in taken):
        action = f"app.show('{mode}')"
        yield Choice(tab[2:].casefold(), f"Show the {tab[2:]} screen.", action, words=synonyms(action)[1:])


def _of_screen(actions: Iterable[Action]) -> Iterator[Choice]:
    for action in dict.fromkeys((*actions, *EVERYWHERE)):
        if action.name not in _OF_MOVEMENT:
            yield Choice(action.key, action.help, action.action, words=synonyms(action.action))


def _elsewhere(actions: Iterable[tuple[str, Action]]) -> Iterator[Choice]:
    """Yield the commands of other screens: each shows its screen first."""
    for mode, action in actions:
        is_known = action.action.startswith("app.") or action.name in _OF_MOVEMENT | _ONLY_THERE
        if not is_known:
            key, screen = TABS[mode][:1], TABS[mode][2:]
            done = action.action if action.name in _AT_ONCE else ""
            go = f"app.go({mode!r}, {done!r}, {f'{action.key}: {action.help}'!r})"
            yield Choice(f"{key} {action.key}", f"{screen}: {action.help}", go, words=synonyms(action.action))


def _pages(pages: Mapping[str, str]) -> Iterator[Choice]:
    for name, title in pages.items():
        yield Choice(name, f"Explain: {title}", f"app.explain({name!r})")


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
