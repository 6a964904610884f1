"""The questions before a decision on a change: what the decision means, in full, and the input fields."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator
from typing import Literal

from checks.change.plan.change_plan import Plan, Step
from checks.change.plan.obstacles import Obstacle
from checks.change.plan.step_stops import stops_of
from checks.change.progress.change_text import headline
from checks.change.progress.state import Change
from checks.model.wording import counted, listed
from tui.console.change_state import WantedPlan
from tui.screens.ask import AskPage, Field
from tui.screens.change.gate_page import detail_lines
from tui.text.line import Line, hanging, sanitize_line
from tui.text.own_keys import KEYS
from tui.text.stop_lines import kinds_text

_FEW_CHARACTERS = 10
"""Fewest characters of a reason, as in `checks.change.progress.decisions`."""
SMALLEST, LARGEST = 1280, 65_520
"""Limits of any MTU: the minimum of IPv6, and the maximum of IP over InfiniBand. Planning finds out the limits of this
cluster."""


_PAIR: dict[str, Literal["", "yes", "no"]] = {"": "", "yes": "yes", "y": "yes", "no": "no", "n": "no"}


def login() -> str:
    """Return the login name of the operator; empty where the system does not know it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def ask_plan(mtus: str, offered: WantedPlan) -> AskPage:
    """Return the question for a plan: the new MTU, and what `racwire change new` takes in addition."""

    def page(width: int) -> Iterator[Line]:
        if mtus:
            yield from hanging([("MTU now  ", "label")], mtus, width)
            yield []
        text = (
            "racwire runs all checks first, which sends test packets over the private networks as `racwire check` "
            "does, and nothing else. Then this screen shows the first step of the plan, or what prevents the change."
        )
        yield from hanging([], text, width)
        yield []
        text = "Oracle recommends 9000 for a private network; some clouds and InfiniBand carry less."
        yield from hanging([], text, width, "faint")
        text = (
            "The other fields are optional: without them LLDP and DMI decide, and the plan asks for the rest. "
            "`racwire explain switches` lists the kinds; `none` says that there is no hypervisor."
        )
        yield from hanging([], text, width, "faint")

    fields = (
        Field("New MTU", str(offered.target or ""), "bytes, such as 9000", _no_mtu),
        Field("Reason", offered.reason, "the ticket, such as CHG42; for the report"),
        Field("Switch", " ".join(offered.switches), "kinds, such as nexus-9000"),
        Field("Pair", offered.pair, "yes or no: do bonds end in a vPC or MLAG that compares MTUs?", _no_pair),
        Field("Hypervisor", " ".join(offered.hypervisors), "kinds, such as vmware, or none"),
        Field("Hosts", " ".join(offered.hosts), "of the guests, such as esx1 esx2: each is attested"),
    )
    return AskPage("Plan a change", page, fields, "make the plan")


def wanted_plan(answer: tuple[str, ...]) -> WantedPlan:
    """Return the answers of `ask_plan`; several kinds or hosts are separated by spaces or commas."""
    target, reason, switches, pair, hypervisors, hosts = answer
    return WantedPlan(int(target), reason, _words(switches), _PAIR[pair.lower()], _words(hypervisors), _words(hosts))


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def ask_attest(change: Change, step: Step) -> AskPage:
    """Return the question for an attestation of what racwire cannot see."""
    number = change.plan.position(step.id) + 1

    def page(width: int) -> Iterator[Line]:
        yield from hanging(
            [], "You attest, with your name, what racwire cannot see. The journal and the report keep it:", width
        )
        yield []
        yield from hanging([("  ", "")], step.to_attest, width, "title")
        if len(hosts) > 1:
            yield []
            yield from hanging([], f"The same is still to be attested for {listed(hosts[1:])}.", width)

    hosts = change.mark(step).unattested(step)
    where = f" for {sanitize_line(hosts[0])}" if hosts else ""
    fields = (_name(), _note_of(step))
    return AskPage(f"Attest step {number}, {sanitize_line(step.title)}{where}", page, fields, "attest")


def ask_start(change: Change, step: Step) -> AskPage:
    """Return the question whether to start a step, whose commands were copied."""

    def page(width: int) -> Iterator[Line]:
        yield from hanging([], "The commands were copied. Start the step now, right before you run them?", width)
        yield []
        text = (
            "racwire reads the nodes, which takes some seconds and changes nothing. What runs then and falls after it "
            "is planned, not an alarm:"
        )
        yield from hanging([], text, width)
        for stops in stops_of(change.plan, step):
            yield from hanging([("  ", "")], kinds_text(stops.kinds, stops.nodes), width, "title")
        yield []
        text = "Without it the step works as well, and what it stops is an alarm."
        yield from hanging([], text, width, "faint")

    number = change.plan.position(step.id) + 1
    field = Field("Start?", hint="y or n", wrong=lambda text: "" if text.lower() in _YES_OR_NO else "Type y or n.")
    return AskPage(f"Start step {number}, {sanitize_line(step.title)}", page, (field,), "answer")


