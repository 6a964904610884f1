"""The engine: gathers each needed group of facts once, runs each check as soon as its facts are there.

It tells what it does as it goes. One failing source or check makes its own checks UNKNOWN and disturbs nothing else.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import redirect_stdout

import msgspec

from checks.model.broken_dependency import error_text
from checks.model.check import Check, Kind
from checks.model.facts import Cluster, NotAsked, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.journal import Journal, now
from checks.model.report import Report, make_report
from checks.model.settings import Settings
from checks.rules.waivers import apply, day_of
from checks.run.check_discovery import BrokenPlugin, known_codes
from checks.run.events import CheckConcluded, Event, Gathered, GatherProgress, RunFinished, RunStarted
from checks.run.gathering import GATHERERS, Gatherer
from checks.run.settings_values import as_plain
from checks.run.versions import versions
from checks.sources.database.secret import Secret
from checks.sources.nodes.session import Session

NOT_GATHERED = Kind(
    "RW-ENGINE-001",
    "What a check needs to know could not be found out",
    "Not knowing is neither good nor bad: until the reason is mended, this check says nothing about the cluster.",
)
CHECK_BROKE = Kind(
    "RW-ENGINE-002",
    "A check broke down",
    "This is a fault of the check, not of the cluster; the other checks are not affected.",
)
PLUGIN_BROKEN = Kind(
    "RW-ENGINE-003",
    "An installed check could not be loaded",
    "What that check would have found is not known.",
)
INTERRUPTED = Kind("RW-ENGINE-004", "A check had not concluded when the run was interrupted")
NOT_ASKED = Kind(
    "RW-ENGINE-005",
    "A check was left out, because what it judges was not asked for",
    "Left out is neither good nor bad. It does not change the exit code.",
)
_TELL_IT = (
    Remedy("Run racwire on a node where Clusterware is up.", ("racwire check",)),
    Remedy(
        "Or name the private networks and the other nodes; then Clusterware is not needed.",
        ("racwire check --network 192.168.10.0/24 --peer HOST",),
    ),
)
_SELECT_GRANT = re.compile(r"^GRANT SELECT ON (\S+) TO (\S+);$", re.MULTILINE)

KINDS = (NOT_GATHERED, CHECK_BROKE, PLUGIN_BROKEN, INTERRUPTED, NOT_ASKED)
"""The kinds of finding that the engine itself makes, for any check."""


class Engine:
    """One run of some checks. Iterate `events()` to the end, or close it early; `report()` can be had at any time."""

    def __init__(
        self,
        checks: Iterable[Check],
        settings: Settings,
        *,
        broken: Iterable[BrokenPlugin] = (),
        gatherers: Sequence[Gatherer] = GATHERERS,
        password: Secret | None = None,
    ) -> None:
        self.checks = tuple(checks)
        self.journal = Journal()
        needed = needed_groups(self.checks, gatherers)
        self._gatherers = tuple(g for g in gatherers if g.group in needed)
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._under_way: set[str] = set()
        self._session = Session(settings, self.journal, self._progress, password=password)
        self._concluded: dict[str, tuple[Finding, ...]] = {b.name: (_broken_plugin(b),) for b in broken}
        self._cluster = Cluster(
            local_node=self._session.local_node,
            taken_at=now(),
            named_networks=settings.cluster.networks,
            thresholds=settings.thresholds.as_facts(),
        )
        self._waivers = settings.waivers
        self._settings = as_plain(settings)
        self._versions = versions()
        self._started_at = now()
        self._began = time.monotonic()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Run, telling each event as it comes. Everything is closed when this ends, however it ends."""
        yield RunStarted(tuple(c.id for c in self.checks), tuple(g.group for g in self._gatherers))
        for name, findings in self._concluded.items():
            yield CheckConcluded(name, findings)
        work = asyncio.create_task(self._work())
        work.add_done_callback(lambda _: self._events.put_nowait(RunFinished(self.report())))
        try:
            while True:
                event = await self._events.get()
                if isinstance(event, RunFinished):
                    await work  # an error of the engine itself must not pass for a finished run
                yield event
                if isinstance(event, RunFinished):
                    return
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            await self._session.close()

    def report(self, *, interrupted: bool = False) -> Report:
        """What is known by now; checks that have not concluded are UNKNOWN when the run was interrupted."""
        findings = [f for concluded in self._concluded.values() for f in concluded]
        if interrupted:
            findings += [_interrupted(c) for c in self.checks if c.id not in self._concluded]
        marked, standings = apply(findings, self._waivers, day_of(self._started_at), self._makers, known_codes)
        return make_report(
            version=racwire_version(),
            started_at=self._started_at,
            duration_s=time.monotonic() - self._began,
            cluster=self._cluster,
            findings=marked,
            journal=self.journal.entries,
            interrupted=interrupted,
            settings=self._settings,
            versions=self._versions,
            waivers=standings,
        )

    @property
    def _makers(self) -> dict[str, str]:
        """The check that can find each code; what the engine itself finds, it finds for any check."""
        own = {kind.code: "" for kind in KINDS}
        return own | {kind.code: check.id for check in self.checks for kind in check.kinds}

    def _progress(self, group: str, text: str, done: int, total: int) -> None:
        if group == "counters" and "activity" in self._under_way:
            return  # both wait at the same time; two lines in turns would tell less than one
        self._events.put_nowait(GatherProgress(group, text, done, total))

    async def _work(self) -> None:
        gathered = {g.group: asyncio.Event() for g in self._gatherers}
        async with asyncio.TaskGroup() as gathering:
            under_way = [gathering.create_task(self._gather(g, gathered)) for g in self._gatherers]
            async with asyncio.TaskGroup() as judging:
                for check in self.checks:
                    judging.create_task(self._judge(check, gathered))
            for task in under_way:
                task.cancel()  # nobody waits for it any more

    async def _gather(self, gatherer: Gatherer, gathered: dict[str, asyncio.Event]) -> None:
        for before in (*gatherer.needs, *(group for group in gatherer.after if group in gathered)):
            await gathered[before].wait()
        began = time.monotonic()
        self._under_way.add(gatherer.group)
        found: object
        try:
            async with asyncio.timeout(gatherer.limit_s):
                found = await gatherer.gather(self._session, self._cluster)
        except TimeoutError:
            found = Unknown(f"Gathering the {gatherer.group} took over {gatherer.limit_s:.0f} s and was given up.")
        except Exception as error:  # a source may fail in any way; its checks say so and the run goes on
            found = Unknown(f"Gathering the {gatherer.group} failed: {error_text(error)}")
        self._under_way.discard(gatherer.group)
        self._cluster = msgspec.structs.replace(
            self._cluster, **{gatherer.group: found}, local_node=self._session.local_node
        )
        problem = found.reason if isinstance(found, Unknown) else ""
        self._events.put_nowait(Gathered(gatherer.group, time.monotonic() - began, problem))
        gathered[gatherer.group].set()

    async def _judge(self, check: Check, gathered: dict[str, asyncio.Event]) -> None:
        for need in check.needs:
            await gathered[need].wait()
        findings = self._lacking(check)
        if not findings:
            for use in check.uses:
                await gathered[use].wait()
            findings = self._findings(check)
        self._concluded[check.id] = findings
        self._events.put_nowait(CheckConcluded(check.id, findings))

    def _lacking(self, check: Check) -> tuple[Finding, ...]:
        """Why the check cannot judge, where it cannot: whatever else is known, it says the same then."""
        for need in check.needs:
            fact = getattr(self._cluster, need)
            if isinstance(fact, NotAsked):
                return (_not_asked(check, need, fact),)
            if isinstance(fact, Unknown):
                return (_not_gathered(check, need, fact, self._cluster.local_node, self.journal),)
        return ()

    def _findings(self, check: Check) -> tuple[Finding, ...]:
        try:
            with redirect_stdout(sys.stderr):  # stdout is for the report alone
                found = check.run(self._cluster)
                # A finding takes what it is given; one that holds something else would break the report of all.
                return msgspec.convert(msgspec.to_builtins(found), tuple[Finding, ...])
        except (Exception, SystemExit) as error:  # a check may break in any way; the others go on
            return (_broke(check, error),)


