"""Texts of findings about instances: names, nodes, units, and the instances without data."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

import msgspec

from checks.model.check import Kind
from checks.model.facts import Cluster, Database
from checks.model.finding import Finding, NextStep
from checks.model.known_instances import Unseen, database_of, instance_name, nodes_of
from checks.model.shell_command import shell
from checks.model.wording import continued, first_and_rest
from checks.plugins.shared.grouping import alike, briefly, named, some


def with_container_note(cluster: Cluster, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings, with a note in each if the connection is to a pluggable database only."""
    database = database_of(cluster)
    if database is None or not database.in_pluggable:
        yield from findings
        return
    note = f"connected to the pluggable database {database.container}, not to CDB$ROOT: the figures cover only it"
    yield from (msgspec.structs.replace(f, seen=(*f.seen, note)) for f in findings)


_EASY_CONNECT = re.compile(r"((?:tcps?:)?(?://)?[^/()=\s]+/)([^/:?()=\s]+).*")
"""EZConnect: protocol, hosts and port, then the service."""


def connect_to_root(database: Database) -> NextStep:
    """Return the step from a connection to a pluggable database to one to the container database.

    The default service of a container database is its DB_UNIQUE_NAME with the DB_DOMAIN, which a pluggable database's
    service has, too.
    """
    easy = _EASY_CONNECT.fullmatch(database.reached)
    target, _, domain = (easy[1], *easy[2].partition(".")[1:]) if easy else ("SCAN:1521/", "", "")
    service = f"{database.name}.{domain}" if domain else database.name
    return NextStep(
        "Connect to the service of the container database as a common user; `lsnrctl status` lists the services.",
        (
            "racwire grants --user C##RACWIRE   # the script for that user, to run in CDB$ROOT",
            shell("racwire check --connect {service} --user C##RACWIRE", service=f"{target}{service}"),
        ),
        "any user on this node; a DBA runs the script",
    )


def statement_topics(cluster: Cluster, *statements: str) -> list[tuple[str, str]]:
    """Return the journal topics of these statements."""
    return [(cluster.local_node, f"sql {name}") for name in statements]


def milliseconds(value: float) -> str:
    """Return `0.42 ms`, `12.3 ms`, `1,234 ms`; never 0 for a larger value."""
    if 0 < value < 0.01:
        return "0.01 ms"
    return f"{value:.2f} ms" if value < 10 else f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"


def percent(value: float) -> str:
    """Return `12 %`, `0.30 %`, `0.0040 %`: two significant digits, and never 0 for a larger value."""
    places = next((n for n, least in ((0, 10.0), (1, 1.0), (2, 0.1), (3, 0.01)) if value >= least), 4)
    return "under 0.0001 %" if 0 < value < 0.0001 else f"{value:.{places}f} %"


def unknown_instance_findings(
    cluster: Cluster, kind: Kind, title_subject: str, missing: Iterable[Unseen], statements: Collection[str]
) -> Iterator[Finding]:
    """Yield one UNKNOWN finding for all instances with the same reason, apart from the name in it.

    `title_subject` has a place for the instances: `The receive time of blocks at {}`.
    """

    def nameless(one: Unseen) -> str:
        return re.sub(rf"\b{re.escape(instance_name(cluster, one.instance))}\b", "{}", one.reason)

    for group in alike(sorted(missing, key=lambda one: one.instance), lambda one: first_sentence(nameless(one))):
        own = [instance_name(cluster, one.instance) for one in group]
        names = named(own, "instance")
        reason = nameless(group[0]).replace("{}", names if len(own) == 1 else "each of them")
        yield kind.finding(
            f"{title_subject.format(names)} is not known: {first_sentence(reason)}",
            subject=f"{briefly(own, 'instance')}: not known",
            seen=some(list(dict.fromkeys(one.reason for one in group))),
            expected=("Every instance answers",),
            next=[_check_that_they_answer(cluster)],
            evidence=statement_topics(cluster, *statements),
            nodes=nodes_of(cluster, [one.instance for one in group]),
            lacks=group,
        )


def _check_that_they_answer(cluster: Cluster) -> NextStep:
    database = database_of(cluster)
    name = database.name if database else "DB_UNIQUE_NAME"
    return NextStep(
        "Check that every instance is up, read the alert log of an instance that does not answer, then check again.",
        (shell("srvctl status database -d {database} -v", database=name), "racwire check"),
        "the owner of the database's home, on any node",
    )


def first_sentence(text: str) -> str:
    """Return the first sentence of a reason for use after a colon, with its full stop, without text in brackets."""
    first, _ = first_and_rest(re.sub(r" \([^()]*\)", "", text).strip())
    return f"{continued(first.partition('; ')[0].rstrip('.'))}."
