"""The words of a session of guided troubleshooting: prices, what came of a step, how it ends.

These texts decide nothing. The words of each kind of step are in `step_words`, those of suspects in `suspect_words`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.investigation import (
    By,
    End,
    EntryEnding,
    Fared,
    Placing,
    Price,
    Probe,
    Risk,
    SessionStep,
    StepAnswer,
    StepSaid,
    Suspect,
)
from checks.model.signs import SignAt
from checks.model.wording import continued, counted, few, listed
from checks.report.suspect_words import (
    names_in_short,
    network_of,
    place_text,
    sign_text,
    suspect_names,
    suspect_text,
    suspects_by_place,
    suspects_in_short,
)

_FARED = {
    Fared.NONE_LOST: "none lost",
    Fared.SOME_LOST: "some lost",
    Fared.ALL_LOST: "all lost",
    Fared.PORTS_LOST: "all lost from some source ports, none from the others",
    Fared.PORTS_SHARE: "some lost from some source ports, none from the others",
}
_BY = {By.ITSELF: "racwire", By.COMMAND: "a person", By.HANDS: "a person, by hand"}
_SAID = {
    StepSaid.DONE: "done",
    StepSaid.SKIPPED: "skipped",
    StepSaid.NOT_POSSIBLE: "not possible here",
    StepSaid.NOT_UNDERSTOOD: "not understood; the output is kept as a note",
    StepSaid.STOPPED: "stopped",
}
_SIGNS, _PROBES = 3, 4
"""The most signs and probes that a sentence names."""


def price_text(price: Price) -> str:
    """Return `12 s, 600 datagrams`; `3 min, 94 datagrams`; `a window, 20 min`."""
    parts = []
    if price.risk is Risk.WINDOW:
        parts.append("a window")
    if price.minutes:
        parts.append(f"{price.minutes} min")
    if not price.minutes:
        parts.append(f"{max(price.seconds, 1):.0f} s")
    if price.packets:
        parts.append(counted(price.packets, "datagram"))
    return ", ".join(parts)


def cost_text(step: SessionStep) -> str:
    """Return who makes a step, and what it costs: `racwire, 12 s, 600 datagrams`; `the network team, 3 min`."""
    who = _BY[step.by] if step.by is By.ITSELF or not step.price.rights else step.price.rights
    return f"{who}, {price_text(step.price)}"


def why_text(separates: tuple[Sequence[Suspect], Sequence[Suspect]], on: str = "", reads: Sequence[SignAt] = ()) -> str:
    """Return what a step separates: `Separates a bad cable from a bad switch port at rac2.`, or `Shows whether it is a
    bad cable at rac2.` where one is against several. An empty side is a cause that racwire does not know. The network
    `on` is known to the reader. Of a step that `reads` signs, the causes that make them are named."""
    one, other = _without_common(*separates)
    if not one and not other:
        return "Shows which packets are lost, and in which direction."
    if reads and not _make(one, reads) and _make(other, reads):
        one, other = other, one
    if len(one) == len(other) == 1 and one[0].place == other[0].place:
        where = place_text(one[0].place, on)
        return f"Separates {names_in_short(one)} from {names_in_short(other)} {where}".rstrip() + "."
    names, others = suspect_names(one), suspect_names(other)
    if one and other and not {*names} & {*others}:
        if len(names) == 1 < len(one):
            return f"Shows whether it is {names[0]}."
        if len(others) == 1 < len(other) and len(one) > 1:
            return f"Shows whether it is {others[0]}."
    if len(one) == 1 or (one and not other):
        return f"Shows whether it is {suspects_in_short(one, on)}."
    if len(other) == 1 or (other and not one):
        return f"Shows whether it is {suspects_in_short(other, on)}."
    return f"Separates {suspects_in_short(one, on)} from {suspects_in_short(other, on)}."


def _without_common(one: Sequence[Suspect], other: Sequence[Suspect]) -> tuple[Sequence[Suspect], Sequence[Suspect]]:
    """Return two sides without the causes at places that are on both, where they differ in the packets that they lose;
    nothing where one side has no other."""
    common = {suspect.named for suspect in one} & {suspect.named for suspect in other}
    if not common:
        return one, other
    own, others = ([s for s in side if s.named not in common] for side in (one, other))
    return (own, others) if own and others else ((), ())


def _make(suspects: Sequence[Suspect], reads: Sequence[SignAt]) -> bool:
    return any(sign.shows(read) for one in suspects for sign in (*one.signs, *one.may_show) for read in reads)


def outcome_text(answer: StepAnswer, on: str = "") -> str:
    """Return what came of a step, in a sentence. The network `on` is known to the reader."""
    if answer.said is not StepSaid.DONE:
        reason = f": {continued(answer.reason)}" if answer.reason else ""
        return f"{_SAID[answer.said].capitalize()}{reason}".rstrip(".") + "."
    parts = [*_lost(answer, on), *_signs(answer, on)]
    if answer.reason:
        parts.append(answer.reason.rstrip("."))
    return f"{_first_up('; '.join(parts) or 'nothing was seen')}."


def _first_up(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _lost(answer: StepAnswer, on: str) -> Iterator[str]:
    probes = answer.step.probes
    known = len(answer.lost) == len(answer.fared)
    if known and len(answer.fared) > 1 and all(one is Fared.NONE_LOST for one in answer.fared):
        yield f"{sum(lost for lost, _ in answer.lost):,} of {sum(sent for _, sent in answer.lost):,} packets lost"
        return
    for number, fared in enumerate(answer.fared[:_PROBES]):
        what = probe_text(probes[number], on) if number < len(probes) else "packets"
        if known:
            lost, sent = answer.lost[number]
            yield f"{what}: {lost:,} of {sent:,} lost{_of_ports(fared)}"
        else:
            yield f"{what}: {_FARED[fared]}"
    if (more := len(answer.fared) - _PROBES) > 0:
        yield f"and {counted(more, 'more kind')} of packets"


def _of_ports(fared: Fared) -> str:
    return f", {_FARED[fared]}" if fared in (Fared.PORTS_LOST, Fared.PORTS_SHARE) else ""


def _signs(answer: StepAnswer, on: str) -> Iterator[str]:
    shown = frozenset(answer.seen)
    if shown:
        yield few((sign_text(sign, on) for sign in answer.seen), _SIGNS)
    if absent := [sign_text(sign, on) for sign in answer.looked if sign not in shown]:
        yield f"not seen: that {few(absent, _SIGNS)}"
    if answer.step.reads and not answer.looked:
        yield "the output does not show what the step is about"


def probe_text(probe: Probe, on: str = "") -> str:
    """Return the packets of a probe: `datagrams of 9,000 bytes, rac1 to rac2`; of a ping, which has two ways, the
    first."""
    leg = probe.legs[0]
    kind = "pings" if leg.protocols == ("icmp",) else "datagrams"
    what = f"{kind} in fragments" if leg.forms == ("fragment",) else f"{kind} of {leg.sizes[1]:,} bytes"
    parts = [what, f"{listed(leg.senders or ())} to {listed(leg.receivers or ())}"]
    if leg.addresses == ("haip",):
        parts.append("between HAIP addresses")
    if networks := listed(network for network in leg.networks or () if network != on):
        parts.append(networks)
    return ", ".join(parts)


def confirming_text(suspect: Suspect, on: str = "") -> str:
    """Return what a step is for that only confirms a suspect that its sign names."""
    return f"Confirms {suspect_text(suspect, on)}: both directions must lose what it loses, and nothing else."


def ending_text(ending: EntryEnding) -> str:
    """Return how the examination of an entry ended, in one or two sentences."""
    on = network_of(ending.suspects)
    first = suspect_text(ending.suspects[0]) if ending.suspects else ""
    match ending.end:
        case End.PROVED:
            sign = f": {sign_text(ending.sign, on)}, and nothing else does that" if ending.sign else ""
            return f"Proved: {first}{sign}."
        case End.LEFT_OVER:
            return f"Only {first} is left over. That is not a proof: fix it, then verify."
        case End.APART:
            return f"No step from here can tell these apart: {'; '.join(suspects_by_place(ending.suspects))}."
        case End.NONE:
            return "None of the causes that racwire knows fits what was seen."
        case End.NOT_PLACED:
            return _not_placed(ending.placing)


def _not_placed(placing: Placing | None) -> str:
    """Return why a rare loss has no place."""
    if placing is None:
        return "Blocks are lost, so rarely that no path was found to lose packets."
    if placing.does_all_lose:
        return f"All paths lose packets alike ({counted(placing.sent, 'datagram')} sent): no single path is at fault."
    needs = f" About {placing.would_need:,} would be needed." if placing.would_need else ""
    return f"No path was found to lose packets more than the others: {counted(placing.sent, 'datagram')} sent.{needs}"


def after_text(ending: EntryEnding) -> str:
    """Return what to do after the end of an entry."""
    match ending.end:
        case End.PROVED | End.LEFT_OVER:
            return "Fix it, then let racwire verify that the losses have ended."
        case End.APART:
            return "Ask those who own these places to look there, with this record; then verify."
        case End.NOT_PLACED:
            return "Raise the budget (investigate.datagrams in the settings), or investigate while more is lost."
        case End.NONE:
            return "Hand this record to the network team: it has each test with its times and counts."
