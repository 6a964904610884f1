"""A waiver for the settings file, made from a finding of a report."""

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
"""A number that is a word of its own, not a part of a name."""
_LONGEST_SUBJECT, _LONGEST_REASON, _LONGEST_NAME, _MOST_NODES = 400, 500, 100, 255
_MOST_LISTED = 12


def print_waiver(args: argparse.Namespace) -> int:
    """Print the waiver and return the exit code.

    Raises UsageError where the report has no such finding, or the finding cannot be waived.
    """
    until = _until(args.until, date.today())
    for option, text, longest in (("--reason", args.reason, _LONGEST_REASON), ("--by", args.by, _LONGEST_NAME)):
        if not text.strip() or not text.isprintable() or len(text) > longest:
            raise UsageError(f"{option} needs printable text of at most {longest} characters.")
    report = saved_report(args.from_file)
    if report.is_redacted:
        raise UsageError(f"{args.from_file} has pseudonyms, and a waiver needs names: use the report without --redact.")
    findings = _selected(report, args.code, args.subject, args.from_file)
    subject = args.subject if "*" in args.subject else _pattern(findings[0])
    block = _block(findings, subject, args.reason, args.by, until)
    try:
        parse_settings(block, "the waiver")
    except SettingsError as error:
        raise UsageError(f"{args.code} in {args.from_file} cannot be waived in the settings: {error}") from None
    sys.stdout.buffer.write(block.encode())  # TOML is UTF-8
    sys.stdout.flush()
    path = os.environ.get(ENVIRONMENT_VARIABLE) or default_path()
    print_message(
        f"append this to the settings file ({path}); it applies to the next runs. A saved file has its own waivers: "
        "with --from FILE, this waiver applies only together with --settings."
    )
    if (found := _extent(findings)) and found.is_measured:
        print_message(
            f"measured: {_number(found.value)} {found.unit}; the waiver ends above {_number(allowed(found))}, "
            "since each run measures another value. For a stricter waiver, write a smaller extent."
        )
    if any(f.waived for f in findings):
        print_message("the report already has a waiver for this finding; replace it by this one.")
    return ExitCode.PASS


def _until(text: str, today: date) -> date:
    try:
        until = date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--until needs a date such as 2027-01-31; {text!r} is not one.") from None
    if until < today:
        raise UsageError(f"--until {until} is in the past; name today or a later day.")
    if (until - today).days > LONGEST_DAYS:
        raise UsageError(
            f"--until {until} is more than {LONGEST_DAYS} days ahead; name an earlier day, and renew the waiver then."
        )
    return until


def _selected(report: Report, code: str, subject: str, file: str) -> Sequence[Finding]:
    """The findings to waive: one, or all that a subject with `*` matches. Raises UsageError for none or several."""
    of_code = [f for f in report.findings if f.code == code]
    problems = [f for f in of_code if f.status in PROBLEMS]
    if of_code and not problems:
        raise UsageError(f"{code} is {of_code[0].status} in {file}; a waiver is for FAIL, WARN and UNKNOWN only.")
    if not problems:
        codes = dict.fromkeys(f.code for f in report.findings if f.status in PROBLEMS)
        has = f"it has {listed(list(codes)[:_MOST_LISTED])}" if codes else "it has no problem to waive"
        raise UsageError(f"{file} has no finding {code}; {has}.")
    selected = [f for f in problems if not subject or subject == f.subject or matches(subject, f.subject)]
    subjects = listed(toml(s) for s in list(dict.fromkeys(f.subject for f in problems))[:_MOST_LISTED])
    if not selected:
        raise UsageError(f"{code} in {file} has no subject {subject!r}; its subjects: {subjects}.")
    if len({f.subject for f in selected}) > 1 and "*" not in subject:
        number = counted(len(selected), "finding")
        raise UsageError(f"{file} has {number} {code}; choose one by --subject: {subjects}.")
    return selected


def _pattern(finding: Finding) -> str:
    """The subject as a pattern for the next runs: `*` replaces measured numbers; the extent limits these."""
    subject = finding.subject
    if finding.extent and finding.extent.is_measured:
        subject = _NUMBER.sub("*", subject)
    subject = "".join(c if c.isprintable() else "*" for c in subject)
    return (subject if len(subject) <= _LONGEST_SUBJECT else f"{subject[:_LONGEST_SUBJECT]}*") or "*"


def _block(findings: Sequence[Finding], subject: str, reason: str, by: str, until: date) -> str:
    """The TOML table of the waiver, with the present severity of the findings as its limit."""
    statuses = [f.status for f in findings]
    worst = min((s for s in statuses if s is not Status.UNKNOWN), key=lambda s: s.gravity, default=Status.UNKNOWN)
    lines = ["[[waivers]]", f"code = {toml(findings[0].code)}", f"subject = {toml(subject)}"]
    lines += [f"reason = {toml(reason)}", f"by = {toml(by)}", f"expires = {until}", f"status = {toml(str(worst))}"]
    if found := _extent(findings):
        most, unit = _number(allowed(found)), "".join(c for c in found.unit if c.isprintable())
        why = f"measured {_number(found.value)} {unit}; the waiver ends above {most}; stricter: less"
        lines.append(f"extent = {most}  # {why if found.is_measured else f'{unit}: above that, the waiver ends'}")
    nodes = tuple(dict.fromkeys(node for f in findings for node in f.nodes))
    if all(f.nodes for f in findings) and len(nodes) <= _MOST_NODES:
        lines.append(f"nodes = {toml(nodes)}")
    return "\n".join(lines) + "\n"


def _extent(findings: Sequence[Finding]) -> Magnitude | None:
    """The highest extent of the findings; None where one of them has none."""
    extents = [f.extent for f in findings if f.extent and 0 <= f.extent.value < math.inf]
    return max(extents, key=lambda e: e.value) if len(extents) == len(findings) else None


def _number(value: float) -> str:
    """The number in TOML: `30`, `0.42`."""
    return repr(int(value) if value.is_integer() else value)
