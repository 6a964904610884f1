"""Choose the service by which to reach the database of an instance, from its configuration and the listeners."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from checks.model.wording import few, listed
from checks.sources.clusterware.listeners import READY, ListenerStatus, ServedService
from checks.sources.clusterware.managed import DatabaseConfiguration, stem

MOST_SERVICES = 3
"""Most services that are proposed or named for one instance."""


@dataclass(frozen=True)
class ServiceChoice:
    """The services to propose for an instance, the best first, and a sentence about them; both can be empty."""

    services: tuple[str, ...]
    note: str = ""


def choose_service(
    sid: str, database: DatabaseConfiguration | None, listeners: Iterable[ListenerStatus] | None
) -> ServiceChoice:
    """Return the default service of the database where the listeners serve it, else what they serve.

    `database` is None where srvctl did not name it, `listeners` is None where no listener answered.
    """
    default = database.default_service if database else ""
    if listeners is None:
        return ServiceChoice((default,) if default else ())
    served = services_of(sid, database, listeners)
    ready = [service.name for service in served if service.status.startswith(READY)]
    ready = sorted(dict.fromkeys(ready), key=lambda name: (not _is_like(name, sid, database), name.casefold()))
    if not default:
        return ServiceChoice(tuple(ready[:MOST_SERVICES]), _served(sid, ready) if ready else "")
    same = next((name for name in ready if name.casefold() == default.casefold()), "")
    if same:
        others = [name for name in ready if name != same]
        return ServiceChoice(
            (same,), f"The listener also serves {few(others, MOST_SERVICES)} for {sid}." if others else ""
        )
    if other := next((s for s in served if s.name.casefold() == default.casefold()), None):
        note = f"The listener has the service {other.name} of {sid} as {other.status}, not as {READY}."
        return ServiceChoice((other.name,), note)
    unique_name = database.unique_name.casefold() if database else ""
    if elsewhere := next((name for name in ready if name.partition(".")[0].casefold() == unique_name), ""):
        return ServiceChoice(
            (elsewhere,), f"srvctl names the default service of {sid} {default}; the listener serves {elsewhere}."
        )
    if ready:
        note = f"The listener does not serve {default}, the default service of {sid}. {_served(sid, ready)}"
        return ServiceChoice(tuple(ready[:MOST_SERVICES]), note)
    return ServiceChoice(
        (default,),
        f"The listeners of this node serve no service of {sid}: check its parameters local_listener and "
        "remote_listener.",
    )


def services_of(
    sid: str, database: DatabaseConfiguration | None, listeners: Iterable[ListenerStatus]
) -> tuple[ServedService, ...]:
    """Return the services for clients that an instance, or another one of its database, has registered."""
    return tuple(
        service
        for listener in listeners
        for service in listener.services
        if service.is_for_clients
        and (service.instance.casefold() == sid.casefold() or (database and database.has_instance(service.instance)))
    )


def served_services(listeners: Iterable[ListenerStatus], wanted: str) -> str:
    """Return which listeners serve which services for clients, and the one to use; empty where they serve none.

    That is the service with the wanted name and another domain, or the address of a listener that serves the wanted
    one.
    """
    served: dict[tuple[str, ...], list[ListenerStatus]] = {}
    for listener in listeners:
        ready = {s.name for s in listener.services if s.is_for_clients and s.status.startswith(READY)}
        served.setdefault(tuple(sorted(ready, key=str.casefold)), []).append(listener)
    sentences = []
    for names, by in served.items():
        if names:
            verb = "serves" if len(by) == 1 else "serve"
            sentences.append(f"On this node {listed([one.name for one in by])} {verb} {few(names, 8)}.")
    return " ".join((*sentences, *_advice(served, wanted)))


def _advice(served: dict[tuple[str, ...], list[ListenerStatus]], wanted: str) -> Iterator[str]:
    names = {name.casefold(): by for found, by in served.items() for name in found}
    if by := names.get(wanted.casefold()):
        if by[0].endpoints:
            yield f"Connect to {by[0].endpoints[0]}/{wanted} ({by[0].name})."
        return
    bare = wanted.partition(".")[0].casefold()
    same = sorted({name for found in served for name in found if name.partition(".")[0].casefold() == bare})
    if len(same) == 1:
        yield f"Use {same[0]}."


def _is_like(service: str, sid: str, database: DatabaseConfiguration | None) -> bool:
    """Whether a service has the name of the instance's database, as a default service has."""
    name = service.partition(".")[0].casefold()
    return name in {stem(sid), *(database.prefixes if database else ())}


def _served(sid: str, names: list[str]) -> str:
    return f"The listener serves {few(names, MOST_SERVICES)} for {sid}."
