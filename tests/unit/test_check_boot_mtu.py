"""The check `boot-mtu`: the MTU of each private interface at the next boot, compared with the running MTU."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import FragileMtu, KeptMtu, NetworkService, NodeSetup, Unknown, UnreadNode
from checks.model.finding import Status
from checks.plugins.boot_mtu import boot_mtu
from tests.fixtures.clusters import cluster, interface, node, setup, with_interface

RAC1, RAC2 = node(1), node(2)


def keeping(of, *entries, **more):
    """Return the setup of a node in which these entries replace those of the same interfaces."""
    base = setup(of)
    names = {entry.interface for entry in entries}
    boot_mtus = (*(k for k in base.kept if k.interface not in names), *entries)
    return msgspec.structs.replace(base, **{"kept": boot_mtus, **more})


def found(nodes, *setups):
    """The findings of a cluster by their codes; the files of other nodes have the running MTU."""
    by_node = {s.name: s for s in setups}
    built = msgspec.structs.replace(cluster(list(nodes)), setups=tuple(by_node.get(n.name, setup(n)) for n in nodes))
    return {f.code: f for f in boot_mtu.run(built)}


def boot(name="eth1", mtu=None, service=NetworkService.IFCFG, file="/etc/sysconfig/network-scripts/ifcfg-eth1", **more):
    return KeptMtu(name, service, file, mtu=mtu, **more)


def test_nodes_whose_boot_configuration_has_the_running_mtu_pass_on_every_network():
    findings = boot_mtu.run(cluster(4))
    assert [(f.code, f.status) for f in findings] == [("IC-BOOT-001", Status.PASS)] * 2
    assert findings[0].title == "rac1, rac2, rac3 and rac4 keep MTU 9000 on 192.168.10.0/24 through the next boot."


def test_the_same_mistake_on_several_nodes_is_one_finding_with_one_remedy():
    by_nm = boot(service=NetworkService.NETWORK_MANAGER, file="", connection="Private 1")
    finding = found([RAC1, RAC2], keeping(RAC1, by_nm), keeping(RAC2, by_nm))["IC-BOOT-002"]
    assert finding.title.startswith("eth1 of rac1 and rac2 run at MTU 9000 and will have MTU 1500")
    change = finding.next[-1]
    assert change.is_change
    assert change.commands == ("nmcli connection modify 'Private 1' 802-3-ethernet.mtu 9000",)


def bonded(bond=9000, member=9000):
    upper = with_interface(RAC2, "eth2", kind="bond", members=("p0",), mtu=bond)
    lower = interface("p0", "", member, master="eth2")
    return msgspec.structs.replace(upper, interfaces=(*upper.interfaces, lower))


def test_a_member_of_a_bond_without_an_mtu_of_its_own_gets_that_of_the_bond():
    of = bonded()
    for entries in ((boot("p0"), boot("eth2", 9000)), (boot("eth2", 9000),)):
        base = keeping(of, *entries)
        only = tuple(k for k in base.kept if k.interface != "p0" or k in entries)
        assert found([RAC1, of], msgspec.structs.replace(base, kept=only)).keys() == {"IC-BOOT-001"}


def test_a_member_of_a_bond_with_an_mtu_of_its_own_is_reported():
    finding = found([RAC1, bonded()], keeping(bonded(), boot("p0", 1500)))["IC-BOOT-002"]
    assert finding.title.startswith("p0 of rac2 runs at MTU 9000 and will have MTU 1500")


def on_vlan(parent):
    upper = with_interface(RAC2, "eth2", kind="vlan", parent="bond1")
    return msgspec.structs.replace(upper, interfaces=(*upper.interfaces, interface("bond1", "", parent, kind="bond")))


def test_a_vlan_takes_the_mtu_of_its_parent_and_never_more():
    of = on_vlan(9000)
    assert found([RAC1, of], keeping(of, boot("eth2"))).keys() == {"IC-BOOT-001"}
    findings = found([RAC1, of], keeping(of, boot("eth2", 9000), boot("bond1", 1500)))
    assert findings["IC-BOOT-002"].title.startswith("bond1 of rac2 runs at MTU 9000")
    titles = {f.title for f in boot_mtu.run(
        msgspec.structs.replace(cluster([RAC1, of]), setups=(setup(RAC1), keeping(of, boot("bond1", 1500))))
    )}  # fmt: skip
    assert (
        "eth2 of rac2 runs at MTU 9000 and will have MTU 1500 after its next boot: its parent will have no larger MTU."
        in titles
    )


SCRIPT = FragileMtu("eth1", "/etc/rc.d/rc.local", "ip link set eth1 mtu 9000", 9000)


@pytest.mark.parametrize(
    ("entries", "line", "title"),
    [
        ((boot(),), SCRIPT, "comes only from /etc/rc.d/rc.local: without the script it will be 1500."),
        ((boot(),), msgspec.structs.replace(SCRIPT, interface=""), "without the script it will be 1500."),
        (
            (boot(service=NetworkService.UNKNOWN),),
            SCRIPT,
            "comes only from /etc/rc.d/rc.local: no known network service sets it.",
        ),
        (
            (boot(mtu=Unknown("root only")),),
            SCRIPT,
            "comes only from /etc/rc.d/rc.local: the MTU without the script is not known.",
        ),
        ((), msgspec.structs.replace(SCRIPT, mtu=1500), "and /etc/rc.d/rc.local will set MTU 1500 at the next boot."),
    ],
)
def test_an_mtu_that_depends_on_a_script_is_fragile(entries, line, title):
    finding = found([RAC1, RAC2], keeping(RAC2, *entries, fragile=(line,)))["IC-BOOT-003"]
    assert finding.status is Status.WARN
    assert "eth1 of rac2" in finding.title
    assert "MTU 9000" in finding.title
    assert finding.title.endswith(title)


@pytest.mark.parametrize(
    "line", [SCRIPT, FragileMtu("", "/etc/rc.local", "mtu $1"), FragileMtu("em9", "/x", "mtu", 1400)]
)
def test_a_script_with_the_configured_mtu_or_another_purpose_is_not_a_fault(line):
    assert found([RAC1, RAC2], keeping(RAC2, fragile=(line,))).keys() == {"IC-BOOT-001"}


def test_interfaces_without_a_known_network_service_are_info():
    """As in a container, or on a practice cluster without network services."""
    findings = found([RAC1, RAC2], *(keeping(of, kept=()) for of in (RAC1, RAC2)))
    assert {f.status for f in findings.values()} == {Status.INFO}
    assert findings["IC-BOOT-005"].title.startswith(
        "No known network service configures eth1 and eth2 of rac1 and rac2,"
    )


def test_a_boot_mtu_is_unknown_if_all_interfaces_are_unreadable_and_info_if_some_are():
    secret = Unknown("NetworkManager's files can be read by root only, and nmcli did not tell of them")
    nothing = keeping(RAC2, boot("eth1", secret), boot("eth2", secret))
    finding = found([RAC1, RAC2], nothing)["IC-BOOT-004"]
    assert finding.status is Status.UNKNOWN
    assert secret.reason in finding.seen
    one = keeping(RAC2, boot("eth1", secret))
    assert found([RAC1, RAC2], one)["IC-BOOT-004"].status is Status.INFO
    assert found([RAC1, RAC2], keeping(RAC2, kept=secret))["IC-BOOT-004"].status is Status.UNKNOWN


def test_a_node_whose_setup_could_not_be_read_is_unknown_and_the_others_are_judged():
    base = msgspec.structs.replace(cluster(2), setups=(setup(RAC1), UnreadNode("rac2", "its shell is gone")))
    findings = boot_mtu.run(base)
    assert {f.code for f in findings} == {"IC-BOOT-001", "IC-BOOT-004"}
    assert [f.nodes for f in findings if f.status is Status.UNKNOWN] == [("rac2",)]


def test_clusterware_that_cannot_start_is_reported():
    finding = found([RAC1, RAC2], keeping(RAC2, autostart=False))["IC-BOOT-006"]
    assert (finding.status, finding.nodes) == (Status.INFO, ("rac2",))
    assert finding.title == "Clusterware will not start automatically after the next boot of rac2."


def test_an_autostart_that_is_not_known_is_unknown_once_for_each_reason():
    reason = "this user may not run `crsctl config crs` there (CRS-4563): the Grid owner and root may"
    codes = found([RAC1, RAC2], *(keeping(n, autostart=Unknown(reason), grid_home="/u01/grid") for n in (RAC1, RAC2)))
    finding = codes["IC-BOOT-007"]
    assert (finding.status, finding.seen, finding.nodes) == (Status.UNKNOWN, (reason,), ("rac1", "rac2"))
    assert finding.title == "Whether Clusterware starts at the next boot of rac1 and rac2 is not known."
    assert "IC-BOOT-006" not in codes


def test_a_node_without_a_grid_home_has_no_autostart():
    bare = keeping(RAC2, autostart=Unknown("no crsctl"), grid_home=Unknown("olr.loc names no Grid home"))
    assert not found([RAC1, RAC2], bare).keys() & {"IC-BOOT-006", "IC-BOOT-007"}


names = st.sampled_from(["eth0", "eth1", "eth2", "p0", "p1", ""])
mtus = st.none() | st.sampled_from([1500, 9000]) | st.builds(Unknown, st.text("ab.", max_size=4))
setups = st.builds(
    NodeSetup,
    st.sampled_from(["rac1", "rac2"]),
    kept=st.builds(Unknown, st.just("x"))
    | st.lists(st.builds(KeptMtu, names, st.sampled_from(NetworkService), mtu=mtus), max_size=5).map(tuple),
    fragile=st.lists(
        st.builds(FragileMtu, names, st.just("/f"), st.just("l"), st.sampled_from([None, 1500, 9000])), max_size=2
    ).map(tuple),
    autostart=st.booleans() | st.builds(Unknown, st.just("x")),
)
wirings = st.fixed_dictionaries(
    {
        "master": names,
        "parent": names,
        "members": st.lists(names, max_size=2).map(tuple),
        "kind": st.sampled_from(["ethernet", "bond", "vlan", "bridge", "infiniband"]),
        "mtu": st.sampled_from([1500, 9000]),
    }
)


@given(st.lists(setups | st.builds(UnreadNode, st.just("rac2"), st.just("r")), max_size=2), wirings, wirings)
def test_any_boot_configuration_and_layering_is_judged_and_nothing_unknown_passes(known, one, other):
    built = cluster(
        [with_interface(RAC1, "eth1", **one), with_interface(with_interface(RAC2, "eth1", **other), "eth2", **one)]
    )
    findings = boot_mtu.run(msgspec.structs.replace(built, setups=tuple(known)))
    if not any(isinstance(s, NodeSetup) and isinstance(s.kept, tuple) for s in known):
        assert Status.PASS not in {f.status for f in findings}
    assert all(f.title.endswith(".") and "None" not in f.title for f in findings)
