"""The way back, from wherever a change stands: no further than what may have been done."""

from __future__ import annotations

from checks.change.change_plan import Gate, Step
from checks.change.steps import after, outage, people, starting
from checks.change.steps.draft import Draft


def untouched(draft: Draft) -> tuple[Step, ...]:
    """Nothing was stopped or changed yet: that is all there is to prove."""
    step = Step(
        id="untouched",
        title="untouched",
        what="Nothing was to be stopped or changed yet. Have racwire see that it is so; nothing needs to be typed.",
        why="Somebody may have begun without the plan.",
        expected=f"Every layer runs and is kept as before (MTU {draft.after}), Clusterware is up and starts at boot.",
        gates=(
            *(Gate(check, until="end") for check in ("running-mtu", "kept-mtu", "stack-up")),
            *starting.autostart_on(draft, until="end"),
        ),
    )
    return (step, people.sign_off(draft))


def stopped_only(draft: Draft) -> tuple[Step, ...]:
    """Something may have been stopped, but no MTU changed: that is proved, and what was stopped is started."""
    step = Step(
        id="untouched",
        title="MTU untouched",
        what="No MTU was to be changed yet. Have racwire see that it is so; nothing needs to be typed.",
        why="Where an MTU was changed all the same, nothing may be started before it is back: on every node, with "
        "Clusterware down everywhere.",
        commands=tuple(
            type(block)(
                block.where,
                block.lines,
                block.node,
                "Only if the gate names this node. While Clusterware runs anywhere: only what the gate itself says.",
            )
            for block in outage.set_mtu(draft).commands
        ),
        expected=f"Every layer runs and is kept as before (MTU {draft.after}).",
        gates=(Gate("running-mtu", until="end"), Gate("kept-mtu", until="end")),
    )
    return (step, starting.all_nodes(draft), after.interconnect(draft), people.sign_off(draft))


def changed(draft: Draft, *, persisted: bool) -> tuple[Step, ...]:
    """The MTU may have been changed: all down, back to what was, proved, and up again."""
    return (
        outage.stack_down(draft),
        outage.set_mtu(draft),
        *((outage.survives_boot(draft),) if persisted else ()),
        outage.prove_paths(draft),
        starting.first_node(draft),
        starting.other_nodes(draft),
        after.interconnect(draft),
        people.sign_off(draft),
    )
