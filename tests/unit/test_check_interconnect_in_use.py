"""The check `interconnect-in-use`: the interconnect of each instance, compared with the configuration."""

import io

import msgspec
import pytest

from checks.model.facts import Haip, InterconnectInUse, Parameter, UnaskedInstance, Unknown
from checks.model.finding import Status
from checks.model.known_instances import nodes_without_instance
from checks.plugins.interconnect_in_use import interconnect_in_use
from tests.fixtures.clusters import cluster, clusterware, node
from tests.fixtures.databases import asked, database, haip
from tests.fixtures.reports import report_of
from tui.cli.text_report import text_report

SET = "CLUSTER_INTERCONNECTS parameter"


def found(facts, base=2):
    return {f.code: f for f in interconnect_in_use.run(asked(base, database=facts))}


def using(*second, instances=2, **more):
    """A database whose prod2 uses these interconnects."""
    others = tuple(use for n in range(1, instances + 1) if n != 2 for use in haip(n))
    return database(instances, interconnects=(*others, *second), **more)


def physical(number, source="Oracle Cluster Repository"):
    return tuple(
        InterconnectInUse(number, nic, f"192.168.{net}.{number}", False, source)
        for nic, net in (("eth1", 10), ("eth2", 11))
    )


@pytest.mark.parametrize("instances", [1, 2, 4])
def test_haip_on_every_private_network_passes(instances):
    (finding,) = interconnect_in_use.run(asked(instances))
    assert finding.status is Status.PASS
    assert finding.title.endswith("192.168.10.0/24 and 192.168.11.0/24, through HAIP.")


def test_the_physical_addresses_of_all_networks_pass_too():
    facts = database(2, interconnects=(*physical(1), *physical(2)))
    assert [f.title for f in found(facts).values()] == ["prod1 and prod2 use 192.168.10.0/24 and 192.168.11.0/24."]


@pytest.mark.parametrize("is_public", [True, False, None])
def test_a_public_network_fails_even_if_the_instance_does_not_mark_it_public(is_public):
    finding = found(using(InterconnectInUse(2, "eth0", "10.20.0.2", is_public, "")))["IC-USE-002"]
    assert finding.status is Status.FAIL
    assert finding.title == "prod2 exchanges blocks over the public network: 10.20.0.2 (eth0)."
    assert finding.nodes == ("rac2",)


def test_instances_that_all_use_the_public_network_share_one_finding():
    public = [InterconnectInUse(n, "eth0", f"10.20.0.{n}", True, "") for n in (1, 2, 3)]
    findings = interconnect_in_use.run(asked(3, database=database(3, interconnects=tuple(public))))
    finding = next(f for f in findings if f.code == "IC-USE-002")
    assert finding.title == "prod1, prod2 and prod3 exchange blocks over the public network: eth0."
    assert finding.nodes == ("rac1", "rac2", "rac3")


def test_an_address_on_no_private_network_fails():
    finding = found(using(InterconnectInUse(2, "eth3", "172.16.0.2", False, "")))["IC-USE-003"]
    assert finding.title == "prod2 uses 172.16.0.2 (eth3), which is on none of the private networks."
    assert "private networks: eth1 192.168.10.0/24 and eth2 192.168.11.0/24" in finding.seen


def test_the_parameter_bypasses_an_online_haip():
    facts = using(
        physical(2, SET)[0],
        parameters=(Parameter(1, "cluster_interconnects", ""), Parameter(2, "cluster_interconnects", "192.168.10.2")),
    )
    codes = found(facts)
    finding = codes["IC-USE-004"]
    assert finding.status is Status.FAIL
    assert finding.title == "cluster_interconnects is set on prod2 to 192.168.10.2, and bypasses HAIP."
    assert set(codes) == {"IC-USE-004"}


def test_without_haip_the_parameter_warns_and_the_interconnect_view_is_sufficient():
    base = cluster(2, msgspec.structs.replace(clusterware(2), haip=Haip(False)))
    facts = database(2, interconnects=(*physical(1, SET), *physical(2, SET)), parameters=Unknown("no grant"))
    findings = interconnect_in_use.run(asked(base, database=facts))
    assert {(f.code, f.status) for f in findings} == {("IC-USE-004", Status.WARN)}
    assert findings[0].title == "cluster_interconnects is set on prod1 and prod2."
    assert "prod1: set to 192.168.10.1:192.168.11.1" in findings[0].seen


