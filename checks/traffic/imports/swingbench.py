"""Reads a results.xml of Swingbench (charbench -r).

Swingbench writes `TenthPrecentile`, `FortiethPrecentile` and `FiftythPercentile`; racwire reads this and the correct
spelling. `MaximumTransactionRate` is per minute, but the average is per second. So racwire takes the peak from
TPSReadings: pairs of a time in milliseconds since 1970 and the transactions of that second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.model.percentiles import least_values
from checks.traffic.compare.run import Better, ComparedRun, ImportProblem, Measured
from checks.traffic.imports.result_text import moment, number, plain, without_idle_ends, without_login, word
from checks.traffic.imports.swingbench_xml import elements

GROUP = "Swingbench"
_ROOT = re.compile(r"<(?:[\w.-]+:)?Results[\s>/]")
_DECILES = {
    "Tenth": 10,
    "Twentieth": 20,
    "Thirtieth": 30,
    "Fortieth": 40,
    "Fiftyth": 50,
    "Fiftieth": 50,
    "Sixtieth": 60,
    "Seventieth": 70,
    "Eightieth": 80,
    "Ninetieth": 90,
}
_CONFIGURED = {
    "benchmark": "BenchmarkName",
    "users": "NumberOfUsers",
    "run time": "TotalRunTime",
}
_THINK_TIMES = {"between transactions": "Inter", "within transactions": "Intra"}
_MOST_TRANSACTIONS = 200


def looks_like_swingbench(text: str) -> bool:
    """Return whether a text is XML with the root element of a Swingbench result."""
    return text.lstrip("\ufeff \t\r\n").startswith("<") and _ROOT.search(text[:20_000]) is not None


def parse_swingbench(text: str, name: str) -> ComparedRun:
    """Return the run of a results.xml. Raises ImportProblem where the file is no such result, or has no figures."""
    read = elements(text, name)
    if read.root != "Results":
        raise ImportProblem(f"{name} is XML, but no result of Swingbench: its root is {word(read.root)[:60]!r}.")
    overall = read.overall
    readings = _readings(overall.get("TPSReadings", ""))
    per_second, before, after = without_idle_ends([tps for _, tps in readings])
    measured = [*_throughput(overall, per_second)]
    for transaction in list(read.transactions)[:_MOST_TRANSACTIONS]:
        measured += _transaction(word(transaction), read.transactions[transaction])
    if not measured:
        raise ImportProblem(f"{name} is a result of Swingbench without any figure: the run did not end by itself.")
    return ComparedRun(
        kind="Swingbench",
        name=name,
        begun_at=moment(readings[0][0] / 1000) if readings else "",
        seconds=_run_seconds(overall.get("TotalRunTime", "")),
        measured=tuple(measured),
        environment=_environment(overall),
        warnings=tuple(_warnings(overall, len(per_second), before, after)),
    )


def _readings(text: str) -> list[tuple[float, float]]:
    """Times in milliseconds and transactions, in order of time. The list ends with a comma."""
    values = [number(part) for part in text.split(",") if part.strip()]
    pairs = zip(values[::2], values[1::2], strict=False)
    return sorted((at, tps) for at, tps in pairs if at is not None and tps is not None and tps >= 0)


def _throughput(overall: dict[str, str], per_second: tuple[float, ...]) -> Iterator[Measured]:
    if per_second:
        yield Measured("transactions per second", "/s", per_second, Better.HIGHER, group=GROUP)
        yield Measured("peak of transactions per second", "/s", (max(per_second),), Better.HIGHER, group=GROUP)
    average = number(overall.get("AverageTransactionsPerSecond"))
    if average is not None:
        note = "Over the whole run, logging on and ramping up included."
        yield Measured("average transactions per second", "/s", (average,), Better.HIGHER, group=GROUP, note=note)
    completed = number(overall.get("TotalCompletedTransactions"))
    if completed is not None:
        yield Measured("transactions completed", "", (completed,), group=GROUP)


def _transaction(name: str, texts: dict[str, str]) -> Iterator[Measured]:
    def response(what: str, value: float | None, note: str = "") -> Iterator[Measured]:
        if value is not None and value >= 0:
            yield Measured(f"{name}: {what}", "ms", (value,), Better.LOWER, group=GROUP, note=note)

    count = number(texts.get("TransactionCount"))

    def is_of_enough(percent: int) -> bool:
        return count is None or count >= least_values(percent / 100)

    yield from response("average response", number(texts.get("AverageResponse")))
    for element, text in texts.items():
        decile = _DECILES.get(element.replace("Precentile", "Percentile").removesuffix("Percentile"))
        if decile is not None and element.endswith("centile") and is_of_enough(decile):
            yield from response(f"p{decile} of response", number(text))
    for percent in filter(is_of_enough, (95, 99)):
        yield from response(f"p{percent} of response", *_from_histogram(texts, percent))
    yield from response("longest response", number(texts.get("MaximumResponse")))
    if count is not None:
        yield Measured(f"{name}: transactions", "", (count,), group=GROUP)


def _from_histogram(texts: dict[str, str], percent: int) -> tuple[float | None, str]:
    """A percentile that Swingbench does not report, from its histogram (-stats full), and a note about its accuracy.

    The buckets have equal widths, from the shortest response to the longest.
    """
    counts = [number(part) for part in texts.get("ResultsHistogram", "").split(",") if part.strip()]
    least, most = number(texts.get("MinimumResponse")), number(texts.get("MaximumResponse"))
    buckets = [count for count in counts if count is not None and count >= 0]
    if least is None or most is None or most < least or len(buckets) != len(counts) or not sum(buckets):
        return None, ""
    width, wanted, seen = (most - least) / len(buckets), sum(buckets) * percent / 100, 0.0
    for place, count in enumerate(buckets):
        seen += count
        if seen >= wanted:
            note = f"From a histogram, up to {width:,.0f} ms too long." if width >= 1 else "From a histogram."
            return least + (place + 1) * width, note
    return None, ""


def _run_seconds(text: str) -> float | None:
    """Seconds of `0:30:00`; None where it is something else."""
    parts = [number(part) for part in text.split(":")]
    if len(parts) != 3 or None in parts:
        return None
    hours, minutes, seconds = (part or 0.0 for part in parts)
    return hours * 3600 + minutes * 60 + seconds or None


def _environment(overall: dict[str, str]) -> dict[str, str]:
    found = {what: word(overall[element]) for what, element in _CONFIGURED.items() if element in overall}
    for what, which in _THINK_TIMES.items():
        least = number(overall.get(f"Minimum{which}ThinkTime"))
        most = number(overall.get(f"Maximum{which}ThinkTime"))
        if least is not None and most is not None:
            found[f"think time {what}"] = f"{plain(least)} to {plain(most)} ms"
    if "ConnectString" in overall:
        found["connect string"] = without_login(overall["ConnectString"])
    return found


def _warnings(overall: dict[str, str], used: int, before: int, after: int) -> Iterator[str]:
    failed = number(overall.get("TotalFailedTransactions"))
    completed = number(overall.get("TotalCompletedTransactions"))
    if failed:
        completions = f", and {completed:,.0f} completed" if completed is not None else ""
        yield f"{failed:,.0f} transactions failed{completions}: a failed transaction does less work."
    if before and not used:
        yield "All readings of transactions per second are 0: nothing ran."
    elif before or after:
        yield (
            f"The first {before} and the last {after} readings have no transactions and are left out. The readings "
            "after the first ones may still be from the ramp-up."
        )
    if not before and not used:
        yield "The file has no readings of transactions per second: averages alone allow no verdict."
