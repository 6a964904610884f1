"""What a report says in plain sentences, for its first lines in any form and for the screen.

All of it is text as it was found: whoever shows it makes it harmless first (`checks.model.sanitize`).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from checks.model.facts import Cluster, Clusterware, Database, NotAsked, PrivateNetwork, Unknown
from checks.model.finding import PROBLEMS, Finding, Remedy, Status, worst_first
from checks.model.report import Report
from checks.model.wording import counted, few, listed
from checks.report.age import at, saved_state
from checks.report.folding import left_out_together, told_together

FIRST_STEPS = 3
_NOT_NEEDED = Cluster("", "").database
_NOUNS = {Status.FAIL: "failure", Status.WARN: "warning", Status.UNKNOWN: "unanswered question"}


def problems(report: Report) -> tuple[Finding, ...]:
    """What is wrong or not known and not waived, worst first."""
    return tuple(worst_first([f for f in report.findings if f.status in PROBLEMS and not f.waived]))


def waived(report: Report) -> tuple[Finding, ...]:
    """What would be a problem if the operator did not live with it, worst first."""
    return tuple(worst_first(list(report.waived)))


def counts(report: Report) -> tuple[tuple[Status, int], ...]:
    """How many findings of each status there are, worst first, without those that are waived."""
    each = ((status, report.count(status)) for status in sorted(Status, key=lambda s: s.gravity))
    return tuple((status, number) for status, number in each if number)


def headline(report: Report) -> str:
    """The one sentence to read aloud: the worst that was found, or that nothing was, or that it could not be told."""
    worst = problems(report)
    if not worst:
        return _calm(report)
    if worst[0].status is not Status.FAIL and (silent := _silent(report)):
        return silent
    alike = [f for f in worst if f.status is worst[0].status]
    if worst[0].status is not Status.UNKNOWN:
        return worst[0].title
    reasons = [finding for finding, _ in told_together(alike)]
    if len(reasons) == 1:
        return reasons[0].title
    unanswered = counted(len(alike), "question")
    return f"Whether all is well on {place(report)} could not be told: {unanswered} without an answer."


def sentences(report: Report, now: datetime | None = None, *, kept: bool = True) -> tuple[str, ...]:
    """What belongs to the headline, most doubtful first: what is missing, what was found besides, what is waived, how
    old it is. `now` is a time with a zone; without it, the clock is asked. `kept`: it is for a file, where how long ago
    something was does not stay true."""
    notices = _notices(report, saved_state(report, now, kept=kept))
    told = (*_doubts(report), _besides(report), *_waivers(report), *notices)
    return tuple(filter(None, told))


def first_steps(report: Report) -> tuple[Remedy, ...]:
    """What to do first: the next steps of the worst problem that has some; a change never stands alone. What only
    another run of racwire would tell is no first step: the reader of a report may have none."""
    for finding in problems(report):
        steps = tuple(step for step in finding.next if not _is_of_racwire(step))[:FIRST_STEPS]
        if any(not step.is_change for step in steps):
            return steps
    return ()


def facts(report: Report) -> tuple[tuple[str, str], ...]:
    """What was looked at, when, and with what: names and values of a small table."""
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
        ("Begun", f"{at(report.started_at)}, and took {report.duration_s:.1f} s"),
        ("Saved", at(report.saved_at)),
        ("Made by", f"racwire {report.racwire_version}"),
    )
    return tuple((name, value) for name, value in known if value)


def cluster_name(report: Report) -> str:
    """The cluster's name; empty where it is not known."""
    told = report.cluster.clusterware
    return told.cluster_name if isinstance(told, Clusterware) and isinstance(told.cluster_name, str) else ""


def place(report: Report) -> str:
    """What was looked at, within a sentence: the cluster's name, or the nodes."""
    read, unread = report.cluster.read_nodes(), report.cluster.unread_nodes()
    names = [node.name for node in read] + [node.name for node in unread]
    return cluster_name(report) or few(names) or report.cluster.local_node


