"""The waiver that `racwire waive` prints: of which findings of a report, how bad they may be, and until when."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Sequence
from datetime import date

from checks.model.exit_codes import ExitCode
from checks.model.finding import PROBLEMS, Finding, Magnitude, Status
from checks.model.report import Report
from checks.model.settings_waivers import LONGEST_DAYS, matches
from checks.model.wording import counted, listed
from checks.rules.waivers import allowed
from checks.run.settings_file import ENVIRONMENT_VARIABLE, SettingsError, default_path, parse_settings, toml
from tui.cli.diff import saved_report
from tui.cli.errors import UsageError
from tui.cli.streams import print_message

_NUMBER = re.compile(r"(?<!\S)[\d,]+(\.\d+)?(?!\S)")
"""A number that is a word by itself, and no part of a name."""
_LONGEST_SUBJECT, _LONGEST_REASON, _LONGEST_NAME, _MOST_NODES = 400, 500, 100, 255
_MOST_TOLD = 12


def print_waiver(args: argparse.Namespace) -> int:
    """Print the waiver. Raises UsageError where there is nothing to waive, or not so."""
    until = _until(args.until, date.today())
    for option, text, longest in (("--reason", args.reason, _LONGEST_REASON), ("--by", args.by, _LONGEST_NAME)):
        if not text.strip() or not text.isprintable() or len(text) > longest:
            raise UsageError(f"{option} needs a few plain words, {longest} characters at most.")
    report = saved_report(args.from_file)
    if report.is_redacted:
        raise UsageError(f"{args.from_file} has pseudonyms, and a waiver needs names: take the report that has them.")
    findings = _chosen(report, args.code, args.subject, args.from_file)
    subject = args.subject if "*" in args.subject else _pattern(findings[0])
    block = _block(findings, subject, args.reason, args.by, until)
    try:
        parse_settings(block, "the waiver")
    except SettingsError as error:
        raise UsageError(f"{args.code} of {args.from_file} cannot be waived in the settings: {error}") from None
    sys.stdout.buffer.write(block.encode())  # TOML is UTF-8
    sys.stdout.flush()
    path = os.environ.get(ENVIRONMENT_VARIABLE) or default_path()
    print_message(
        f"put this at the end of the settings file ({path}); it holds from the next run on. What is saved already has "
        "its own waivers: with --from FILE, checks and reports take this one only where --settings is given."
    )
    if (found := _extent(findings)) and found.is_measured:
        print_message(
            f"found at {_number(found.value)} {found.unit}, lifted above {_number(allowed(found))}, since what is "
            "measured is another number each time; write a smaller extent to be stricter."
        )
    if any(f.waived for f in findings):
        print_message("the report has a waiver for it already; let this one take its place.")
    return ExitCode.PASS


def _until(text: str, today: date) -> date:
    try:
        until = date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--until needs a day such as 2027-01-31; {text!r} is none.") from None
    if until < today:
        raise UsageError(f"--until {until} is over; name today or a later day.")
    if (until - today).days > LONGEST_DAYS:
        raise UsageError(
            f"--until {until} is over {LONGEST_DAYS} days ahead; name an earlier day, and look again then."
        )
    return until


def _chosen(report: Report, code: str, subject: str, file: str) -> Sequence[Finding]:
    """The findings to waive: one, or all that a subject with `*` matches. Raises UsageError."""
    of_code = [f for f in report.findings if f.code == code]
    problems = [f for f in of_code if f.status in PROBLEMS]
    if of_code and not problems:
        raise UsageError(f"{code} is {of_code[0].status} in {file}; only what fails, warns or is not known is waived.")
    if not problems:
        there = dict.fromkeys(f.code for f in report.findings if f.status in PROBLEMS)
        has = f"it has {listed(list(there)[:_MOST_TOLD])}" if there else "it has nothing to waive"
        raise UsageError(f"{file} has no finding {code}; {has}.")
    chosen = [f for f in problems if not subject or subject == f.subject or matches(subject, f.subject)]
    subjects = listed(toml(s) for s in list(dict.fromkeys(f.subject for f in problems))[:_MOST_TOLD])
    if not chosen:
        raise UsageError(f"{code} in {file} is not about {subject!r}; it is about {subjects}.")
    if len({f.subject for f in chosen}) > 1 and "*" not in subject:
        number = counted(len(chosen), "finding")
        raise UsageError(f"{file} has {number} {code}; choose one by --subject: {subjects}.")
    return chosen


def _pattern(finding: Finding) -> str:
    """The finding's subject for the next run, too: what was measured is another number then, and the waiver has the
    extent for that."""
    subject = finding.subject
    if finding.extent and finding.extent.is_measured:
        subject = _NUMBER.sub("*", subject)
    subject = "".join(c if c.isprintable() else "*" for c in subject)
    return (subject if len(subject) <= _LONGEST_SUBJECT else f"{subject[:_LONGEST_SUBJECT]}*") or "*"


def _block(findings: Sequence[Finding], subject: str, reason: str, by: str, until: date) -> str:
    """The table, as bad as the findings are now."""
    statuses = [f.status for f in findings]
    worst = min((s for s in statuses if s is not Status.UNKNOWN), key=lambda s: s.gravity, default=Status.UNKNOWN)
    lines = ["[[waivers]]", f"code = {toml(findings[0].code)}", f"subject = {toml(subject)}"]
    lines += [f"reason = {toml(reason)}", f"by = {toml(by)}", f"expires = {until}", f"status = {toml(str(worst))}"]
    if found := _extent(findings):
        most, unit = _number(allowed(found)), "".join(c for c in found.unit if c.isprintable())
        why = f"found {_number(found.value)} {unit}; lifted above {most}; write less to be stricter"
        lines.append(f"extent = {most}  # {why if found.is_measured else f'{unit}: more than that lifts the waiver'}")
    nodes = tuple(dict.fromkeys(node for f in findings for node in f.nodes))
    if all(f.nodes for f in findings) and len(nodes) <= _MOST_NODES:
        lines.append(f"nodes = {toml(nodes)}")
    return "\n".join(lines) + "\n"


def _extent(findings: Sequence[Finding]) -> Magnitude | None:
    """The highest of all; None where one of them does not tell how bad it is."""
    extents = [f.extent for f in findings if f.extent and 0 <= f.extent.value < math.inf]
    return max(extents, key=lambda e: e.value) if len(extents) == len(findings) else None


def _number(value: float) -> str:
    """As TOML takes it: `30`, `0.42`."""
    return repr(int(value) if value.is_integer() else value)
