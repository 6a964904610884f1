"""What is decided in a change from its opening to its end, as data without words."""

from __future__ import annotations

import argparse
import io
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from checks.change.plan.change_plan import Plan
from checks.change.plan.obstacles import PlanError
from checks.change.plan.planning import look_of
from checks.change.plan.way_back import make_way_back
from checks.change.progress import decisions
from checks.change.progress.change_events import AnyEvent, Attested, ObservedState, RolledBack, Verified
from checks.change.progress.standing_alarms import standing_alarms
from checks.change.progress.state import Change, ChangeError
from checks.change.record.change_journal import ChangeJournal
from checks.model.facts import Cluster, Unknown, UnreadNode
from checks.model.settings import Settings
from checks.sources.nodes.boot_config.profile import BY_DHCP
from tests.fixtures.change_plans import FILES, apart, node_plan_for, plan_for, stacked, to_change, with_setup
from tests.fixtures.clusters import node as plain
from tests.fixtures.setting_plans import buffers, filters
from tests.unit.change_world import JUMBO, NODES, SHAPES, SMALL, SWITCH, Silence, World, modelled, plan_of
from tests.unit.test_change_experiment import made as experiment
from tests.unit.test_change_networks import plan_of as network_plan
from tests.unit.test_change_networks import spare_cluster
from tests.unit.test_change_walks import concluded
from tui.cli.change.change_command import run
from tui.cli.main import build_parser
from tui.screens.change.alarms import all_alarm_lines
from tui.screens.change.gate_page import detail_lines

WHO = {"who": "oracle@rac1", "version": "1"}
BY, WHY, AT = "A. Lee", "a good reason", "2026-11-20T19:00:00.000+01:00"
_WIDE = 1_000_000
"""A width at which each text is one line."""

PLANS: dict[str, Callable[[], Plan]] = {
    "raise": lambda: plan_for(to_change(3), switches=("nexus-9000",)),
    "raise with a bond": lambda: plan_for(to_change([stacked(1), stacked(2)]), stated={"hosts": ("filer1",)}),
    "raise with DHCP": lambda: plan_for(to_change(2, mtus={"eth1": BY_DHCP})),
    "lower": lambda: plan_for(to_change(2), 1400),
    "buffers": buffers,
    "buffers later": lambda: buffers(later=True),
    "filters": filters,
    "add a network": lambda: network_plan(spare_cluster()),
    "move a network": lambda: network_plan(spare_cluster(), source="eth1"),
    "experiment": experiment,
    **{str(keeper): lambda keeper=keeper: plan_for(to_change(2, (keeper,))) for keeper in FILES},
    "refused: a node is not read": lambda: plan_for(_without_a_node()),
    "refused: a node is down": lambda: plan_for(with_setup(to_change(2), "rac2", daemons=(), instances=())),
    "refused: no networks": lambda: plan_for(msgspec.structs.replace(to_change(2), networks=Unknown("oifcfg failed"))),
    "refused: a small switch": lambda: plan_for(to_change(2), switches=("nexus-1",)),
    "refused: a network that is there": lambda: network_plan(spare_cluster(), "eth2"),
    "refused: not asked": lambda: plan_for(msgspec.structs.replace(to_change(2), managed=Unknown("srvctl failed"))),
    "one node": lambda: node_plan_for(apart([stacked(1), stacked(2, 9000), stacked(3)])),
    "refused: others differ": lambda: node_plan_for(apart([plain(1), plain(2, 1500), plain(3, 9100)]), "rac2"),
}


def _without_a_node() -> Cluster:
    built = to_change(3)
    assert isinstance(built.nodes, tuple)
    return msgspec.structs.replace(built, nodes=(*built.nodes[:2], UnreadNode("rac3", "rac3 did not answer: ssh.")))


def of_plan(name: str) -> dict[str, Any]:
    """Return a plan and its rollback without words, by aspect: what is piped into shells apart from the rest."""
    try:
        plan = PLANS[name]()
    except PlanError as refused:
        return {"obstacles": [(each.code, each.acceptable, len(each.next)) for each in refused.obstacles]}
    with tempfile.TemporaryDirectory() as folder:
        journal = ChangeJournal.open_new(Path(folder), plan, ObservedState(), **WHO)
        steps = list(_followed(journal))
        journal.append(RolledBack(make_way_back(journal.change, made_by=BY, made_at=AT), BY, WHY), **WHO)
        steps += _followed(journal)
    return {aspect: [step[aspect] for step in steps] for aspect in steps[0]}


def _followed(journal: ChangeJournal) -> Iterator[dict[str, object]]:
    """Yield each step as the command line shows it while it is the current one; the last step is left open."""
    steps = journal.change.plan.steps
    for step in steps:
        if (change := journal.change).current is not None:
            yield _step(journal, change)
        if step is steps[-1]:
            return
        if step.gates:
            journal.append(Verified(step.id, True, ()), **WHO)
        for host in step.attest_for or ("",) if step.attest else ():
            journal.append(Attested(step.id, BY, "all", host), **WHO)


