"""Reads a log of HammerDB: of its virtual users, its transaction counter, or its time profile, or of all three.

    Vuser 1:4 Active Virtual Users configured
    Vuser 1:TEST RESULT : System achieved 8043 NOPM from 16365 Oracle TPM      (4.0 and later)
    Vuser 1:TEST RESULT : System achieved 60501 Oracle TPM at 13207 NOPM       (before)
    12345 Oracle tpm                                                           (transaction counter)

One log may contain several tests. racwire never quotes a line: HammerDB prints passwords where they are set.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from checks.model.percentiles import least_values
from checks.model.wording import counted, listed
from checks.traffic.compare.run import Better, ComparedRun, ImportProblem, Measured
from checks.traffic.imports.result_text import number, without_idle_ends, word

GROUP = "HammerDB"
_RESULT = re.compile(
    r"System achieved (?P<nopm>\d{1,15}) NOPM from (?P<tpm>\d{1,15}) (?P<database>[\w .+-]{0,40}?) ?TPM\b", re.ASCII
)
_OLD_RESULT = re.compile(
    r"System achieved (?P<tpm>\d{1,15}) (?P<database>[\w .+-]{0,40}?) ?TPM at (?P<nopm>\d{1,15}) NOPM\b", re.ASCII
)
_COUNTER = re.compile(r"^(?:Vuser \d{1,6}:)?[ \t]{0,20}(?P<tpm>\d{1,15}) (?P<database>[\w .+-]{1,40}?) tpm\b", re.ASCII)
_USERS = re.compile(r"\b(\d{1,9}) Active Virtual Users configured", re.ASCII)
_RAMP = re.compile(r"Beginning rampup time of (\d{1,6}) minutes?", re.ASCII)
_PERIOD = re.compile(r"Timing test period of (\d{1,6}) in minutes", re.ASCII)
_FAILED = re.compile(r"Vuser (\d{1,6}):\s*FINISHED FAILED", re.ASCII)
_ORACLE_ERROR = re.compile(r"\bORA-\d{5}\b", re.ASCII)
_SUMMARY = re.compile(r"^>>>>> SUMMARY OF \d+ ACTIVE VIRTUAL USERS", re.ASCII)
_SECTION = re.compile(r"^>>>>> (?:VIRTUAL USER|SUMMARY)\b", re.ASCII)
_PROCEDURE = re.compile(r"^>>>>> PROC: (\w{1,40})", re.ASCII)
_TIMING = re.compile(r"\b(CALLS|AVG|MAX|P\d\d): (\d{1,15}(?:\.\d{1,9})?)", re.ASCII)
_SIGNS = (
    _RESULT,
    _OLD_RESULT,
    re.compile(_COUNTER.pattern, re.ASCII | re.MULTILINE),
    re.compile(r"^>>>>> PROC: ", re.M),
)


@dataclass(slots=True)
class _Log:
    """The values found so far."""

    new_orders: list[float] = field(default_factory=list)
    transactions: list[float] = field(default_factory=list)
    counter: list[float] = field(default_factory=list)
    """The readings of the transaction counter in the finished tests."""
    counter_now: list[float] = field(default_factory=list)
    counter_is_paused: bool = False
    """Whether the log is between two tests: readings of the counter there belong to no test."""
    timings: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    databases: set[str] = field(default_factory=set)
    users: list[str] = field(default_factory=list)
    ramps: list[str] = field(default_factory=list)
    periods: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    errors: set[str] = field(default_factory=set)
    nothing_counted: int = 0


def looks_like_hammerdb(text: str) -> bool:
    """Return whether a text contains a result, a transaction counter or a time profile of HammerDB."""
    return any(sign.search(text) for sign in _SIGNS)


def parse_hammerdb(text: str, name: str) -> ComparedRun:
    """Return the run of a log. Raises ImportProblem where the log has no result."""
    log = _Log()
    in_summary, procedure, calls = False, "", math.inf
    for line in text.splitlines():
        if _SECTION.match(line):
            in_summary, procedure = _SUMMARY.match(line) is not None, ""
        elif found := _PROCEDURE.match(line):
            procedure, calls = found[1] if in_summary else "", math.inf
        elif procedure and _TIMING.search(line):
            for what, value in _TIMING.findall(line):
                calls = float(value) if what == "CALLS" else calls
                if what.startswith("P") and calls < least_values(int(what[1:]) / 100):
                    continue
                log.timings.setdefault((procedure, what), []).append(float(value))
        else:
            _take(log, line[:2000])
    log.counter += log.counter_now
    return _run(log, name)


def _take(log: _Log, line: str) -> None:
    """Read one line of the virtual users' log or of the transaction counter."""
    if result := _RESULT.search(line) or _OLD_RESULT.search(line):
        _take_result(log, result)
    elif count := _COUNTER.match(line):
        if not log.counter_is_paused:
            log.counter_now.append(float(count["tpm"]))
        log.databases.add(word(count["database"]))
    elif ramp := _RAMP.search(line):
        log.ramps.append(ramp[1])
        log.counter_is_paused = False
    elif period := _PERIOD.search(line):
        log.periods.append(period[1])
        # What was counted up to now was the ramp-up.
        log.counter_now.clear()
        log.counter_is_paused = False
    elif "Test complete" in line:
        log.counter += log.counter_now
        log.counter_now.clear()
        log.counter_is_paused = True
    elif users := _USERS.search(line):
        log.users.append(users[1])
    if failed := _FAILED.search(line):
        log.failed.append(failed[1])
    log.errors.update(_ORACLE_ERROR.findall(line))


