"""Waivers in a run: the findings that they cover, and the waivers that have ended.

A waiver covers a problem with its code and subject. It ends on the day after it expires. It is lifted as soon as the
finding is worse than the waived one: graver, of a higher extent, about more nodes, or not known. Nothing is hidden: a
waived finding stays in the report, and the report has the standing of each waiver.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

import msgspec

from checks.model.finding import PROBLEMS, Finding, Magnitude, Status, Waived
from checks.model.report import WaiverStanding
from checks.model.settings_waivers import Waiver, matches
from checks.model.wording import listed, nearest

IN_FORCE, EXPIRED, LIFTED, NOT_NEEDED, NOT_CHECKED = "in force", "expired", "lifted", "not needed", "not checked"

_COVERS = {"FAIL": (Status.FAIL, Status.WARN), "WARN": (Status.WARN,), "UNKNOWN": (Status.UNKNOWN,)}
"""A waiver of a fault does not cover UNKNOWN: the fault may be worse by now."""

_HEADROOM = 2
"""A new waiver is lifted above this multiple of the measured value, since two measurements always differ. Ours."""


def apply(
    findings: Iterable[Finding],
    waivers: Sequence[Waiver],
    on: date,
    makers: Mapping[str, str],
    known_codes: Callable[[], Iterable[str]],
) -> tuple[tuple[Finding, ...], tuple[WaiverStanding, ...]]:
    """Return the findings, with those that are waived on that day marked, and the standing of each waiver.

    `makers` maps each code to the check that ran and can find it; a code of the engine has an empty one. `known_codes`
    returns the codes of all installed checks; it is called only for a waiver whose code is not in `makers`.
    """
    bare = [msgspec.structs.replace(f, waived=None) if f.waived else f for f in findings]
    marked = tuple(_marked(finding, waivers, on) for finding in bare)
    return marked, tuple(_standing(waiver, marked, on, makers, known_codes) for waiver in waivers)


def why_lifted(waiver: Waiver, finding: Finding) -> str:
    """Return a sentence on why a finding is worse than the waived one; empty where it is not worse."""
    if finding.status is Status.UNKNOWN and waiver.status != "UNKNOWN":
        return f"It was waived as {waiver.status}, and is not known now."
    if finding.status not in _COVERS[waiver.status]:
        return f"It was waived as {waiver.status}, and is {finding.status} now."
    if waiver.extent is not None and finding.extent is None:
        return f"It was waived up to {waiver.extent:g}, and its extent is not known now."
    if waiver.extent is not None and finding.extent is not None and finding.extent.value > waiver.extent:
        return f"It was waived up to {waiver.extent:g}, and is {finding.extent.value:g} {finding.extent.unit} now."
    if more := [node for node in finding.nodes if node not in waiver.nodes] if waiver.nodes else []:
        return f"It was waived for {listed(waiver.nodes)}, and also affects {listed(more)} now."
    return ""


def allowed(found: Magnitude) -> float:
    """Return the extent up to which a new waiver covers a finding with this extent.

    A count is used as it is. A measured value is doubled, a share at most to halfway between it and 100 %, and rounded
    up to two digits.
    """
    if not found.is_measured or found.value <= 0:
        return found.value
    most = _HEADROOM * found.value
    if found.unit.startswith("%"):
        most = max(found.value, min(most, (found.value + 100) / 2))
    if not math.isfinite(most):
        return found.value
    return float(Context(prec=2, rounding=ROUND_CEILING).create_decimal(Decimal(repr(most))))


def lifted_for(finding: Finding, standings: Iterable[WaiverStanding]) -> WaiverStanding | None:
    """Return the waiver that covered a finding until it expired or was lifted; None where there is none, or another
    waiver covers the finding."""
    if finding.waived or finding.status not in PROBLEMS:
        return None
    ended = (s for s in standings if s.standing in (EXPIRED, LIFTED))
    return next((s for s in ended if s.code == finding.code and matches(s.subject, finding.subject)), None)


def waived_text(waived: Waived) -> str:
    """Return `until 2027-01-31 by Ann Lee: fixed in January`."""
    return f"until {waived.expires} by {waived.by}: {waived.reason}"


def ended_text(standing: WaiverStanding) -> str:
    """Return the text about an ended waiver for the finding that it covered: `by Ann Lee, lifted. It was ...`"""
    if standing.standing == EXPIRED:
        return f"by {standing.by}, expired on {standing.expires}: {standing.reason}"
    return f"by {standing.by}, lifted. {standing.why}"


def sentence(standing: WaiverStanding) -> str:
    """Return the text about a waiver that is not in force: `IC-BOOT-002 (eth2 rac1) by Ann Lee: lifted. It was waived
    as WARN, and is FAIL now.`"""
    waiver = f"{standing.code} ({standing.subject}) by {standing.by}"
    what = f"expired on {standing.expires}" if standing.standing == EXPIRED else standing.standing
    return f"{waiver}: {what}. {standing.why or 'No such finding was made; remove the waiver from the settings.'}"


def ended(standings: Iterable[WaiverStanding]) -> tuple[WaiverStanding, ...]:
    """Return the waivers that expired, were lifted, or are not needed."""
    return tuple(s for s in standings if s.standing in (EXPIRED, LIFTED, NOT_NEEDED))


def waivers_in(settings: Mapping[str, Any]) -> tuple[Waiver, ...]:
    """Return the readable waivers in the settings of a report; other versions of racwire may have other fields."""
    saved = settings.get("waivers", ())
    found = []
    for table in saved if isinstance(saved, (list, tuple)) else ():
        known = {k: v for k, v in table.items() if k in Waiver.__struct_fields__} if isinstance(table, dict) else table
        with suppress(msgspec.ValidationError):
            found.append(msgspec.convert(known, Waiver))
    return tuple(found)


def day_of(started_at: str) -> date:
    """Return the day of a report's start time; today where it is not a date."""
    try:
        return date.fromisoformat(started_at[:10])
    except ValueError:
        return date.today()


