"""The step for the virtual switches below guests: when a plan has it, and its attestation for each host."""

import json
from pathlib import Path

import pytest

from checks.change.board.change_report import report_of
from checks.change.plan.obstacles import PlanError
from checks.change.plan.way_back import make_way_back
from checks.change.progress import decisions
from checks.change.progress.change_events import Attested, Noted
from checks.change.progress.change_text import sentence_of
from checks.change.progress.own_commands import OwnCommands
from checks.change.progress.state import Change, ChangeError, fold
from checks.change.session.vendors_file import load_kinds
from checks.model.exit_codes import ExitCode
from checks.model.facts import Cluster, HostSetup, LldpNeighbour, Unknown
from checks.model.own_command import written
from tests.fixtures.change_plans import plan_for, to_change, with_setup
from tests.unit.change_journals import journal
from tests.unit.change_lines_support import change, words
from tui.cli.change.change_report_text import report_lines
from tui.cli.change.change_text import status_lines
from tui.cli.main import main
from tui.console.change_state import Work
from tui.screens.change.questions import ask_attest
from tui.screens.change.step_page import step_page
from tui.text.step_lines import step_lines

VMWARE = HostSetup(is_virtual=True, product="VMware, Inc. VMware Virtual Platform")
NEITHER = HostSetup(is_virtual=False, product="Dell Inc. PowerEdge R750")
UNKNOWN = HostSetup(is_virtual=True)
BY = "Ann Lee"
NOTE = "seen by Bob at 02:10"


def guests(*hosts: HostSetup | Unknown, **more: object) -> Cluster:
    built = to_change()
    for node, host in zip(("rac1", "rac2"), hosts or (VMWARE, VMWARE), strict=True):
        built = with_setup(built, node, host=host, **more)
    return built


def stated_hosts(built: Cluster | None = None, *kinds: str) -> Change:
    """Return a change whose current step is hypervisor, with two hosts."""
    plan = plan_for(built or guests(), stated={"hosts": ("esx1", "esx2"), "hypervisors": kinds})
    steps = (plan.step("hypervisor"), plan.steps[-1])
    return change(of=type(plan)(**{**{f: getattr(plan, f) for f in plan.__struct_fields__}, "steps": steps}))


# --- which plans have the step ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("built", "stated", "kinds"),
    [
        (guests(), {}, {"rac1": "vmware", "rac2": "vmware"}),
        (guests(VMWARE, NEITHER), {}, {"rac1": "vmware"}),
        (guests(NEITHER, NEITHER), {}, {}),
        (guests(Unknown("not read"), Unknown("not read")), {}, {}),
        (guests(UNKNOWN, HostSetup(is_virtual=True, product="Acme VM")), {}, {"rac1": "", "rac2": ""}),
        (guests(NEITHER, NEITHER), {"hypervisors": ("kvm",)}, {"rac1": "kvm", "rac2": "kvm"}),
        (guests(VMWARE, NEITHER), {"hypervisors": ("kvm",)}, {"rac1": "kvm"}),
        (guests(), {"hypervisors": ("kvm", "vmware")}, {"rac1": "vmware", "rac2": "vmware"}),
        (guests(), {"hypervisors": ("none",)}, {}),
        (guests(platform="Oracle Cloud"), {}, {}),
        (guests(lldp=(LldpNeighbour("eth1", "sw", "racwire practice switch"),)), {}, {}),
    ],
    ids=[
        "VMware", "one guest", "physical", "not read", "unknown kinds", "stated", "stated, one guest", "two kinds",
        "none", "a cloud", "the practice cluster",
    ],
)  # fmt: skip
def test_a_plan_has_the_step_where_nodes_are_guests(built: Cluster, stated: dict[str, object], kinds: dict[str, str]):
    plan = plan_for(built, stated=stated)
    assert plan.guests == kinds
    assert ("hypervisor" in {step.id for step in plan.steps}) is bool(kinds)


def test_a_kind_of_hypervisor_that_is_listed_with_the_switches_is_taken_as_one():
    plan = plan_for(guests(NEITHER, NEITHER), switches=("nexus-9000", "vmware"))
    assert plan.switches == ("nexus-9000",)
    assert plan.guests == {"rac1": "vmware", "rac2": "vmware"}


def test_an_unknown_kind_of_hypervisor_is_refused_with_the_known_ones():
    with pytest.raises(PlanError) as raised:
        plan_for(guests(), stated={"hypervisors": ("xyz",)})
    (obstacle,) = raised.value.obstacles
    assert (obstacle.code, "hypervisor xyz" in obstacle.sentence) == ("CH-START-020", True)
    assert "vmware, hyper-v" in obstacle.next[0].text
    assert obstacle.next[0].text.endswith("and none.")


