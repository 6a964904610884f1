"""What becomes of the waivers in a run: which findings they cover, and which waivers have ended.

A waiver covers a problem with its code and subject. It ends by itself the day after it expires, and it is lifted as
soon as the finding is worse than what was waived: graver, of a higher extent, about more nodes, or not to be told any
more. Nothing is hidden: a waived finding stays in the report, and each waiver has its standing there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import ROUND_CEILING, Context, Decimal
from difflib import get_close_matches
from typing import Any

import msgspec

from checks.model.finding import PROBLEMS, Finding, Magnitude, Status, Waived
from checks.model.report import WaiverStanding
from checks.model.settings_waivers import Waiver, matches
from checks.model.wording import listed

IN_FORCE, EXPIRED, LIFTED, NOT_NEEDED, NOT_CHECKED = "in force", "expired", "lifted", "not needed", "not checked"

_COVERS = {"FAIL": (Status.FAIL, Status.WARN), "WARN": (Status.WARN,), "UNKNOWN": (Status.UNKNOWN,)}
"""Not knowing is neither good nor bad: what was waived as a fault may be a worse one by now."""

_HEADROOM = 2
"""So many times what was measured lifts a new waiver: what is measured again is never the same. Ours."""


def apply(
    findings: Iterable[Finding],
    waivers: Sequence[Waiver],
    on: date,
    makers: Mapping[str, str],
    known_codes: Callable[[], Iterable[str]],
) -> tuple[tuple[Finding, ...], tuple[WaiverStanding, ...]]:
    """The findings, with what is waived on that day marked so and nothing else, and the standing of each waiver.

    `makers` are the checks that ran, by the codes that they can find; a code of the engine's has an empty one.
    `known_codes` gives the codes that any check here can find; called only for a waiver of another code.
    """
    bare = [msgspec.structs.replace(f, waived=None) if f.waived else f for f in findings]
    marked = tuple(_marked(finding, waivers, on) for finding in bare)
    return marked, tuple(_standing(waiver, marked, on, makers, known_codes) for waiver in waivers)


def why_lifted(waiver: Waiver, finding: Finding) -> str:
    """In what a finding is worse than what was waived, in a sentence; empty where it is not."""
    if finding.status is Status.UNKNOWN and waiver.status != "UNKNOWN":
        return f"It was waived as {waiver.status}, and cannot be told any more."
    if finding.status not in _COVERS[waiver.status]:
        return f"It was waived as {waiver.status}, and is {finding.status} now."
    if waiver.extent is not None and finding.extent is None:
        return f"It was waived up to {waiver.extent:g}, and does not tell how bad it is now."
    if waiver.extent is not None and finding.extent is not None and finding.extent.value > waiver.extent:
        return f"It was waived up to {waiver.extent:g}, and is {finding.extent.value:g} {finding.extent.unit} now."
    if more := [node for node in finding.nodes if node not in waiver.nodes] if waiver.nodes else []:
        return f"It was waived for {listed(waiver.nodes)}, and is about {listed(more)} as well."
    return ""


def allowed(found: Magnitude) -> float:
    """Up to what extent a finding that was found at this one is to be waived: a count as it is; what is measured twice
    as much, but a share at most half the way to all of it, and rounded up to two digits."""
    if not found.is_measured or found.value <= 0:
        return found.value
    most = _HEADROOM * found.value
    if found.unit.startswith("%"):
        most = max(found.value, min(most, (found.value + 100) / 2))
    if not math.isfinite(most):
        return found.value
    return float(Context(prec=2, rounding=ROUND_CEILING).create_decimal(Decimal(repr(most))))


def lifted_for(finding: Finding, standings: Iterable[WaiverStanding]) -> WaiverStanding | None:
    """The waiver that covered a finding until it expired or was lifted; None where there is none, or another holds."""
    if finding.waived or finding.status not in PROBLEMS:
        return None
    ended = (s for s in standings if s.standing in (EXPIRED, LIFTED))
    return next((s for s in ended if s.code == finding.code and matches(s.subject, finding.subject)), None)


def waived_text(waived: Waived) -> str:
    """Until when, by whom and why: `until 2027-01-31 by Ann Lee: mended in January`."""
    return f"until {waived.expires} by {waived.by}: {waived.reason}"


def ended_text(standing: WaiverStanding) -> str:
    """Of a waiver that does not hold any more, for the finding that it covered: `by Ann Lee, lifted: It was ...`"""
    if standing.standing == EXPIRED:
        return f"by {standing.by}, expired on {standing.expires}: {standing.reason}"
    return f"by {standing.by}, lifted. {standing.why}"


def sentence(standing: WaiverStanding) -> str:
    """What became of a waiver that is not in force: `IC-BOOT-002 (eth2 rac1) by Ann Lee: lifted. It was waived as WARN,
    and is FAIL now.`"""
    waiver = f"{standing.code} ({standing.subject}) by {standing.by}"
    what = f"expired on {standing.expires}" if standing.standing == EXPIRED else standing.standing
    return f"{waiver}: {what}. {standing.why or 'Nothing like it was found; take it out of the settings.'}"


def ended(standings: Iterable[WaiverStanding]) -> tuple[WaiverStanding, ...]:
    """The waivers that cover nothing any more, or not all that they covered."""
    return tuple(s for s in standings if s.standing in (EXPIRED, LIFTED, NOT_NEEDED))


def waivers_in(settings: Mapping[str, Any]) -> tuple[Waiver, ...]:
    """The waivers of the settings that a report was made with, as far as they can be read: one of another racwire may
    have fields that this one does not know."""
    saved = settings.get("waivers", ())
    found = []
    for table in saved if isinstance(saved, (list, tuple)) else ():
        known = {k: v for k, v in table.items() if k in Waiver.__struct_fields__} if isinstance(table, dict) else table
        with suppress(msgspec.ValidationError):
            found.append(msgspec.convert(known, Waiver))
    return tuple(found)


def day_of(started_at: str) -> date:
    """The day of a moment as a report has it; today where it is none."""
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
        standing, why = EXPIRED, _of_what_expired(about) or _why_not_checked(waiver, marked, makers, known_codes)
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


def _of_what_expired(about: Sequence[Finding]) -> str:
    """What became of what an expired waiver covered; empty where there is nothing like it."""
    if any(not finding.waived for finding in about):
        return "The finding counts again."
    return "Another waiver covers the finding." if about else ""


def _why_not_checked(
    waiver: Waiver, marked: Sequence[Finding], makers: Mapping[str, str], known_codes: Callable[[], Iterable[str]]
) -> str:
    """Why nobody could have found it; empty where somebody looked."""
    if waiver.code not in makers:
        return _why_nobody_finds(waiver.code, set(known_codes()))
    check = makers[waiver.code]
    own = [f for f in marked if f.check == check]
    if check and not own:
        return f"{check} has not concluded."
    if any(f.status in (Status.UNKNOWN, Status.SKIPPED) for f in own):
        return f"{check} could not look everywhere."
    return ""


def _why_nobody_finds(code: str, known: Collection[str]) -> str:
    if code in known:
        return "No check of this run can find this code."
    close = get_close_matches(code, sorted(known), n=1)
    return f"No check here has the code {code}{f'; did you mean {close[0]}?' if close else '.'}"


def _not_needed(waiver: Waiver, marked: Sequence[Finding]) -> str:
    others = [f.subject for f in marked if f.code == waiver.code and f.status in PROBLEMS]
    return f"{waiver.code} was found about something else: {listed(others[:3])}." if others else ""
