"""What docs/reports-and-evidence.md promises of the JSON report: within a version of the schema, it only grows."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checks.model.report import SCHEMA
from checks.report.json_report import schema

Schema = dict[str, Any]
PUBLISHED = Path(__file__).parents[1] / "golden" / "schemas" / f"{SCHEMA.replace('/', '-')}.json"
"""The schema of the first release with that version."""


def broken_promises(then: Schema, now: Schema) -> list[str]:
    """Return each place where a reader of the first schema can misread what fits the second one."""
    return list(dict.fromkeys(_Comparison(then, now).broken(then, now, "report")))


class _Comparison:
    """Walks two schemas side by side; a pair of definitions is compared once."""

    def __init__(self, then: Schema, now: Schema) -> None:
        self._defs = then["$defs"], now["$defs"]
        self._seen: set[tuple[str, str]] = set()

    def broken(self, then: Schema, now: Schema, path: str) -> Iterator[str]:
        names = tuple(part.get("$ref", "").rpartition("/")[2] for part in (then, now))
        if all(names):
            if names in self._seen:
                return
            self._seen.add(names)
        then, now = (
            defs[name] if name else part for part, name, defs in zip((then, now), names, self._defs, strict=True)
        )
        if then.get("type") != now.get("type") or ("anyOf" in then) != ("anyOf" in now):
            yield f"{path} has another type"
            return
        yield from (f"{path} can lack {name}" for name in {*then.get("required", ())} - {*now.get("required", ())})
        yield from (f"{path} is never {value}" for value in {*then.get("enum", ())} - {*now.get("enum", ())})
        for name, part in then.get("properties", {}).items():
            if name in now["properties"]:
                yield from self.broken(part, now["properties"][name], f"{path}.{name}")
            else:
                yield f"{path}.{name} is gone"
        yield from self._parts(then, now, path)
        yield from self._alternatives(then, now, path)

    def _parts(self, then: Schema, now: Schema, path: str) -> Iterator[str]:
        for key in ("items", "additionalProperties"):
            before, after = then.get(key), now.get(key)
            if isinstance(before, dict) and isinstance(after, dict):
                yield from self.broken(before, after, f"{path}[]")
            elif before != after:
                yield f"{path}[] has another type"
        before, after = then.get("prefixItems", []), now.get("prefixItems", [])
        if len(before) != len(after):
            yield f"{path} has another length"
        for number, pair in enumerate(zip(before, after, strict=False)):
            yield from self.broken(*pair, f"{path}[{number}]")

    def _alternatives(self, then: Schema, now: Schema, path: str) -> Iterator[str]:
        """A kind of fact may be added, as a value of an enumeration may: a tag tells it. Other types may not."""
        tags = [one.get("discriminator", {}).get("mapping", {}) for one in (then, now)]
        yield from (f"{path} is never {tag}" for tag in tags[0].keys() - tags[1].keys())
        for tag in tags[0].keys() & tags[1].keys():
            yield from self.broken({"$ref": tags[0][tag]}, {"$ref": tags[1][tag]}, f"{path}({tag})")
        if not tags[0] and "anyOf" in then:
            pairs = [sorted(one["anyOf"], key=self._kind) for one in (then, now)]
            if [self._kind(one) for one in pairs[0]] != [self._kind(one) for one in pairs[1]]:
                yield f"{path} has another type"
                return
            for pair in zip(*pairs, strict=True):
                yield from self.broken(*pair, path)

    @staticmethod
    def _kind(part: Schema) -> str:
        return str(part.get("type", part.get("$ref", "union")))


def test_the_schema_of_today_only_adds_to_that_of_its_release() -> None:
    then, now = json.loads(PUBLISHED.read_text()), json.loads(schema())
    assert then["$id"] == now["$id"]
    assert broken_promises(then, now) == [], "rename the schema (SCHEMA), or keep its promise"


def small() -> Schema:
    finding: Schema = {
        "type": "object",
        "required": ["code"],
        "properties": {
            "code": {"type": "string"},
            "status": {"enum": ["PASS", "FAIL"]},
            "extent": {"anyOf": [{"type": "number"}, {"type": "null"}]},
            "fact": {
                "anyOf": [{"$ref": "#/$defs/Node"}],
                "discriminator": {"propertyName": "fact", "mapping": {"Node": "#/$defs/Node"}},
            },
        },
    }
    node: Schema = {"type": "object", "properties": {"mtu": {"type": "integer"}}}
    findings = {"type": "array", "items": {"$ref": "#/$defs/Finding"}}
    return {"type": "object", "properties": {"findings": findings}, "$defs": {"Finding": finding, "Node": node}}


def fields(one: Schema) -> Schema:
    found: Schema = one["$defs"]["Finding"]["properties"]
    return found


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (lambda now: fields(now).update(added={"type": "string"}), []),
        (lambda now: fields(now)["status"]["enum"].append("WARN"), []),
        (lambda now: fields(now)["fact"]["discriminator"]["mapping"].update(Port="#/$defs/Node"), []),
        (lambda now: now["$defs"]["Finding"]["required"].append("status"), []),
        (lambda now: fields(now).pop("code"), ["report.findings[].code is gone"]),
        (lambda now: fields(now).update(code={"type": "integer"}), ["report.findings[].code has another type"]),
        (
            lambda now: fields(now)["extent"]["anyOf"].append({"type": "string"}),
            ["report.findings[].extent has another type"],
        ),
        (lambda now: fields(now)["status"]["enum"].remove("PASS"), ["report.findings[].status is never PASS"]),
        (lambda now: now["$defs"]["Finding"].pop("required"), ["report.findings[] can lack code"]),
        (
            lambda now: now["$defs"]["Node"]["properties"]["mtu"].update(type="string"),
            ["report.findings[].fact(Node).mtu has another type"],
        ),
        (
            lambda now: fields(now)["fact"]["discriminator"].update(mapping={}),
            ["report.findings[].fact is never Node"],
        ),
    ],
)
def test_a_broken_promise_is_found(change: Callable[[Schema], object], broken: list[str]) -> None:
    now = copy.deepcopy(small())
    change(now)
    assert broken_promises(small(), now) == broken