def test_the_step_asks_for_virtual_switch_port_group_and_uplinks_and_has_the_commands():
    step = plan_for(guests()).step("hypervisor")
    assert "the uplinks, the port group and the virtual switch of each private network" in written(step.what)
    assert "every host that rac1 and rac2 may run on" in written(step.what)
    commands, questions = step.commands
    assert commands.heading == "On every ESXi host that a node may run on (VMware vSphere):"
    assert "esxcli network vswitch standard set -m 9000 -v VSWITCH" in commands.lines
    assert all(line.startswith("# ") for line in questions.lines)
    assert "# rac1: eth1, eth2" in questions.lines
    assert step.gates == ()


def test_an_unknown_kind_has_questions_and_how_to_name_it():
    step = plan_for(guests(NEITHER, HostSetup(is_virtual=True))).step("hypervisor")
    (questions,) = step.commands
    assert "The kind of hypervisor of rac2 is not known; `racwire change new --hypervisor KIND` names it" in written(
        questions.note
    )
    assert "--hypervisor none" in written(questions.note)
    assert "rac2 is a guest" in written(step.what)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("vmware", "The change interrupts the network of running guests"),
        ("kvm", "It is not known whether the change interrupts the network of running guests."),
    ],
)
def test_hosts_are_changed_after_the_stop_where_running_guests_may_be_interrupted(kind: str, why: str):
    plan = plan_for(guests(), stated={"hypervisors": (kind,)})
    assert [step.id for step in plan.steps[4:8]] == ["stack-down", "switch", "hypervisor", "set-mtu"]
    assert why in written(plan.step("hypervisor").what)
    assert any(
        remark.startswith("The hypervisor is changed while Clusterware is down.")
        for remark in map(written, plan.remarks)
    )


def test_hosts_of_a_kind_that_interrupts_no_guest_are_changed_one_after_the_other_first(tmp_path: Path):
    acme = tmp_path / "kinds.toml"
    acme.write_text(
        "[hypervisor.acme]\nname = 'Acme'\nproduct = ['acme']\nvirtual_switch = ['set']\nverify = ['show']\n"
        "scope = 'One host.'\ninterrupts = 'no'\nsource = 'Acme manual'\n",
        encoding="utf-8",
    )
    kinds = load_kinds(str(acme))
    draft_hosts = {"hypervisors": ("acme",), "pair": "no", "hosts": ("h1",)}
    plan = plan_for(guests(), stated=draft_hosts, kinds=kinds)
    assert [step.id for step in plan.steps[4:7]] == ["switch", "hypervisor", "stack-down"]
    assert "Clusterware still runs on the guests: change one host after the other." in written(
        plan.step("hypervisor").what
    )


def test_nodes_that_may_be_guests_are_a_remark_and_a_question():
    remark = "It is not known whether rac2 is a guest of a hypervisor: neither CPU nor DMI was read."
    built = guests(NEITHER, HostSetup())
    assert any(text.startswith(remark) for text in map(written, plan_for(built).remarks))
    assert not any(
        "is a guest of" in text for text in map(written, plan_for(built, stated={"hypervisors": ("none",)}).remarks)
    )
    assert not any("of a hypervisor:" in text for text in map(written, plan_for(guests(NEITHER, NEITHER)).remarks))


def test_the_operators_of_the_hypervisor_agree_to_the_window():
    assert "the operators of the hypervisor agreed" in plan_for(guests()).step("agree").attest
    assert "hypervisor" not in plan_for(guests(NEITHER, NEITHER)).step("agree").attest


# --- the attestation for each host ------------------------------------------------------------------------------------


def attested(now: Change, *hosts: str, note: str = NOTE) -> Change:
    for host in hosts:
        event = decisions.attest(now, "hypervisor", BY, note, host)
        number = len(now.lines) + 1
        line = type(now.lines[0])(
            number=number,
            at=f"2026-11-20T18:{number:02}:31+01:00",
            who="oracle@rac1",
            racwire="1",
            after="",
            event=event,
        )
        now = fold((*now.lines, line))
    return now


def test_the_step_is_done_when_every_host_is_attested():
    now = stated_hosts()
    step = now.plan.step("hypervisor")
    assert step.attest_for == ("esx1", "esx2")
    one = attested(now, "esx1")
    assert (one.current, one.mark(step).unattested(step)) == (step, ("esx2",))
    both = attested(one, "esx2")
    assert both.current is not step
    assert both.mark(step).attested_for["esx1"].event == Attested("hypervisor", BY, NOTE, "esx1")


def test_without_stated_hosts_the_hosts_of_each_guest_are_attested():
    assert plan_for(guests()).step("hypervisor").attest_for == ("hosts of rac1", "hosts of rac2")


