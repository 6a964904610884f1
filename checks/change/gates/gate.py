"""The gate: a check of a planned change that knows the plan and the state of the change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import wraps

from checks.change.plan.change_plan import Layer, Plan, Step
from checks.change.progress.state import Change
from checks.change.progress.wanted import plan_now
from checks.model.check import Check, Kind
from checks.model.facts import Cluster, NodeSetup, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.wording import continued

VERIFY = "racwire change verify"
THEN_VERIFY = NextStep("Then verify again.", (VERIFY,))


@dataclass(frozen=True)
class GateContext:
    """What a gate knows in addition to the facts of the cluster."""

    change: Change
    step: Step
    """The step that is verified."""

    @property
    def plan(self) -> Plan:
        """The current plan, of the change or of its rollback, with the networks that it wants up now."""
        return plan_now(self.change)

    def layers(self, node: str) -> tuple[Layer, ...]:
        """The layers that the plan changes on a node, from the hardware up."""
        return tuple(sorted((own for own in self.plan.layers if own.node == node), key=lambda own: own.level))

    def tool(self, node: str, command: str) -> str:
        """A command line of a Grid tool, with the tool's path on that node if the path is known."""
        home = self.plan.grid_homes.get(node, "")
        return f"{home}/bin/{command}" if home else command


GateJudge = Callable[[GateContext, Cluster], Iterable[Finding]]


@dataclass(frozen=True)
class GateCheck:
    """A gate as declared; `made_for` returns its check for one change."""

    id: str
    question: str
    needs: tuple[str, ...]
    kinds: tuple[Kind, ...]
    judge: GateJudge = field(repr=False)
    uses: tuple[str, ...] = ()

    def made_for(self, context: GateContext) -> Check:
        """Return the check that verifies this gate for one change."""

        @wraps(self.judge)
        def judge(cluster: Cluster) -> Iterable[Finding]:
            return self.judge(context, cluster)

        return Check(self.id, self.question, self.needs, self.kinds, judge, self.uses)

    def described(self) -> Check:
        """Return the check without a change, for its documentation; it finds nothing."""

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
    then: Iterable[NextStep] = (),
    topic: str = "setup",
) -> Finding:
    """Return the finding of a gate for one node: `text` is a short text for the list, `sentence` is complete."""
    return kind.finding(status, sentence, subject=text, next=then, evidence=[(node, topic)], nodes=[node])


def setups(context: GateContext, cluster: Cluster) -> Iterator[tuple[str, NodeSetup | Unknown]]:
    """Yield every node of the plan, in its order, with the node's setup or the reason why it is unknown."""
    found = () if isinstance(cluster.setups, Unknown) else cluster.setups
    known = {setup.name: setup for setup in found}
    for node in context.plan.nodes:
        setup = known.get(node)
        if isinstance(setup, NodeSetup):
            yield node, setup
        else:
            yield node, Unknown(setup.reason if setup else f"{node} was not read.")


def not_known(kind: Kind, node: str, what: str, why: str, *, then: Iterable[NextStep] = ()) -> Finding:
    """Return the UNKNOWN finding of a node. `what` starts the sentence: `What runs on rac2 is not known`."""
    sentence = f"{what}: {whole(continued(why))}"
    return of_node(kind, Status.UNKNOWN, node, "not known", sentence, then=then)


def whole(reason: str) -> str:
    """Return a reason with exactly one full stop at its end."""
    return f"{reason.rstrip('. ')}."


def as_root(text: str, node: str, *commands: str) -> NextStep:
    """Return a remedy with commands for root on a node."""
    return NextStep(text, commands, f"root on {node}", is_change=True)