def is_yes(answer: str) -> bool:
    """Return whether an answer to `ask_start` is yes."""
    return _YES_OR_NO[answer.lower()]


_YES_OR_NO = {"y": True, "yes": True, "n": False, "no": False}


def ask_sign_off(change: Change) -> AskPage:
    """Return the question for the sign-off of a change or of a rollback."""
    step = change.plan.steps[-1]

    def page(width: int) -> Iterator[Line]:
        yield from hanging([], KEYS.text(step.what), width)
        if step.attest:
            yield []
            yield from hanging([("  ", "")], step.to_attest, width, "title")
        yield []
        yield from hanging([], "After this the change is over; `racwire change report` writes its report.", width)

    fields = (_name(), _note_of(step))
    return AskPage(f"Sign off {sanitize_line(change.opened.id)}", page, fields, "sign off")


def ask_override(change: Change, step: Step) -> AskPage:
    """Return the question for an override of a gate that did not pass."""

    def page(width: int) -> Iterator[Line]:
        text = (
            "The gate of this step did not pass. An override continues the change without the proof. The report shows "
            "your name and your reason under a heading of their own."
        )
        yield from hanging([], text, width, "warn")
        yield []
        yield from detail_lines(change, step, width)

    number = change.plan.position(step.id) + 1
    title = f"Override the gate of step {number}, {sanitize_line(step.title)}"
    return AskPage(title, page, (_name(), _reason(), _yes("to override the gate")), "override the gate")


def ask_note(change: Change) -> AskPage:
    """Return the question for a note."""
    step = change.current or change.plan.steps[-1]

    def page(width: int) -> Iterator[Line]:
        where = f"step {change.plan.position(step.id) + 1}, {sanitize_line(step.title)}"
        yield from hanging([], f"A remark on {where}, for the report and for the next operator.", width)

    return AskPage("Note", page, (Field("Note", wrong=_empty("Type a note, or Esc.")),), "write the note")


def ask_rollback(change: Change, rollback: Plan) -> AskPage:
    """Return the question for a rollback, with the steps of the rollback."""

    def page(width: int) -> Iterator[Line]:
        yield from hanging(
            [], f"The rollback from here: {headline(rollback)}, {counted(len(rollback.steps), 'step')}.", width
        )
        for number, step in enumerate(rollback.steps, 1):
            yield []
            yield [(f" {number:>2} {sanitize_line(step.title)}", "title")]
            yield from hanging([("    ", "")], KEYS.text(step.what), width)
        yield []
        text = "The rollback ends the change: it cannot be continued. A new change can be planned afterwards."
        yield from hanging([], text, width)

    return AskPage("Rollback", page, (_name(), _reason(), _yes("to roll back")), "start the rollback")


def ask_abandon(change: Change) -> AskPage:
    """Return the question for abandoning a change."""

    def page(width: int) -> Iterator[Line]:
        text = "Nothing was stopped or changed yet, so the change can be abandoned here. Its journal stays."
        yield from hanging([], text, width)

    return AskPage(
        f"Abandon {sanitize_line(change.opened.id)}", page, (_name(), _reason(), _yes("to abandon it")), "abandon it"
    )


def ask_accept(obstacle: Obstacle) -> AskPage:
    """Return the question for the acceptance of an obstacle."""

    def page(width: int) -> Iterator[Line]:
        yield [(f"{sanitize_line(obstacle.code)}  {sanitize_line(obstacle.title)}", "title")]
        yield from hanging([], obstacle.sentence, width)
        yield []
        text = (
            "If you accept this obstacle, the change may start nevertheless. The plan and the report show your reason."
        )
        yield from hanging([], text, width, "warn")

    return AskPage("Accept an obstacle", page, (_reason(),), "accept it")


def _name() -> Field:
    return Field("Name", login(), "your name", _empty("Type your name."))


def _note_of(step: Step) -> Field:
    asked = step.attest_asks
    if not asked:
        return Field("Note", hint="optional")
    return Field("Note", hint=asked, wrong=_empty(f"Type {asked}."))


def _reason() -> Field:
    return Field("Reason", hint="a sentence: others read it months later", wrong=_no_reason)


def _yes(purpose: str) -> Field:
    return Field(
        "Sure?", hint=f"type yes {purpose}", wrong=lambda text: "" if text.lower() == "yes" else f"Type yes {purpose}."
    )


def _empty(problem: str) -> Callable[[str], str]:
    return lambda text: "" if text else problem


def _no_reason(text: str) -> str:
    return (
        ""
        if len(text) >= _FEW_CHARACTERS
        else f"Type a reason of at least {_FEW_CHARACTERS} characters: others read it months later."
    )


def _no_pair(text: str) -> str:
    return "" if text.lower() in _PAIR else "Type yes or no, or nothing where it is not known."


def _no_mtu(text: str) -> str:
    if text.isascii() and text.isdigit() and SMALLEST <= int(text) <= LARGEST:
        return ""
    return f"An MTU is a number of bytes from {SMALLEST} to {LARGEST}, such as 9000."
