"""The finding that the placing of a rare loss makes: which path loses, and that the others do not."""

from __future__ import annotations

from collections.abc import Iterable

from checks.model.finding import Finding, Status
from checks.model.investigation import Placing, Probe, StepAnswer
from checks.model.observation import Fate, Observation


def placed_losses(answers: Iterable[StepAnswer]) -> tuple[Finding, ...]:
    """Return what these answers placed, each as a finding of its path, for the diagnosis."""
    return tuple(_placed(answer, answer.placing) for answer in answers if answer.placing and answer.placing.path)


def _placed(answer: StepAnswer, placing: Placing) -> Finding:
    return Finding(
        code="RW-INVESTIGATE-001",
        check="investigate",
        status=Status.WARN,
        title="",
        network=placing.path[0] if placing.path else "",
        observed=tuple(_observed(placing, probe) for probe in answer.step.probes),
    )


def _observed(placing: Placing, probe: Probe) -> Observation:
    leg = probe.legs[0]
    way = tuple(ends[0] if ends else "" for ends in (leg.networks, leg.senders, leg.receivers))
    lost, of = next((n, of) for *path, n, of in placing.counts if tuple(path) == way)
    is_it = way == placing.path
    return Observation(
        fate=Fate.LOST if is_it else Fate.PASSED, what="datagram", legs=probe.legs, number=lost if is_it else of, of=of
    )