def _network(network: PrivateNetwork) -> str:
    return f"{network.name} (MTU {network.mtu})" if isinstance(network.mtu, int) else network.name


def _database(database: Database | Unknown | NotAsked) -> str:
    if database == _NOT_NEEDED:
        return "not asked, since no check that ran needs it"
    if not isinstance(database, Database):
        how = "not asked" if isinstance(database, NotAsked) else "not known"
        return f"{how}. {database.reason}"
    asked, all_ = len(database.instances), len(database.instances) + len(database.unasked)
    number = counted(all_, "instance") if asked == all_ else f"{asked} of {counted(all_, 'instance')}"
    return f"{database.name} {database.version}, {number}"


def _calm(report: Report) -> str:
    if not any(f.status is not Status.SKIPPED for f in report.findings):
        return f"Nothing was judged on {place(report)}."
    other = "other " if waived(report) else ""
    return f"No {other}problem was found on the private interconnect of {place(report)}."


def _is_of_racwire(step: Remedy) -> bool:
    return bool(step.commands) and all(command.split()[:1] == ["racwire"] for command in step.commands)


def _silent(report: Report) -> str:
    """That instances of the database could not be asked; empty where all could, or none."""
    database = report.cluster.database
    if not isinstance(database, Database) or not database.unasked or not database.instances:
        return ""
    asked = few(i.name or f"instance {i.number}" for i in database.instances)
    return f"{database.name} does not answer for all its instances; only {asked} could be asked."


def _doubts(report: Report) -> Iterator[str]:
    if (silent := _silent(report)) and silent != headline(report):
        yield silent
    if report.interrupted:
        yield "The run was ended before every check had concluded: what had been found by then is here."
    for node in report.cluster.unread_nodes():
        yield f"{node.name} could not be read: {_ended(node.reason)}"


def _besides(report: Report) -> str:
    """What there is besides the headline."""
    left = {status: report.count(status) for status in PROBLEMS}
    worst = min((status for status in PROBLEMS if left[status]), key=lambda s: s.gravity, default=None)
    if worst is None:
        return ""
    told = headline(report) != _silent(report)
    if told:
        left[worst] = 0 if worst is Status.UNKNOWN else left[worst] - 1
    found = [
        counted(left[status], f"more {noun}" if told and status is worst else noun)
        for status, noun in _NOUNS.items()
        if left[status]
    ]
    return f"Besides, there {'is' if found[0].startswith('1 ') else 'are'} {listed(found)}." if found else ""


def _waivers(report: Report) -> Iterator[str]:
    known = waived(report)
    if known:
        by = few(dict.fromkeys(f.waived.by for f in known if f.waived))
        problem = "known problem is" if len(known) == 1 else "known problems are"
        yield f"{len(known)} {problem} waived by {by}: shown below, and not counted."
    standings = [waiver.standing for waiver in report.waivers]
    if lifted := standings.count("lifted"):
        waiver, found = ("waiver is", "finding is") if lifted == 1 else ("waivers are", "findings are")
        yield f"{lifted} {waiver} lifted, since the {found} worse than what was waived."
    if expired := standings.count("expired"):
        yield f"{counted(expired, 'waiver')} {'has' if expired == 1 else 'have'} expired."


def _notices(report: Report, state: str) -> Iterator[str]:
    for finding, checks in left_out_together(report.findings):
        was = "check was" if len(checks) == 1 else "checks were"
        yield f"{len(checks)} {was} left out: {_ended(finding.title)}"
    for again in report.reruns:
        yield f"The check {again.check} was run once more at {at(again.started_at)}."
    if state:
        yield f"This is not the cluster as it is now, but a saved state {state}."
    if report.is_redacted:
        yield "Names and addresses are pseudonyms, the same one for the same name throughout."


def _ended(text: str) -> str:
    return f"{text.strip().rstrip('.')}."
