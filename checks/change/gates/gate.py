"""The gate: a check of a planned change that knows the plan and the state of the change.

A gate judges one node after the other (`node_gate`), or the cluster as a whole (`gate`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TypeVar

from checks.change.plan.change_plan import Layer, Plan, Step
from checks.change.progress.state import Change
from checks.change.progress.wanted import plan_now
from checks.model.check import Check, Judge, Kind
from checks.model.facts import Changing, Cluster, Node, NodeSetup, Unknown, Unread, UnreadNode
from checks.model.finding import Finding, NextStep, Status
from checks.model.own_command import VERIFY, OwnCommand
from checks.model.shell_command import shell
from checks.model.wording import continued
from checks.rules.gate_status import gate_status

THEN_VERIFY = NextStep("Then verify again.", own=(VERIFY,), only_verifies=True)
Found = TypeVar("Found")


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


@dataclass(frozen=True)
class GatePlace:
    """What a gate judges: one node of the plan, or the cluster as a whole. Its methods make the findings of the gate.

    The arguments of a finding are its kind, a short text for the list, a complete sentence, and the next steps.
    """

    context: GateContext
    cluster: Cluster
    node: str = ""
    """The node; empty for the cluster."""
    topic: str = ""
    """The topic of the evidence in the journal, on the node or on the local one; empty where there is none."""

    def holds(self, kind: Kind, text: str, sentence: str, *then: NextStep) -> Finding:
        """Return a finding that allows the next step."""
        return self._finding(kind, gate_status(True), text, sentence, then)

    def fails(self, kind: Kind, text: str, sentence: str, *then: NextStep) -> Finding:
        """Return a finding that prevents the next step."""
        return self._finding(kind, gate_status(False), text, sentence, then)

    def undecided(self, kind: Kind, text: str, sentence: str, *then: NextStep) -> Finding:
        """Return a finding that prevents the next step until more is known."""
        return self._finding(kind, gate_status(None), text, sentence, then)

    def remarks(self, kind: Kind, text: str, sentence: str, *then: NextStep) -> Finding:
        """Return a finding that does not decide."""
        return self._finding(kind, Status.INFO, text, sentence, then)

    def not_planned(self, kind: Kind, sentence: str) -> Finding:
        """Return the finding where the plan has nothing to judge."""
        return self._finding(kind, Status.SKIPPED, "none planned", sentence)

    def not_known(
        self, kind: Kind, what: str, why: Unread, *then: NextStep, short: str = "", decides: bool = True
    ) -> Finding:
        """Return the finding where a fact is missing. `what` starts the sentence: `What runs on rac2 is not known`;
        `short` starts the text for the list: `PROD: services`."""
        status = gate_status(None) if decides else Status.INFO
        text = f"{short} not known".strip()
        return self._finding(kind, status, text, f"{what}: {self.because(why)}", then, lacks=[why])

    def because(self, why: Unread) -> str:
        """Return a reason as the end of a sentence."""
        return whole(continued(why.reason))

    def _finding(
        self,
        kind: Kind,
        status: Status,
        text: str,
        sentence: str,
        then: Iterable[NextStep] = (),
        lacks: Iterable[Unread] = (),
    ) -> Finding:
        evidence = [(self.node or self.cluster.local_node, self.topic)] if self.topic else []
        nodes = [self.node] if self.node else []
        return kind.finding(
            sentence, status=status, subject=text, next=then, evidence=evidence, nodes=nodes, lacks=lacks
        )

    @property
    def change(self) -> Change:
        """The change whose gate it is."""
        return self.context.change

    @property
    def plan(self) -> Plan:
        """The plan, with the networks that it wants up now."""
        return self.context.plan

    def on(self, node: str, topic: str = "") -> GatePlace:
        """Return a node as the place."""
        return replace(self, node=node, topic=topic or self.topic)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that the plan changes on the node, from the hardware up."""
        return self.context.layers(self.node)

    def tool(self, command: str) -> str:
        """A command line of a Grid tool, with the tool's path on the node if the path is known."""
        home = self.plan.grid_homes.get(self.node, "")
        return f"{shell('{home}', home=home)}/bin/{command}" if home else command

    def as_root(self, text: str, *commands: str, ends_danger: bool = False) -> NextStep:
        """Return a remedy with commands for root on the node."""
        return NextStep(text, commands, f"root on {self.node}", is_change=True, ends_danger=ends_danger)

    def look(self, text: str, *commands: str) -> NextStep:
        """Return a remedy with commands that any user on the node can run."""
        return NextStep(text, commands, f"any user on {self.node}")

    @property
    def next_command(self) -> OwnCommand:
        """The command that shows the step's commands for the node."""
        return OwnCommand("next", shell("--node {node}", node=self.node))

    def step_again(self) -> NextStep:
        """Return the remedy to run the commands of this step for the node."""
        return NextStep(f"Run the commands of this step for {self.node}.", own=(self.next_command,))

    def read(self) -> Node | Unknown:
        """Return the node as it is now, or the reason why it is unknown."""
        return self.cluster.node(self.node) or self._why_unread(self.cluster.unread_nodes())

    def setup(self) -> NodeSetup | Unknown:
        """Return the setup of the node, or the reason why it is unknown."""
        setups = () if isinstance(self.cluster.setups, Unknown) else self.cluster.setups
        return self.cluster.setup(self.node) or self._why_unread(s for s in setups if isinstance(s, UnreadNode))

    def _why_unread(self, unread: Iterable[UnreadNode]) -> Unknown:
        why = next((one for one in unread if one.name == self.node), None)
        return Unknown(why.reason, why.right) if why else Unknown(f"{self.node} was not read.")

    @property
    def changing(self) -> Changing:
        """The facts of the change: all NotGathered where they are unknown, in which case the engine runs no gate that
        needs them."""
        return Changing() if isinstance(self.cluster.changing, Unknown) else self.cluster.changing

    def asked(self, answers: Mapping[str, Found | Unknown]) -> Found | Unknown:
        """Return what the node answered for the change, or the reason why it did not."""
        unasked = self.changing.unasked.get(self.node, Unknown(f"{self.node} was not queried."))
        return answers.get(self.node, unasked)