def _marked(finding: Finding, waivers: Sequence[Waiver], on: date) -> Finding:
    if finding.status not in PROBLEMS:
        return finding
    for waiver in waivers:
        covers = waiver.is_about(finding.code, finding.subject) and on <= waiver.expires
        if covers and not why_lifted(waiver, finding):
            waived = Waived(waiver.reason, waiver.by, waiver.expires.isoformat())
            return msgspec.structs.replace(finding, waived=waived)
    return finding


def _standing(
    waiver: Waiver,
    marked: Sequence[Finding],
    on: date,
    makers: Mapping[str, str],
    known_codes: Callable[[], Iterable[str]],
) -> WaiverStanding:
    about = [f for f in marked if f.status in PROBLEMS and waiver.is_about(f.code, f.subject)]
    worse = [(f, why) for f in about if not f.waived and (why := why_lifted(waiver, f))]
    if on > waiver.expires:
        standing, why = EXPIRED, _after_expiry(about) or _why_not_checked(waiver, marked, makers, known_codes)
    elif worse:
        standing, why = LIFTED, worse[0][1] if len(about) == 1 else f"{worse[0][0].subject}: {worse[0][1]}"
    elif about:
        standing, why = IN_FORCE, ""
    elif why := _why_not_checked(waiver, marked, makers, known_codes):
        standing = NOT_CHECKED
    else:
        standing, why = NOT_NEEDED, _not_needed(waiver, marked)
    return WaiverStanding(
        code=waiver.code,
        subject=waiver.subject,
        reason=waiver.reason,
        by=waiver.by,
        expires=waiver.expires.isoformat(),
        standing=standing,
        why=why,
        check=makers.get(waiver.code, ""),
    )


def _after_expiry(about: Sequence[Finding]) -> str:
    """Return the state of the findings that an expired waiver covered; empty where there are none."""
    if any(not finding.waived for finding in about):
        return "The finding counts again."
    return "Another waiver covers the finding." if about else ""


def _why_not_checked(
    waiver: Waiver, marked: Sequence[Finding], makers: Mapping[str, str], known_codes: Callable[[], Iterable[str]]
) -> str:
    """Return the reason why no check could make the waived finding; empty where a check could."""
    if waiver.code not in makers:
        return _why_no_check_finds(waiver.code, set(known_codes()))
    check = makers[waiver.code]
    own = [f for f in marked if f.check == check]
    if check and not own:
        return f"{check} reached no verdict."
    if any(f.status in (Status.UNKNOWN, Status.SKIPPED) for f in own):
        return f"{check} could not check everything."
    return ""


def _why_no_check_finds(code: str, known: Collection[str]) -> str:
    if code in known:
        return "No check of this run can find this code."
    close = nearest(code, known)
    return f"No installed check has the code {code}{f'; did you mean {close}?' if close else '.'}"


def _not_needed(waiver: Waiver, marked: Sequence[Finding]) -> str:
    others = [f.subject for f in marked if f.code == waiver.code and f.status in PROBLEMS]
    return f"{waiver.code} was found with other subjects: {listed(others[:3])}." if others else ""
