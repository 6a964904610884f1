"""The summary sentences of a report, for its first lines in every format and for the screen.

The texts are not sanitized: the code that displays them must do that first (`checks.model.sanitize`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from checks.model.facts import Clusterware, Database, NotAsked, NotGathered, PathProbe, PrivateNetwork, Unknown
from checks.model.finding import PROBLEMS, Finding, NextStep, Status, worst_first
from checks.model.report import Report, Rerun
from checks.model.wording import counted, few, listed
from checks.report.age import moment_text, saved_state, time_text
from checks.report.causes import cause_entries, further_entries, open_problems
from checks.report.folding import grouped_by_reason, grouped_skipped, skipped_in_short
from checks.report.situation_words import (
    as_of_span,
    entry_stands,
    new_events,
    standing_sections,
    standing_sentences,
    stands,
)
from checks.report.standings import Standings
from checks.rules.own_footprint import notices

FIRST_STEPS = 3
_SHORT = 3
"""The most short reasons of skipped checks in a sentence."""
_LOST = "Not known any longer:"
_NOUNS = {Status.FAIL: "failure", Status.WARN: "warning", Status.UNKNOWN: "unknown result"}


def problems(report: Report) -> tuple[Finding, ...]:
    """Return the problems of the moment that are not waived, worst first; faults that are not known any more come
    last."""
    return open_problems(report)


def waived(report: Report) -> tuple[Finding, ...]:
    """Return the problems that a waiver covers, worst first."""
    return tuple(worst_first(list(report.waived)))


def counts(report: Report) -> tuple[tuple[Status, int], ...]:
    """Return the number of findings that have each status at the moment, worst first, without the waived findings."""
    found = Counter(finding.status for finding in report.holding(*Status) if not finding.waived)
    return tuple((status, found[status]) for status in sorted(found, key=lambda s: s.gravity))


def headline(report: Report, unknown: int = 0) -> str:
    """Return the main sentence of a report: the events that no finding is about, the first cause, else the worst
    problem, or that no problem was found, or that racwire does not know. `unknown` is that of `no_problem`, where the
    report has no situation."""
    if new := new_events(report):
        return new
    if causes := cause_entries(report):
        return causes[0].headline if causes[0].holds else f"{_LOST} {causes[0].headline}"
    worst = problems(report)
    if not worst:
        return no_problem(report, unknown or _not_known(report))
    if worst[0].status is not Status.UNKNOWN and not report.count(worst[0].status):
        return f"{_LOST} {worst[0].title}"
    if worst[0].status is not Status.FAIL and (unqueried := _unqueried_instances(report)):
        return unqueried
    alike = [f for f in worst if f.status is worst[0].status]
    if worst[0].status is not Status.UNKNOWN:
        return worst[0].title
    reasons = list(grouped_by_reason(alike))
    if len(reasons) == 1:
        return reasons[0].title
    results = counted(len(alike), "unknown result")
    return f"The state of the private interconnect of {place(report)} is not known: {results}."


def _not_known(report: Report) -> int:
    unread = [f for f, said in report.stated() if f.status is Status.UNKNOWN and said and said.step and not f.waived]
    return len(report.not_known) + len(unread) + (report.situation.unsettled if report.situation else 0)


def headline_stands(report: Report) -> str:
    """Return how the first problem stands, or as of when what passed is; empty without a situation, and where the
    headline is an event, whose times the line of the incident has."""
    if report.situation is None or new_events(report):
        return ""
    if causes := cause_entries(report):
        return entry_stands(causes[0], report)
    if worst := problems(report):
        return stands(worst[0], Standings(report, report.situation).of(worst[0]), report)
    return as_of_span(report, report.holding(Status.PASS, Status.INFO))


def sentences(report: Report, now: datetime | None = None, *, for_file: bool = True) -> tuple[str, ...]:
    """Return the sentences after the headline, most important first: missing facts, further problems, waivers, and the
    age of a saved state. `now` is a time with a zone; the default is the time of the clock. `for_file`: write times
    that stay true in a file, and no "3 d ago"."""
    notices = _notices(report, saved_state(report, now, for_file=for_file))
    is_headline = not (new_events(report) or cause_entries(report) or problems(report))
    further = (_further_problems(report), *standing_sentences(report, counts_unknown=not is_headline))
    found = (*_gaps_in_evidence(report), *further, *_waivers(report), *notices)
    return tuple(filter(None, found))


def first_steps(report: Report) -> tuple[NextStep, ...]:
    """Return the steps to take first: those of the first cause, else of the worst problem, that has any step which
    changes nothing. Steps that run racwire are left out, since the reader of a report may not have racwire."""
    for known in (*(entry.next for entry in cause_entries(report)), *(f.next for f in problems(report))):
        steps = tuple(step for step in known if not _is_of_racwire(step))[:FIRST_STEPS]
        if any(not step.is_change for step in steps):
            return steps
    return ()


def facts(report: Report) -> tuple[tuple[str, str], ...]:
    """Return names and values for a small table: the cluster, the time of the check, and the version of racwire."""
    cluster = report.cluster
    clusterware, networks = cluster.clusterware, cluster.networks
    nodes = [f"{n.name} (this one)" if n.name == cluster.local_node else n.name for n in cluster.read_nodes()]
    nodes += [f"{node.name} (not read)" for node in cluster.unread_nodes()]
    version = clusterware.version if isinstance(clusterware, Clusterware) else Unknown("")
    known = (
        ("Cluster", cluster_name(report)),
        ("Nodes", ", ".join(nodes) or cluster.local_node),
        ("Private networks", "" if isinstance(networks, Unknown) else ", ".join(map(_network, networks))),
        ("Clusterware", "" if isinstance(version, Unknown) else version.version),
        ("Database", _database(cluster.database)),
        ("Started", f"{time_text(report.started_at)}, took {report.duration_s:.1f} s"),
        ("As of", moment_text(report)),
        ("Saved", time_text(report.saved_at)),
        ("Made by", f"racwire {report.racwire_version}"),
    )
    return tuple((name, value) for name, value in known if value)


def no_problem(report: Report, unknown: int = 0) -> str:
    """Return the sentence of a report without an open problem, with its scope: the nodes, paths and instances that were
    read, and the checks of which no part was skipped. `unknown` is the number of results that may have changed since:
    with any, the sentence does not say that no problem was found."""
    skipped = {f.check for f in report.findings if f.status is Status.SKIPPED}
    concluded = {f.check for f in report.findings} - skipped
    if all(f.status is Status.SKIPPED for f in report.findings):
        return f"No check ran on {place(report)}."
    cluster = report.cluster
    paths = [p for p in cluster.paths if isinstance(p, PathProbe)] if isinstance(cluster.paths, tuple) else []
    instances = cluster.database.instances if isinstance(cluster.database, Database) else ()
    nouns = ((cluster.read_nodes(), "node"), (paths, "path"), (instances, "instance"), (concluded, "check"))
    scope = ", ".join(counted(len(each), noun) for each, noun in nouns if each)
    scope += f"; {len(skipped)} skipped" if skipped else ""
    if unknown:
        verb = "is" if unknown == 1 else "are"
        return f"{counted(unknown, 'result')} {verb} not known any longer, of {scope}."
    is_other = waived(report) or standing_sections(report)
    return f"No {'other ' if is_other else ''}problem was found: {scope}."


def cluster_name(report: Report) -> str:
    """Return the cluster's name; empty where it is not known."""
    clusterware = report.cluster.clusterware
    name = clusterware.cluster_name if isinstance(clusterware, Clusterware) else ""
    return name if isinstance(name, str) else ""