GateJudge = Callable[[GatePlace], Iterable[Finding]]


@dataclass(frozen=True)
class GateCheck:
    """A gate as declared; `made_for` returns its check for one change."""

    id: str
    question: str
    needs: tuple[str, ...]
    kinds: tuple[Kind, ...]
    judge: GateJudge = field(repr=False)
    uses: tuple[str, ...] = ()
    topic: str = ""

    def made_for(self, context: GateContext) -> Check:
        """Return the check that verifies this gate for one change."""
        return self._check(lambda cluster: self.judge(GatePlace(context, cluster, topic=self.topic)))

    def described(self) -> Check:
        """Return the check without a change, for its documentation; it finds nothing."""
        return self._check(lambda cluster: ())

    def _check(self, judge: Judge) -> Check:
        return Check(self.id, self.question, self.needs, self.kinds, wraps(self.judge)(judge), self.uses)


def gate(
    id: str,  # noqa: A002
    *,
    question: str,
    needs: Iterable[str],
    kinds: Iterable[Kind],
    uses: Iterable[str] = (),
    topic: str = "",
) -> Callable[[GateJudge], GateCheck]:
    """Declare a gate of the cluster as a whole. Its docstring becomes the page of `racwire explain`."""

    def declare(judge: GateJudge) -> GateCheck:
        return GateCheck(id, question, tuple(needs), tuple(kinds), judge, tuple(uses), topic)

    return declare


NodeJudge = Callable[[GatePlace, Found], Finding | Unknown | Iterator[Finding | Unknown]]


def node_gate(
    id: str,  # noqa: A002
    *,
    question: str,
    needs: Iterable[str],
    kinds: Iterable[Kind],
    read: Callable[[GatePlace], Found | Unknown],
    unread: tuple[Kind, str],
    uses: Iterable[str] = (),
    topic: str = "setup",
    nodes: Callable[[Plan], Iterable[str]] = lambda plan: plan.nodes,
    none_planned: tuple[Kind, str] | None = None,
    must_be_known: bool = True,
) -> Callable[[NodeJudge[Found]], GateCheck]:
    """Declare a gate of all nodes. Its function judges what `read` returns for one node.

    It returns a finding, or yields several. An Unknown from it or from `read` becomes a finding of the kind in
    `unread`, whose text has `{}` for the node: `What runs on {} is not known`. It prevents the next step, unless
    `must_be_known` is False. `none_planned` has the kind and the sentence for a plan with no node to judge.
    """

    def declare(judge: NodeJudge[Found]) -> GateCheck:
        @wraps(judge)
        def each(cluster: GatePlace) -> Iterator[Finding]:
            judged = tuple(nodes(cluster.plan))
            if none_planned and not judged:
                yield cluster.not_planned(*none_planned)
            for at in map(cluster.on, judged):
                fact = read(at)
                found = fact if isinstance(fact, Unknown) else judge(at, fact)
                for one in [found] if isinstance(found, Finding | Unknown) else found:
                    if isinstance(one, Finding):
                        yield one
                    else:
                        yield at.not_known(unread[0], unread[1].format(at.node), one, decides=must_be_known)

        return gate(id, question=question, needs=needs, kinds=kinds, uses=uses, topic=topic)(each)

    return declare


def whole(reason: str) -> str:
    """Return a reason with exactly one full stop at its end."""
    return f"{reason.rstrip('. ')}."
