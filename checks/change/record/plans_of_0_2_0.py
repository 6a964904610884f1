"""Reads the lines of journals that racwire 0.2.0 wrote, with sentences where there are typed fields now.

Nothing else reads a sentence back. The digests of a journal are those of its lines as they are in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from checks.change.plan.change_plan import SCHEMA
from checks.change.plan.command_block import Who
from checks.change.progress.change_events import JournalLine
from checks.model.own_command import CHANGE, OwnCommand
from checks.model.shell_command import Language

OLD_SCHEMA = "racwire-change/1"
_OWN = re.compile(
    r"racwire (?P<program>change|experiment)"
    r"(?: (?P<name>new|next|verify|attest|override|note|rollback|abandon|report|status|list))?"
    r"(?: (?P<arguments>[^`]+))?"
)
_QUOTED = re.compile(rf"`{_OWN.pattern}`")
_VERIFY_AGAIN = re.compile(r"Then \w+( it| the gate)? again:")
_PLACE = re.compile(r"(.*?)(?: \(([^()]*)\))?", re.DOTALL)
_OPTIONAL = re.compile(r" \(optional(, [^)]*)?\)$")
_HEADINGS = (
    (re.compile(r"(?P<by_hand>By hand, as )root on (?P<node>\S+?)(?:, (?P<purpose>.*))?"), Who.ROOT),
    (re.compile(r"As root on (?P<node>\S+?)(?:, (?P<purpose>.*))?"), Who.ROOT),
    (
        re.compile(r"As the Grid owner(?: \((?P<name>[^)]*)\))? on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"),
        Who.GRID_OWNER,
    ),
    (
        re.compile(r"As the owner of database (?P<name>.+?) on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"),
        Who.DATABASE_OWNER,
    ),
    (
        re.compile(r"As SYSDBA of (?P<name>.+?), in SQL\*Plus(?: on (?P<place>[^,]+))?(?:, (?P<purpose>.*))?"),
        Who.SYSDBA,
    ),
    (re.compile(r"As SYSASM \(sqlplus / as sysasm\) on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"), Who.SYSASM),
    (re.compile(r"As the owner of the Enterprise Manager agent, on (?P<place>[^,]+)"), Who.AGENT_OWNER),
    (re.compile(r"As any user on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"), Who.ANY_USER),
    (re.compile(r"As (?P<name>\S+|the user of racwire) on (?P<place>[^,]+)(?:, (?P<purpose>.*))?"), Who.RACWIRE_USER),
    (re.compile(r"To ask (?P<name>.*)"), Who.ASKED),
    (re.compile(r"(?P<place>On .*?) \((?P<name>[^()]*)\)"), Who.OPERATOR),
)
"""The headings of blocks. Any other heading becomes the place of an operator, and is shown as it was."""


def decoded(raw: bytes | str) -> JournalLine:
    """Return a line of a journal, as 0.2.0 or a later version wrote it. Raises msgspec.MsgspecError."""
    try:
        line = msgspec.json.decode(raw, type=JournalLine)
        if getattr(getattr(line.event, "plan", None), "schema", SCHEMA) != OLD_SCHEMA:
            return line
    except msgspec.ValidationError:
        pass
    document = msgspec.json.decode(raw)
    try:
        _convert(document["event"])
    except (KeyError, TypeError, AttributeError) as error:
        raise msgspec.ValidationError(str(error)) from None
    return msgspec.convert(document, JournalLine)


def _convert(event: dict[str, Any]) -> None:
    """Give an event its typed fields; those that have them already stay."""
    for result in (*event.get("results", ()), *event.get("not_held", ())):
        if any(isinstance(text, str) for text in result.get("next", ())):
            result["next"] = list(_steps(result["next"]))
            result["is_danger"] = result.get("sentence", "").startswith("DANGER")
    plan = event.get("plan")
    if not plan or plan.get("schema") != OLD_SCHEMA:
        return
    plan["schema"] = SCHEMA
    remarks = plan.get("remarks", ())
    plan["remarks"] = [_text(remark) for remark in remarks if not remark.startswith("This is the practice cluster")]
    for step in plan["steps"]:
        step.update({name: _text(step[name]) for name in ("what", "if_rolled_back") if name in step})
        step["commands"] = [_block(block) for block in step.get("commands", ())]


def _text(text: str) -> str | list[Any]:
    """Return a text in parts, where it has commands of racwire in backquotes."""
    parts: list[Any] = []
    end = 0
    for found in _QUOTED.finditer(text):
        parts += [text[end : found.start()], _own(found)]
        end = found.end()
    return [*parts, text[end:]] if parts else text


def _own(found: re.Match[str]) -> OwnCommand:
    is_new = found["name"] == "new" and found["program"] == CHANGE  # an experiment leads to a change of its own
    return OwnCommand(found["name"] or "", found["arguments"] or "", CHANGE if is_new else "")


def _split(lines: Sequence[str]) -> dict[str, list[Any]]:
    """Return the commands of others, and those of racwire about what is open."""
    own = {line: found for line in lines if (found := _OWN.fullmatch(line))}
    return {"lines": [line for line in lines if line not in own], "own": [_own(found) for found in own.values()]}


def _steps(texts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield next steps: the commands of a sentence are the texts after its colon, up to the next sentence."""
    groups: list[tuple[str, list[str]]] = []
    for text in texts:
        if groups and groups[-1][0].endswith(":") and not text.endswith((".", ":")):
            groups[-1][1].append(text)
        else:
            groups.append((text, []))
    for sentence, lines in groups:
        known = _split(lines)
        text, where = _PLACE.fullmatch(sentence.rstrip(".:")).groups("")  # type: ignore[union-attr]
        yield {
            "text": f"{text}.",
            "where": where,
            "commands": known["lines"],
            "own": known["own"],
            "only_verifies": bool(known["own"] and _VERIFY_AGAIN.fullmatch(sentence)),
        }


def _block(block: dict[str, Any]) -> dict[str, Any]:
    heading = block.pop("where").rstrip(":")
    known = {**block, **_split(block["lines"]), "note": _text(block.get("note", ""))}
    heading = _OPTIONAL.sub(lambda found: found[1] or "", heading)
    if heading == "Where racwire runs":
        return {**known, "who": Who.RACWIRE_USER, "node": ""}
    node = block.get("node", "")
    for pattern, who in _HEADINGS:
        if not (found := pattern.fullmatch(heading)):
            continue
        fields = {name: text for name, text in found.groupdict().items() if text}
        if by_hand := bool(fields.pop("by_hand", "")):
            fields["by_hand"] = by_hand
        place = fields.pop("node", "") or fields.get("place", "")
        if who is Who.ROOT and all(line.startswith("racwire ") for line in block["lines"]):
            who, fields = Who.RACWIRE_USER, {**fields, "name": "root"}
        if node and place == node:
            fields.pop("place", None)
        elif node:
            break
        if fields.get("name") == "the user of racwire":
            del fields["name"]
        language = Language.SQL if who in (Who.SYSDBA, Who.SYSASM) else Language.SHELL
        return {**known, **fields, "who": who, "language": language}
    return {**known, "who": Who.OPERATOR, "place": heading}