def racwire_version() -> str:
    """The version of the installed distribution."""
    return versions()["racwire"]


def needed_groups(checks: Iterable[Check], gatherers: Sequence[Gatherer] = GATHERERS) -> tuple[str, ...]:
    """The groups of facts that the checks need, and those that they are gathered from, in the order of gathering.

    What none of these gatherers gathers is left out: a change has gatherers of its own.
    """
    by_group = {g.group: g for g in gatherers}
    needed: set[str] = set()
    ask = [need for check in checks for need in (*check.needs, *check.uses)]
    while ask:
        group = ask.pop()
        if group not in needed and group in by_group:
            needed.add(group)
            ask.extend(by_group[group].needs)
    return tuple(g.group for g in gatherers if g.group in needed)


def _of(check_id: str, finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, check=check_id)


def _not_asked(check: Check, need: str, left_out: NotAsked) -> Finding:
    return _of(
        check.id,
        NOT_ASKED.finding(
            Status.SKIPPED,
            left_out.reason,
            subject=f"{need} not asked",
            next=[Remedy("To have it:", left_out.commands)] if left_out.commands else (),
        ),
    )


def _not_gathered(check: Check, need: str, unknown: Unknown, node: str, journal: Journal) -> Finding:
    topics = {"clusterware": ("grid home",), "networks": ("grid home", "oifcfg getif")}
    topics |= dict.fromkeys(("database", "activity", "history"), _failed_queries(journal, node))
    first_sentence, _, rest = unknown.reason.partition(". ")
    steps: Sequence[Remedy] = ()
    if need in ("clusterware", "networks"):
        steps = _TELL_IT
    elif granted := _SELECT_GRANT.findall("\n".join(unknown.commands)):
        steps = (_how_to_grant(granted),)
    return _of(
        check.id,
        NOT_GATHERED.finding(
            Status.UNKNOWN,
            f"{check.id} could not tell: {first_sentence.rstrip('.')}.",
            subject=f"{need} not known",
            seen=(rest,) if rest else (),
            next=steps,
            evidence=[(node, topic) for topic in topics.get(need, ())],
        ),
    )