def place(report: Report) -> str:
    """Return the name of the checked cluster, or the names of its nodes, for use in a sentence."""
    read, unread = report.cluster.read_nodes(), report.cluster.unread_nodes()
    names = [node.name for node in read] + [node.name for node in unread]
    return cluster_name(report) or few(names) or report.cluster.local_node


def _network(network: PrivateNetwork) -> str:
    return f"{network.name} (MTU {network.mtu})" if isinstance(network.mtu, int) else network.name


def _database(database: Database | Unknown | NotAsked) -> str:
    if isinstance(database, NotGathered):
        return "not queried, since no check that ran needs it"
    if not isinstance(database, Database):
        how = "not queried" if isinstance(database, NotAsked) else "not known"
        return f"{how}. {database.reason}"
    queried, all_ = len(database.instances), len(database.instances) + len(database.unasked)
    number = counted(all_, "instance") if queried == all_ else f"{queried} of {counted(all_, 'instance')}"
    return f"{database.name} {database.version}, {number}"


def _is_of_racwire(step: NextStep) -> bool:
    return bool(step.commands) and all(command.split()[:1] == ["racwire"] for command in step.commands)


def _unqueried_instances(report: Report) -> str:
    """Return a sentence where some instances of the database could not be queried; empty where all or none could."""
    database = report.cluster.database
    if not isinstance(database, Database) or not database.unasked or not database.instances:
        return ""
    queried = few(i.name or f"instance {i.number}" for i in database.instances)
    return f"{database.name} does not answer for all its instances; racwire could query only {queried}."


