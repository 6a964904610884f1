"""A node that has booted since its files were verified is not asked to boot again."""

import pytest

from checks.change.progress.boot_proofs import BootProof, boot_proofs
from checks.change.progress.change_events import Reopened
from checks.change.progress.state import Change
from tests.unit.change_gate_support import gate_results, sentence
from tests.unit.change_support import NODES, down, passed, plan, setup, until
from tests.unit.change_support import after as then
from tests.unit.change_verifying_support import booted
from tests.unit.change_wanted_support import alone, looked

SET = until("survives-boot", down(9000))
REBOOTED = down(9000, rac2=booted("rac2"))
UNSET = setup("rac3", runs=False, mtu=None)
"""rac3 without the MTU in its file."""


def rebooted(of: Change, now) -> dict[str, str]:
    return gate_results("rebooted", now, of)


def test_a_boot_between_two_verifications_of_set_mtu_counts():
    """The file of rac3 was forgotten; meanwhile rac2, whose file was verified, was booted."""
    of = looked(until("set-mtu", down()), down(9000, rac3=UNSET))
    of = looked(of, REBOOTED)
    assert of.current is not None
    assert of.current.id == "survives-boot"
    assert rebooted(of, REBOOTED) == {"rac1": "INFO as rac2", "rac2": "PASS booted", "rac3": "INFO as rac2"}


def test_a_proved_boot_counts_after_the_mtu_of_a_node_was_lost_and_set_again():
    of = looked(SET, REBOOTED)
    lost = down(9000, rac2_setup=booted("rac2"), rac2=1500)
    of = looked(of, lost)
    assert of.current is not None
    assert of.current.id == "set-mtu"
    assert rebooted(of, lost)["rac2"] == "PASS booted"  # running-mtu judges its MTU of now
    of = then(looked(of, REBOOTED), Reopened("survives-boot", "For another node."))
    assert rebooted(of, REBOOTED)["rac2"] == "PASS booted"


def test_a_node_that_lost_its_mtu_at_a_boot_must_boot_again_even_if_another_node_proved_the_service():
    of = looked(SET, REBOOTED)
    wrong = down(9000, rac2_setup=booted("rac2"), rac3=1500, rac3_setup=booted("rac3"))
    of = looked(of, wrong)
    reopened = next(line.event for line in of.lines if isinstance(line.event, Reopened) and "boot" in line.event.step)
    assert reopened.why == (
        "After a boot, rac3 did not come back as planned: when the files are right, boot it again. A proved boot of "
        "another node need not be repeated."
    )
    mended = down(9000, rac2=booted("rac2"), rac3_setup=booted("rac3"))
    of = looked(of, mended)
    assert rebooted(of, mended) == {"rac1": "INFO as rac2", "rac2": "PASS booted", "rac3": "FAIL not booted"}
    assert sentence("rebooted", mended, "rac3", of) == (
        "rac3 came back from its last boot with another MTU, and was not booted since."
    )
    third = setup("rac3", runs=False, mtu=9000, boot="third")
    assert rebooted(of, down(9000, rac2=booted("rac2"), rac3_setup=third))["rac3"] == "PASS booted"


@pytest.mark.parametrize("step", ["prove-paths", "first-node"])
def test_files_that_fail_later_void_the_proof(step):
    of = looked(SET, REBOOTED)
    assert boot_proofs(of)["rac2"].proved_by == "rac2-second"
    unkept = setup("rac2", runs=False, mtu=1500, boot="second")
    of = looked(of if step == "prove-paths" else then(of, passed("prove-paths", REBOOTED)), down(9000, rac2=unkept))
    assert "rac2" not in boot_proofs(of)
    of = looked(of, REBOOTED)
    assert boot_proofs(of)["rac2"] == BootProof("rac2-second")
    assert rebooted(of, REBOOTED)["rac2"] == "FAIL not booted"


def test_before_set_mtu_was_verified_there_is_no_proof():
    assert boot_proofs(until("set-mtu")) == {}
    assert sorted(boot_proofs(then(until("set-mtu"), passed("set-mtu", alone(down(9000)))))) == sorted(NODES)
    assert plan().nodes == NODES