def _step(journal: ChangeJournal, change: Change) -> dict[str, object]:
    step = change.current
    assert step is not None
    attested = (bool(step.attest), step.attest_for, bool(step.attest_asks))
    return {
        "steps": (step.id, step.gates, attested, [(block.node, block.lines, block.own) for block in step.commands]),
        "optional": [block.optional for block in step.commands],
        "piped": {node: _piped(journal.path, node) for node in change.plan.nodes},
    }


@cache
def _options() -> argparse.Namespace:
    """Return the parsed options: a parser takes longer than all that a command does."""
    words = ["change", "--file", "F", "next", "--node", "N", "--commands"]
    return build_parser(words).parse_args(words)


def _piped(journal: Path, node: str) -> list[str]:
    """Return what `racwire change next --node NODE --commands` prints, but for its comments."""
    out = io.TextIOWrapper(io.BytesIO())
    args = argparse.Namespace(**{**vars(_options()), "file": str(journal), "node": node})
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        run(args, Settings())
    out.flush()
    return [line for line in out.buffer.getvalue().decode().splitlines() if not line.startswith("#")]


def _shape(lines: Iterator[Any]) -> list[list[str]]:
    """Return the roles of the parts of lines, without their texts."""
    return [[role for _, role in line] for line in lines]


# --- walks ------------------------------------------------------------------------------------------------------------


class Rehearsal:
    """A change that a person follows, while things happen to the nodes by a seed."""

    def __init__(self, shape: str, seed: int, folder: Path) -> None:
        self.chance = random.Random(f"{shape} {seed}")
        self.world = World(SHAPES[shape])
        plan = plan_of(shape)
        self.journal = ChangeJournal.open_new(folder, plan, look_of(self.world.facts(), plan), **WHO)

    @property
    def of(self) -> Change:
        return self.journal.change

    def walked(self, actions: int) -> Iterator[dict[str, object]]:
        """Yield what each action leads to."""
        for _ in range(actions):
            lines = len(self.of.lines)
            if self.of.current is None:
                break
            if self.chance.random() < 0.35:
                self._disturb()
            self._act()
            yield _after(self.of, (line.event for line in self.of.lines[lines:]))
        yield _after(ChangeJournal.read(self.journal.path).change, ())

    def _disturb(self) -> None:
        world, chance = self.world, self.chance
        node, nic = chance.choice(NODES), chance.choice(world.shape.nics)
        match chance.randrange(7):
            case 0:
                world.set(node, nic, chance.choice((SMALL, JUMBO)))
            case 1:
                world.kept[node, nic] = chance.choice((SMALL, JUMBO, None))
            case 2:
                world.boot(node)
            case 3:
                world.runs[node] = not world.runs[node]
            case 4:
                world.starts[node] = not world.starts[node]
            case 5:
                world.silent[node] = chance.choice(tuple(Silence))
            case 6:
                world.switch[node] = chance.choice((SMALL, SWITCH))

    def _act(self) -> None:
        step = self.of.current
        assert step is not None
        if self.chance.random() < 0.3:
            self.world.silent = dict.fromkeys(NODES, Silence.NOTHING)
        for node in NODES if self.chance.random() < 0.9 else NODES[:1]:
            self.world.follow(self.of.plan, step.id, node)
        self.journal.extend(concluded(self.of, self.world), **WHO)
        match self.chance.randrange(12):
            case 0:
                self._decide(lambda of, now: decisions.override(of, now, BY, WHY))
            case 1 if not self.of.is_way_back and self.chance.random() < 0.3:
                self._decide(_back)
            case _:
                self._decide(lambda of, now: decisions.attest(of, now, BY, "filed with CHG42"))

    def _decide(self, event: Callable[[Change, str], AnyEvent]) -> None:
        with suppress(ChangeError):
            if step := self.of.current:
                self.journal.append(event(self.of, step.id), **WHO)


def _back(of: Change, _: str) -> AnyEvent:
    return decisions.roll_back(of, modelled(make_way_back(of, made_by=BY, made_at=AT)), BY, WHY)


WALKS = [(shape, seed) for seed in range(40) for shape in SHAPES]


def of_walk(shape: str, seed: int) -> dict[str, list[object]]:
    """Return the events of a walk and the state after each, without words, by aspect."""
    with tempfile.TemporaryDirectory() as folder:
        walked = list(Rehearsal(shape, seed, Path(folder)).walked(40))
    return {aspect: [each[aspect] for each in walked] for aspect in walked[0]}


def _event(event: AnyEvent) -> object:
    kept = ("step", "passed", "what", "node", "dangerous", "host", "look")
    results = [(r.check, r.status, r.node) for r in getattr(event, "results", ())]
    return type(event).__name__, [getattr(event, name, None) for name in kept], results


def _after(change: Change, events: Iterable[AnyEvent]) -> dict[str, object]:
    step = change.current
    return {
        "events": [_event(event) for event in events],
        "state": (step.id if step else "", [change.standing(each) for each in change.plan.steps], change.is_open),
        "alarms": [(alarm.what, alarm.node, alarm.dangerous) for alarm in standing_alarms(change)],
        "alarms on the screen": _shape(all_alarm_lines(change, _WIDE)),
        "gates on the screen": _shape(detail_lines(change, step, _WIDE)) if step else [],
    }
