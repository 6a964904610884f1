"""The step of the switches: commands by LLDP and by the stated kind, and questions without them."""

import pytest

from checks.change.session.vendors_file import load_kinds
from checks.model.facts import (
    LldpNeighbour,
)
from checks.model.own_command import written
from checks.model.settings import Settings
from tests.fixtures.change_plans import (
    plan_for,
    to_change,
    with_setup,
)


def lines_of(plan, step, node=None):
    return [line for block in plan.step(step).commands if node in (None, block.node) for line in block.lines]


def test_switch_ports_known_from_lldp_are_in_the_commands_of_their_vendor():
    arista = LldpNeighbour("eth1", "sw1", "Arista Networks EOS version 4.30", "Ethernet7", 9236)
    plan = plan_for(with_setup(to_change(), "rac1", lldp=(arista,)))
    assert plan.switches == ("nexus-9000", "arista")
    blocks = {block.heading: block for block in plan.step("switch").commands}
    assert "interface Ethernet7" in blocks["On sw1 (Arista EOS):"].lines
    assert [gate.check for gate in plan.step("switch").gates] == ["switch-frames"]


def test_without_a_known_vendor_of_the_switch_there_are_questions_and_how_to_name_it():
    plan = plan_for(to_change(), settings=Settings())
    (questions,) = plan.step("switch").commands
    assert all(line.startswith("# ") for line in questions.lines)
    assert "`racwire explain switches` lists the kinds that racwire knows" in written(questions.note)
    assert plan.step("switch").attest


@pytest.mark.parametrize(
    ("description", "kind"),
    [
        ("Cisco Nexus Operating System (NX-OS) Software N9K-C93180YC-EX", "nexus-9000"),
        ("N3K-C3064PQ-10GX", "nexus-3000"),
        ("N3K-C3172PQ", "nexus-3000"),
        ("cisco Nexus 3548", "nexus-3000"),
        ("N3K-C3132Q-40GX", "nexus-3000"),
        ("N3K-C3132Q-V", "nexus-9000"),
        ("N3K-C36180YC-R", "nexus-9000"),
        ("N5K-C5548UP", "nexus-5000"),
        ("N3K-C9999", ""),
    ],
)
def test_each_model_of_the_nexus_3000_gets_the_commands_that_it_has(description: str, kind: str):
    neighbour = LldpNeighbour("eth1", "sw1", description)
    kinds = load_kinds()
    assert kinds.of_neighbour(neighbour) == kind
    if found := kinds.switches.get(kind):
        assert ("    mtu {mtu}" in found.enter) == (kind != "nexus-9000")


def test_the_switch_step_asks_for_pairs_that_compare_the_mtu():
    step = next(step for step in plan_for(to_change()).steps if step.id == "switch")
    assert any("consistency-parameters" in line for commands in step.commands for line in commands.lines)


@pytest.mark.parametrize("pair", ["", "yes", "no"])
def test_a_pair_that_is_stated_not_to_be_there_is_not_asked_for(pair: str):
    commands = plan_for(to_change(), switches=("nexus-9000",), stated={"pair": pair}).step("switch").commands
    assert ("On both switches of a pair" in commands[0].heading) is (pair != "no")
    assert not any("On both switches of a pair" in block.heading for block in commands[1:])