def _gaps_in_evidence(report: Report) -> Iterator[str]:
    if (unqueried := _unqueried_instances(report)) and unqueried != headline(report):
        yield unqueried
    if report.interrupted:
        yield "The run was interrupted before all checks had finished. The report has the results up to that time."
    for node in report.cluster.unread_nodes():
        yield f"{node.name} could not be read: {_ended(node.reason)}"


def _further_problems(report: Report) -> str:
    """Return a sentence with the number of problems that the headline does not name; empty where there are none."""
    is_new = bool(new_events(report))
    if causes := cause_entries(report):
        entries = [entry for entry in further_entries(report, causes) if entry.holds]
        further = Counter(f.status for entry in entries for f in (entry.findings[0], *entry.likewise))
        named = causes[0].holds and not is_new
        more = sum(cause.holds for cause in causes) - named
        found = [counted(more, "more cause" if named else "cause")] if more else []
        found += [counted(further[status], noun) for status, noun in _NOUNS.items() if further[status]]
        cause = " that the cause does not explain" if further and len(causes) == 1 else ""
        return f"There {'is' if found[0].startswith('1 ') else 'are'} also {listed(found)}{cause}." if found else ""
    left = {status: report.count(status) for status in PROBLEMS}
    worst = min((status for status in PROBLEMS if left[status]), key=lambda s: s.gravity, default=None)
    if worst is None:
        return ""
    names_worst = not is_new and headline(report) != _unqueried_instances(report)
    if names_worst:
        left[worst] = 0 if worst is Status.UNKNOWN else left[worst] - 1
    found = [
        counted(left[status], f"more {noun}" if names_worst and status is worst else noun)
        for status, noun in _NOUNS.items()
        if left[status]
    ]
    return f"There {'is' if found[0].startswith('1 ') else 'are'} also {listed(found)}." if found else ""


def _waivers(report: Report) -> Iterator[str]:
    known = waived(report)
    if known:
        by = few(dict.fromkeys(f.waived.by for f in known if f.waived))
        problem = "known problem is" if len(known) == 1 else "known problems are"
        yield f"{len(known)} {problem} waived by {by}: listed below, and not counted."
    standings = [waiver.standing for waiver in report.waivers]
    if lifted := standings.count("lifted"):
        waiver, found = ("waiver is", "finding is") if lifted == 1 else ("waivers are", "findings are")
        yield f"{lifted} {waiver} lifted, since the {found} worse than the waiver allows."
    if expired := standings.count("expired"):
        yield f"{counted(expired, 'waiver')} {'has' if expired == 1 else 'have'} expired."


def _notices(report: Report, state: str) -> Iterator[str]:
    skipped = list(grouped_skipped(report.findings))
    whole = [group for group in skipped if group[0].next or len(skipped) == 1]
    for finding, checks in whole:
        yield f"{_were_skipped(len(checks))}: {_ended(finding.title)}"
    if short := skipped_in_short(group for group in skipped if group not in whole):
        left = sum(list(short.values())[_SHORT:])
        others = f" and {left} more" if left else ""
        yield f"{_were_skipped(sum(short.values()))}: {', '.join(list(short)[:_SHORT])}{others}."
    for rerun in report.reruns:
        yield f"{_run_again(rerun)} at {time_text(rerun.started_at)}."
    yield from notices(report.cluster)
    if state:
        yield f"This is not the cluster as it is now, but a saved state {state}."
    if report.is_redacted:
        yield "Names and addresses are pseudonyms. One name has the same pseudonym everywhere."


def _run_again(rerun: Rerun) -> str:
    """Return what a later run did, without its time."""
    if not rerun.check:
        verb = "was" if len(rerun.judged) == 1 else "were"
        return f"Gates of a change read the cluster, and {counted(len(rerun.judged), 'check')} {verb} judged again"
    one = f"The check {rerun.check} was" if not rerun.also else f"The checks {listed(rerun.checks)} were"
    return f"{one} run again"


def _were_skipped(number: int) -> str:
    return f"{number} {'check was' if number == 1 else 'checks were'} skipped"


def _ended(text: str) -> str:
    return f"{text.strip().rstrip('.')}."