def _how_to_grant(missing: list[tuple[str, str]]) -> Remedy:
    """The script that grants these objects, and all others that racwire reads."""
    objects, users = zip(*missing, strict=True)
    words = ["racwire grants", *(f"--user {user}" for user in dict.fromkeys(users) if user != "RACWIRE")]
    words += ["--awr"] if any(".DBA_HIST_" in name for name in objects) else []
    words += ["--statspack"] if any(name.startswith("PERFSTAT.") for name in objects) else []
    return Remedy("Have a DBA grant it. The script for all that racwire reads:", (" ".join(words),))


def _failed_queries(journal: Journal, node: str) -> tuple[str, ...]:
    """What was asked of the database: the statements that failed, or all where none did."""
    asked = [entry for entry in journal.entries if entry.node == node and entry.topic.startswith("sql ")]
    failed = [entry for entry in asked if entry.outcome != "ok"]
    return tuple(dict.fromkeys(entry.topic for entry in failed or asked))


def _broke(check: Check, error: BaseException) -> Finding:
    return _of(
        check.id,
        CHECK_BROKE.finding(
            Status.UNKNOWN,
            f"The check {check.id} broke down before it could conclude.",
            subject="check broke",
            seen=(error_text(error),),
            next=[Remedy("Report this to whoever wrote the check, with the report of this run as JSON.")],
        ),
    )


def _broken_plugin(broken: BrokenPlugin) -> Finding:
    return _of(
        broken.name,
        PLUGIN_BROKEN.finding(
            Status.UNKNOWN,
            f"The installed check {broken.name} could not be loaded.",
            subject="not loaded",
            seen=(broken.reason,),
            next=[Remedy("Update or remove the package that brings it.")],
        ),
    )


def _interrupted(check: Check) -> Finding:
    return _of(
        check.id,
        INTERRUPTED.finding(
            Status.UNKNOWN,
            f"{check.id} had not concluded when the run was interrupted.",
            subject="interrupted",
            next=[Remedy("Run it again.", commands=(f"racwire check {check.id}",))],
        ),
    )
