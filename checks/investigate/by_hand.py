"""What a step by hand has shown: whether the loss went with what was moved."""

from __future__ import annotations

from checks.model.investigation import Fared, SessionStep, StepAnswer
from checks.model.signs import Sign, SignAt

_WITH = frozenset({Sign.WITH_CABLE, Sign.WITH_PORT, Sign.WITH_MEMBER, Sign.WITH_NIC})


def hands_showed(
    step: SessionStep, before: StepAnswer, after: StepAnswer
) -> tuple[tuple[SignAt, ...], tuple[SignAt, ...]]:
    """Return the signs that were seen, and those that were examined, from datagrams before and after a step by hand.

    None was examined where nothing was lost before: the loss was gone by itself.
    """
    first, *rest = step.place.nodes
    if not _loses(before, first, without=rest):
        return (), ()
    ended = not _loses(after, first, without=rest)
    began = any(_loses(after, other, without=[first]) and not _loses(before, other, without=[first]) for other in rest)
    seen = []
    looked = [sign for sign in step.reads if sign.sign in _WITH]
    for sign in looked:
        match sign.sign:
            case Sign.WITH_CABLE:
                is_so = ended and began
            case Sign.WITH_NIC:
                is_so = not ended
            case _:
                is_so = ended
        if is_so:
            seen.append(sign)
    return tuple(seen), tuple(looked)


def _loses(answer: StepAnswer, node: str, *, without: list[str]) -> bool:
    """Return whether packets to or from a node were lost, those of the nodes `without` left out."""
    for probe, fared in zip(answer.step.probes, answer.fared, strict=False):
        ends = {*(probe.legs[0].senders or ()), *(probe.legs[0].receivers or ())}
        if node in ends and not ends & {*without} and fared is not Fared.NONE_LOST:
            return True
    return False