def test_on_exadata_the_parameter_is_set_on_purpose():
    uses = tuple(InterconnectInUse(n, "re0", f"192.168.10.{n}", False, SET) for n in (1, 2))
    codes = found(database(2, interconnects=uses))
    assert codes["IC-USE-004"].status is Status.INFO
    assert Status.FAIL not in {f.status for f in codes.values()}


@pytest.mark.parametrize(("nic", "caution"), [("eth1", False), ("ib0", True)])
def test_the_parameter_is_reset_for_each_instance_and_all_instances_are_down_meanwhile(nic, caution):
    uses = tuple(InterconnectInUse(n, nic, f"192.168.10.{n}", False, SET) for n in (1, 2))
    (step,) = [step for step in found(database(2, interconnects=uses))["IC-USE-004"].next if step.is_change]
    assert step.commands == tuple(
        f"ALTER SYSTEM RESET cluster_interconnects SCOPE=SPFILE SID='prod{n}';" for n in (1, 2)
    )
    assert "stop all instances of the database, and of ASM where ASM changed, then start them" in step.text
    assert ("On Exadata and other engineered systems, keep the parameter" in step.text) is caution


def test_haip_used_by_only_some_instances_is_reported():
    finding = found(using(*physical(2)))["IC-USE-005"]
    assert finding.title == "prod1 uses HAIP addresses, and prod2 uses none."
    assert finding.nodes == ("rac2",)


def test_a_haip_that_moved_to_the_other_interface_leaves_a_network_unused():
    both_on_eth1 = (
        InterconnectInUse(2, "eth1:1", "169.254.10.2", None, ""),
        InterconnectInUse(2, "eth1:2", "169.254.138.2", None, ""),
    )
    finding = found(using(*both_on_eth1))["IC-USE-006"]
    assert finding.title == "prod2 uses only 192.168.10.0/24; oifcfg also names 192.168.11.0/24."
    assert finding.status is Status.WARN


def test_instances_without_a_common_network_fail():
    facts = database(2, interconnects=(haip(1)[0], haip(2)[1]))
    assert found(facts)["IC-USE-007"].title == "prod1 and prod2 use no private network in common."


def test_without_clusterware_the_views_of_the_instances_are_judged():
    base = msgspec.structs.replace(cluster(2), networks=Unknown("no Clusterware"), clusterware=Unknown("none"))
    passed = found(database(2), base)["IC-USE-001"]
    assert passed.title == "prod1 and prod2 use eth1:1 and eth2:1; no interface is public."
    assert any("only the reports of the instances were judged" in line for line in passed.seen)
    public = found(using(InterconnectInUse(2, "eth0", "10.20.0.2", True, "")), base)
    assert public["IC-USE-002"].status is Status.FAIL


def test_unreadable_facts_are_unknown():
    assert found(database(2, interconnects=Unknown("no grant")))["IC-USE-008"].status is Status.UNKNOWN
    alone = found(database(2, unasked=(UnaskedInstance(3, "prod3", "It did not answer in 15 s."),)))
    assert alone["IC-USE-008"].title == "The interconnect of prod3 is not known: it did not answer in 15 s."
    silent = found(using())
    assert silent["IC-USE-008"].title.startswith("The interconnect of prod2 is not known")


def test_the_instance_of_an_unread_node_is_judged_by_its_subnet():
    base = cluster([node(1)], clusterware(2))
    assert set(found(database(2, interconnects=(*physical(1), *physical(2))), base)) == {"IC-USE-001"}


def test_an_active_node_without_an_instance_is_named_and_no_fault():
    facts = database(2, interconnects=(*haip(1), *haip(2)))
    (finding,) = interconnect_in_use.run(asked(3, database=facts))
    assert finding.status is Status.PASS
    assert "rac3: no instance of the database runs there" in finding.seen
    assert nodes_without_instance(asked(3, database=facts)) == ("rac3",)
    silent = msgspec.structs.replace(facts, unasked=(UnaskedInstance(3, "prod3", "it hangs"),))
    assert nodes_without_instance(asked(3, database=silent)) == ()
    assert nodes_without_instance(asked(2)) == ()
    report = report_of(asked(3, database=facts))
    assert "2 instances, none on rac3" in " ".join(text_report(report, io.StringIO()).split())
