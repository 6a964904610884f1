"""What a gate is: a check of a planned change, which knows the plan and where the change stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import wraps

from checks.change.change_plan import Layer, Plan, Step
from checks.change.state import Change
from checks.model.check import Check, Kind
from checks.model.facts import Cluster, NodeSetup, Unknown
from checks.model.finding import Finding, Remedy, Status

LOOK_AGAIN = "racwire change verify"


@dataclass(frozen=True)
class GateContext:
    """What a gate knows beside the facts of the cluster."""

    change: Change
    step: Step
    """The step that is looked at."""

    @property
    def plan(self) -> Plan:
        """The plan that is followed."""
        return self.change.plan

    def layers(self, node: str) -> tuple[Layer, ...]:
        """What the plan changes on a node, from the hardware up."""
        return tuple(sorted((own for own in self.plan.layers if own.node == node), key=lambda own: own.level))

    def tool(self, node: str, words: str) -> str:
        """A Grid tool with its arguments, by its path on that node where that is known."""
        home = self.plan.grid_homes.get(node, "")
        return f"{home}/bin/{words}" if home else words


GateJudge = Callable[[GateContext, Cluster], Iterable[Finding]]


@dataclass(frozen=True)
class GateCheck:
    """A gate as it is declared; `made_for` makes the check of one change of it."""

    id: str
    question: str
    needs: tuple[str, ...]
    kinds: tuple[Kind, ...]
    judge: GateJudge = field(repr=False)
    uses: tuple[str, ...] = ()

    def made_for(self, scene: GateContext) -> Check:
        """The check that looks at this gate."""

        @wraps(self.judge)
        def judge(cluster: Cluster) -> Iterable[Finding]:
            return self.judge(scene, cluster)

        return Check(self.id, self.question, self.needs, self.kinds, judge, self.uses)

    def described(self) -> Check:
        """The check without a change, for its documentation; it finds nothing."""

        @wraps(self.judge)
        def judge(cluster: Cluster) -> Iterable[Finding]:
            return ()

        return Check(self.id, self.question, self.needs, self.kinds, judge, self.uses)


def gate(
    id: str,  # noqa: A002
    *,
    question: str,
    needs: Iterable[str],
    kinds: Iterable[Kind],
    uses: Iterable[str] = (),
) -> Callable[[GateJudge], GateCheck]:
    """Declare a gate. Its docstring becomes the page of `racwire explain`."""

    def declare(judge: GateJudge) -> GateCheck:
        return GateCheck(id, question, tuple(needs), tuple(kinds), judge, tuple(uses))

    return declare


def of_node(
    kind: Kind,
    status: Status,
    node: str,
    text: str,
    sentence: str,
    *,
    then: Iterable[Remedy] = (),
    topic: str = "setup",
) -> Finding:
    """What a gate says of one node: a few words for the list, and one sentence that could be read aloud."""
    return kind.finding(status, sentence, subject=text, next=then, evidence=[(node, topic)], nodes=[node])


def setups(scene: GateContext, cluster: Cluster) -> Iterator[tuple[str, NodeSetup | Unknown]]:
    """The setup of every node of the plan, in its order; why it is not known, where it is not."""
    found = () if isinstance(cluster.setups, Unknown) else cluster.setups
    known = {setup.name: setup for setup in found}
    for node in scene.plan.nodes:
        setup = known.get(node)
        if isinstance(setup, NodeSetup):
            yield node, setup
        else:
            yield node, Unknown(setup.reason if setup else f"{node} was not read.")


def not_known(kind: Kind, node: str, what: str, why: str, *, then: Iterable[Remedy] = ()) -> Finding:
    """That a node could not be judged. `what` is the beginning of the sentence: `What runs on rac2 is not known`."""
    sentence = f"{what}: {whole(why[:1].lower() + why[1:])}"
    return of_node(kind, Status.UNKNOWN, node, "not known", sentence, then=then)


def whole(reason: str) -> str:
    """A reason as the end of a sentence: some have a full stop, and some have none."""
    return f"{reason.rstrip('. ')}."


def as_root(text: str, node: str, *commands: str) -> Remedy:
    """A step for root on a node."""
    return Remedy(text, commands, f"root on {node}", is_change=True)