@pytest.mark.parametrize(
    ("before", "host", "why"),
    [
        ((), "", "is attested for each host: name one of esx1 and esx2 with --host."),
        ((), "esx9", "is not attested for 'esx9': its hosts are esx1 and esx2."),
        (("esx1",), "esx1", "is attested for esx1 already; it waits for esx2."),
    ],
)
def test_an_attestation_names_a_host_that_waits_for_it(before: tuple[str, ...], host: str, why: str):
    now = attested(stated_hosts(), *before)
    with pytest.raises(ChangeError) as raised:
        decisions.attest(now, "hypervisor", BY, NOTE, host)
    assert why in str(raised.value)


def test_a_step_that_is_attested_once_takes_no_host():
    with pytest.raises(ChangeError, match="'esx1': it is attested once"):
        decisions.attest(change(), "agree", BY, "", "esx1")


def test_an_attestation_without_a_host_does_not_do_the_step():
    now = stated_hosts()
    step = now.plan.step("hypervisor")
    event = Attested("hypervisor", BY)
    line = type(now.lines[0])(number=2, at="2026-11-20T18:02:31+01:00", who="o", racwire="1", after="", event=event)
    assert fold((*now.lines, line)).current is step


def test_the_rollback_leaves_the_hosts_as_they_are():
    back = make_way_back(stated_hosts(), made_by="o@rac1", made_at="2026-11-20T18:00:00+01:00")
    assert "hypervisor" not in {step.id for step in back.steps}


# --- text, screens, reports, commands ---------------------------------------------------------------------------------


def test_status_steps_screen_and_report_name_each_host():
    now = attested(stated_hosts(), "esx1", note="seen by Bob")
    step = now.plan.step("hypervisor")
    status = words(status_lines(now, 200, OwnCommands(), path="x"))
    assert "attested for esx1 by Ann Lee, 2026-11-20 18:02, waits for an attestation for each of esx2" in status
    assert "For each esx1, esx2" in words(step_lines(now, step, 200))
    page = words(step_page(now, step, 0, Work(), 200).lines)
    assert "✓ esx1: Ann Lee, 2026-11-20 18:02: seen by Bob" in page
    assert "Press a to attest for esx2." in page
    assert ask_attest(now, step).title == "Attest step 1, hypervisor for esx2"
    assert "still to be attested for esx2." in words(ask_attest(stated_hosts(), step).page(80))
    assert sentence_of(now.lines[-1].event) == "Ann Lee attests hypervisor for esx1: seen by Bob."
    report = words(report_lines(report_of(attested(now, "esx2")), 200))
    assert "attested for esx1 by Ann Lee (oracle@rac1), 2026-11-20 18:02:31 +01:00: seen by Bob" in report
    assert "attested for esx2 by Ann Lee" in report


def test_the_command_attests_several_hosts_and_names_those_that_are_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    journal(tmp_path, of=stated_hosts().plan)

    def racwire(*words: str) -> tuple[int, str, str]:
        code = main(["change", "--directory", str(tmp_path), *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    code, _, stderr = racwire("attest", "--by", BY)
    assert (code, "name one of esx1 and esx2 with --host" in stderr) == (ExitCode.USAGE, True)
    assert "attest --by NAME --host HOST" in racwire("next")[2]
    code, _, stderr = racwire("attest", "--by", BY, "--host", "caf\udce9")
    assert (code, "is not attested for 'caf\ufffd'" in stderr) == (ExitCode.USAGE, True)
    code, _, stderr = racwire("attest", "--by", BY, "--note", NOTE, "--host", "esx1", "--host", "esx9")
    assert (code, "is not attested for 'esx9'" in stderr) == (ExitCode.USAGE, True)
    code, _, stderr = racwire("attest", "--by", BY, "--note", NOTE, "--host", "esx1")
    assert (code, "attested for esx1 by Ann Lee" in stderr) == (ExitCode.PASS, True)
    assert "--host HOST" in stderr.splitlines()[-1]
    assert stderr.splitlines()[-1].endswith("for esx2.")
    assert json.loads(racwire("status", "--format", "json")[1])["steps"][0]["unattested"] == ["esx2"]
    assert json.loads(racwire("next", "--format", "json")[1])["steps"][0]["attest_for"] == ["esx1", "esx2"]
    racwire("attest", "--by", BY, "--note", NOTE, "--host", "esx2")
    assert json.loads(racwire("status", "--format", "json")[1])["current"] == "sign-off"


def test_a_note_does_not_attest():
    now = stated_hosts()
    line = type(now.lines[0])(
        number=2, at="2026-11-20T18:02:31+01:00", who="o", racwire="1", after="", event=Noted("hypervisor", "called")
    )
    assert fold((*now.lines, line)).mark(now.plan.step("hypervisor")).unattested(now.plan.step("hypervisor"))
