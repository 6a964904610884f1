"""Questions about the golden files, as `racwire` commands, and the readers that extract the stable part of an answer.

`make.py` asks the `racwire` that wrote the files and keeps the answers in `expected/`. `tests/unit/test_golden.py` asks
the code of this tree. Both work in a copy of the directory with the files.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

Call = Callable[[list[str]], tuple[int, str]]
"""Run `racwire` with these arguments; return its exit code and its stdout."""
Reader = Callable[[str], Any]
"""Extract from stdout what every later version must still say."""

FOR_PEOPLE = frozenset({"title", "subject", "text", "where"})
"""Fields of an answer that are recorded for people and not compared, since sentences may be reworded."""
JSON = ("--format", "json")


# --- readers ----------------------------------------------------------------------------------------------------------


def findings(output: str) -> Any:
    """Return the findings of a JSON report: where, how bad, and which are waived."""
    report = json.loads(output)
    return {
        "nodes": [node["name"] for node in report["cluster"]["nodes"]],
        "is_redacted": report["is_redacted"],
        "findings": in_order(finding(each) for each in report["findings"]),
        "waivers": [{key: each[key] for key in ("code", "standing")} for each in report["waivers"]],
    }


def finding(each: Mapping[str, Any]) -> dict[str, Any]:
    """Return a finding with its title and subject, without the rest of its prose."""
    whole = {
        "code": each["code"], "check": each["check"], "status": each["status"], "nodes": each.get("nodes", []),
        "network": each.get("network", ""), "extent": each.get("extent"), "waived": each.get("waived"),
    }  # fmt: skip
    return {**whole, "title": each["title"], "subject": each.get("subject", "")}


def difference(output: str) -> Any:
    """Return how each finding changed, from the JSON of `diff`."""
    document = json.loads(output)
    sides = ("before", "after")
    return {
        "schema": document["schema"],
        **{side: {key: document[side][key] for key in ("name", "nodes", "is_redacted")} for side in sides},
        "findings": in_order(
            {"change": each["change"], **{side: each[side] and finding(each[side]) for side in sides}}
            for each in document["findings"]
        ),
        "text": [f"{each['group']}, {each['name']}" for each in document["facts"]],
    }


def in_order(answers: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort answers independently of their prose and of the order of the checks."""
    return sorted(answers, key=lambda each: json.dumps(comparable(each), sort_keys=True))


def comparison(output: str) -> Any:
    """Return the verdict, unit and medians of each metric, from the JSON of `compare`."""
    document = json.loads(output)
    return {
        "schema": document["schema"],
        "metrics": {
            metric["name"]: [
                metric["verdict"], metric["unit"], *(rounded(metric[side]["centre"]) for side in ("before", "after"))
            ]
            for pair in document["pairs"]
            for metric in pair["metrics"]
        },
    }  # fmt: skip


def rounded(number: float) -> float:
    """Round to six digits, so that the order of an addition does not matter."""
    return float(f"{number:.6g}")


def lines(output: str) -> Any:
    """Return every sample as a line of JSON, which takes less room than an indented document."""
    return output.splitlines()


def tally(output: str) -> Any:
    """Count the lines by kind and source, and add up the numbers in each field of the samples."""
    counted: dict[str, dict[str, float]] = {}
    for line in output.splitlines():
        sample = json.loads(line)
        source = sample.get("node") or sample.get("instance") or sample.get("to_node") or ""
        sums = counted.setdefault(f"{sample['fact']} {source}".strip(), {"samples": 0})
        sums["samples"] += 1
        for name, value in sample.items() if sample["fact"].endswith("Sample") else ():
            if numbers := list(numbers_in(value)):
                sums[name] = sums.get(name, 0) + sum(numbers)
    return {key: {name: float(f"{value:.12g}") for name, value in sums.items()} for key, sums in counted.items()}