def _take_result(log: _Log, result: re.Match[str]) -> None:
    log.databases.add(word(result["database"]))
    new_orders, transactions = number(result["nopm"]), number(result["tpm"])
    if new_orders is not None:
        log.new_orders.append(new_orders)
    if transactions:
        log.transactions.append(transactions)
    else:
        log.nothing_counted += 1


def _run(log: _Log, name: str) -> ComparedRun:
    counter, before, after = without_idle_ends(log.counter)
    measured = [*_measured(log, counter)]
    if not measured:
        raise ImportProblem(f"{name} is a log of HammerDB without a result: the test did not end.")
    return ComparedRun(
        kind="HammerDB",
        name=name,
        seconds=60 * sum(float(period) for period in log.periods) or None,
        measured=tuple(measured),
        environment=_environment(log),
        warnings=tuple(_warnings(log, before + after)),
    )


def _measured(log: _Log, counter: tuple[float, ...]) -> Iterator[Measured]:
    if log.new_orders:
        yield Measured("new orders per minute", "/min", tuple(log.new_orders), Better.HIGHER, group=GROUP)
    if log.transactions:
        note = "Commits and rollbacks of the whole database, HammerDB's or not."
        yield Measured(
            "transactions per minute", "/min", tuple(log.transactions), Better.HIGHER, group=GROUP, note=note
        )
    if counter:
        note = "The readings of HammerDB's transaction counter."
        yield Measured("transactions per minute over time", "/min", counter, Better.HIGHER, group=GROUP, note=note)
    for (procedure, what), values in log.timings.items():
        if what == "CALLS":
            yield Measured(f"{procedure}: calls", "", tuple(values), group=GROUP)
        else:
            kind = {"AVG": "average", "MAX": "longest"}.get(what) or f"{what.lower()} of"
            yield Measured(f"{procedure}: {kind} response", "ms", tuple(values), Better.LOWER, group=GROUP)


def _environment(log: _Log) -> dict[str, str]:
    found = {
        "database": sorted(log.databases - {""}),
        "virtual users": _each_once(log.users),
        "ramp-up, minutes": _each_once(log.ramps),
        "test, minutes": _each_once(log.periods),
    }
    return {what: ", ".join(values) for what, values in found.items() if values}


def _each_once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _warnings(log: _Log, idle: int) -> Iterator[str]:
    if log.failed:
        some = listed(_each_once(log.failed)[:10])
        yield f"{counted(len(log.failed), 'virtual user')} ended with FINISHED FAILED: {some}."
    if log.errors:
        yield f"The log contains errors of Oracle: {', '.join(sorted(log.errors)[:10])}."
    if log.nothing_counted:
        yield "A result has 0 TPM, which is an error of its snapshots: it is left out."
    if len(set(log.users)) > 1:
        yield f"The tests of this log had different numbers of virtual users: {', '.join(_each_once(log.users))}."
    if len(log.new_orders) == 1 and len(log.counter) < 2:
        yield "The log has a single result: one figure allows no verdict."
    if idle:
        yield f"{counted(idle, 'reading')} of the transaction counter without any transaction left out at the ends."