def numbers_in(value: Any) -> Iterator[float]:
    """Yield every number in a JSON value."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(each)
    elif isinstance(value, int | float):
        yield value


def document(output: str) -> Any:
    """Return a whole JSON document."""
    return json.loads(output)


def changes(output: str) -> Any:
    """Return a list of changes, without the directories of their journals."""
    listed = json.loads(output)
    for each in listed["changes"]:
        each["journal"] = Path(each["journal"]).name
    return listed


def change_report(output: str) -> Any:
    """Return the report of a change, without the sentences that racwire writes for it."""
    report = json.loads(output)
    made = {key: len(report[key]) for key in ("log", "figures", "comparison", "blocks")}
    steps = [{k: v for k, v in step.items() if k != "results"} for step in report["steps"]]
    recorded = (
        "schema", "id", "cluster", "nodes", "opened_at", "opened_by", "closed_at", "closed_by", "reason", "versions",
        "layers", "notes",
    )  # fmt: skip
    overrides = [
        {"said": each["said"], "not_held": [[r["check"], r["status"], r.get("node", "")] for r in each["not_held"]]}
        for each in report["overrides"]
    ]
    surprises = [[each["at"], each["dangerous"]] for each in report["surprises"]]
    return {
        **{key: report[key] for key in recorded}, **made, "steps": steps, "overrides": overrides, "surprises": surprises
    }  # fmt: skip


def standing(output: str) -> Any:
    """Return the current step of a change and the status of every step."""
    document = json.loads(output)
    steps = [[step["id"], step["standing"], len(step["waits_for"])] for step in document["steps"]]
    return {**{key: document[key] for key in ("change", "way_back", "outcome", "current")}, "steps": steps}


def commands(output: str) -> Any:
    """Return the commands of each step by node, and its gates."""
    return [
        [step["id"], step["gates"], [[block["node"], list(block["lines"])] for block in step["commands"]]]
        for step in json.loads(output)["steps"]
    ]


def toml(output: str) -> Any:
    """Return TOML as JSON types."""
    return json.loads(json.dumps(tomllib.loads(output), default=str))


def families(output: str) -> Any:
    """Return the names and types of the OpenMetrics families."""
    return sorted(line.removeprefix("# TYPE ") for line in output.splitlines() if line.startswith("# TYPE "))


def prose(output: str) -> Any:
    """Return text for people; only its presence is compared."""
    return {"is_empty": not output.strip(), "text": output.splitlines()}


def nothing(output: str) -> Any:
    """Return nothing: only the exit code counts."""
    return None


# --- the questions ----------------------------------------------------------------------------------------------------

REPORTS = ("switch-mtu.json", "hung-instance.json")
SAVED = ("healthy.racwire", "faults.racwire")
RECORDINGS = ("before.rec", "loss.rec", "reboot.rec")
JOURNALS = ("outage.change", "rolled-back.change", "done.change")

Question = tuple[list[str], Reader]


def _checked(file: str, *more: str) -> Question:
    return ["check", "-q", "--from", file, *more, *JSON], findings


def _of_journal(file: str) -> list[Question]:
    open_one = [(["change", "next", "--file", file, "--all", *JSON], document)] if file == "outage.change" else []
    return [
        (["change", "status", "--file", file, *JSON], document),
        *open_one,
        (["change", "report", "--file", file, *JSON], change_report),
    ]


_WAIVER = ("--reason", "The window is in January.", "--by", "Ann Lee", "--until", "UNTIL")

CASES: dict[str, list[Question]] = {
    **{f"check-{file}": [_checked(file), (["open", file], nothing)] for file in (*REPORTS, *SAVED)},
    "check-with-settings": [
        _checked("faults.racwire", "--settings", "settings.toml"),
        _checked("healthy.racwire", "--settings", "template.toml"),
    ],
    "check-with-the-map": [
        _checked("faults.racwire", "--redact", "--redaction-map", "redaction.json"),
        _checked("switch-mtu.json", "--redact", "--redaction-map", "redaction.json"),
    ],
    "save-again": [
        (["save", "-q", "--from", "faults.racwire", "again.racwire"], nothing),
        _checked("again.racwire"),
        (["report", "-q", "--from", "again.racwire", *JSON], findings),
    ],
    "report": [
        (["report", "-q", "--from", "faults.racwire", "--format", "openmetrics"], families),
        (["report", "-q", "--from", "faults.racwire", "--format", "junit"], nothing),
        (["report", "-q", "--from", "faults.racwire", "--format", "html"], nothing),
    ],
    "waive": [
        (["waive", "IC-USE-004", "--from", "faults.racwire", *_WAIVER], toml),
        (["waive", "IC-PATH-003", "--from", "switch-mtu.json", *_WAIVER], toml),
    ],
    "diff": [
        (["diff", "healthy.racwire", "faults.racwire", *JSON], difference),
        (["diff", "healthy.racwire", "faults.racwire"], prose),
        (["diff", "switch-mtu.json", "hung-instance.json", *JSON], difference),
    ],
    "compare": [
        (["compare", "before.rec", "loss.rec", "--stretch", "2s", *JSON], comparison),
        (["compare", "before.rec", "reboot.rec", *JSON], comparison),
    ],
    "watch-reboot": [(["watch", "reboot.rec"], lines)],
    "watch": [(["watch", file], tally) for file in RECORDINGS],
    "open-recordings": [(["open", file], nothing) for file in RECORDINGS],
    **{f"change-{file}": _of_journal(file) for file in JOURNALS},
    "change-list": [(["change", "list", "--directory", ".", *JSON], changes)],
    "change-goes-on": [
        (["change", "note", "The second switch is looked at.", "--file", "outage.change"], nothing),
        (["change", "override", "--by", "Ann Lee", "--reason", "An early try.", "--file", "outage.change"], nothing),
        (["change", "next", "--file", "outage.change", *JSON], commands),
        (["change", "status", "--file", "outage.change", *JSON], standing),
    ],
    "change-goes-back": [
        (["change", "rollback", "--by", "Ann Lee", "--reason", "It gets late.", "--file", "outage.change"], nothing),
        (["change", "next", "--file", "outage.change", *JSON], commands),
        (["change", "status", "--file", "outage.change", *JSON], standing),
        (["change", "attest", "--by", "Ann Lee", "--file", "done.change"], nothing),
        (["change", "status", "--file", "done.change", *JSON], standing),
    ],
}  # fmt: skip
"""Cases by name. Each case gets a fresh copy of the files and asks its questions in order."""


def outcome(case: list[Question], call: Call, until: str) -> list[dict[str, Any]]:
    """Ask the questions of a case and return the answers. New waivers last `until` that day."""
    answers = []
    for words, reader in case:
        code, output = call([until if word == "UNTIL" else word for word in words])
        read = reader(output) if code in (0, 1, 2, 3) and reader is not nothing else None
        answers.append({"words": " ".join(words), "code": code, "answer": without(read, until)})
    return answers


def without(answer: Any, until: str) -> Any:
    """Return the answer with the last day of new waivers replaced by `UNTIL`."""
    return json.loads(json.dumps(answer).replace(until, "UNTIL"))


_STANDINGS = (["done"], ["overridden"], ["current"], ["ahead"])


def comparable(answer: Any) -> Any:
    """Return an answer without the fields for people, with lines of JSON decoded, and the steps of a status by id.

    The plan of a rollback is made when it starts, and may have further steps.
    """
    if isinstance(answer, str) and answer.startswith('{"fact":'):
        return json.loads(answer)
    if isinstance(answer, dict):
        return {key: comparable(value) for key, value in answer.items() if key not in FOR_PEOPLE}
    if isinstance(answer, list) and answer and all(str(each).startswith("racwire_") for each in answer):
        return dict.fromkeys(answer)  # families of OpenMetrics: there may be further ones
    if (
        isinstance(answer, list)
        and answer
        and all(isinstance(each, list) and each[1:2] in _STANDINGS for each in answer)
    ):
        return {step: rest for step, *rest in answer}
    return [comparable(value) for value in answer] if isinstance(answer, list) else answer


def is_within(then: Any, now: Any) -> bool:
    """Tell whether `now` holds every field of `then` with an equal value; `now` may have further fields, and may find
    of more places that nothing is wrong there."""
    if isinstance(then, dict) and isinstance(now, dict):
        return all(key in now and is_within(value, now[key]) for key, value in then.items())
    if isinstance(then, list) and isinstance(now, list):
        kept = [each for each in now if each in then or not _passes(each)]
        return len(then) == len(kept) and all(map(is_within, then, kept))
    return bool(then == now)


def _passes(finding: Any) -> bool:
    return isinstance(finding, dict) and finding.get("status") == "PASS"


def copied(files: Path, to: Path) -> None:
    """Copy the golden files to a directory where commands may write."""
    to.mkdir(parents=True, exist_ok=True)
    for path in files.iterdir():
        if path.is_file():
            target = to / path.name
            target.write_bytes(path.read_bytes())
            target.chmod(0o600)
