"""The kinds of switch and hypervisor as data: those of racwire, those of a site, and mistakes in its file."""

import re
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.change.session.vendors_file import FILE_LIMIT, VendorsFileError, load_kinds, parse_kinds
from checks.model.facts import LldpNeighbour
from checks.model.vendors import PORT, Kinds, SwitchKind, commands_of, showing

KNOWN = load_kinds()
ACME = """
[switch.acme]
name = "Acme 1"
lldp = ['acme os']
mtu = 9300
counts = "with header"
enter = ["configure"]
each_port = ["port {port} mtu {mtu}"]
save = ["write"]
verify = ["show port {port}"]
scope = "For each port."
source = "Acme manual"
"""


def kind_of(description: str, kinds: Kinds = KNOWN) -> str:
    return kinds.of_neighbour(LldpNeighbour("eth1", "sw1", description))


def site(tmp_path: Path, text: str) -> str:
    path = tmp_path / "kinds.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_the_kinds_of_racwire_obey_the_rules_of_a_file_of_kinds():
    assert parse_kinds(files("checks.model").joinpath("vendors.toml").read_text("utf-8"), "vendors.toml") == KNOWN


# --- the kinds of racwire ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("description", "kind"),
    [
        ("topology/pod-1/node-101", "aci"),
        ("Cisco NX-OS(tm) ucs, Software (ucs-6100-k9-system)", "ucs"),
        ("Cisco Nexus Operating System (NX-OS) Software N9K-C93180YC-EX", "nexus-9000"),
        ("Aruba JL635A  GL.10.08.1010", "aos-cx"),
        ("HPE ANW AOS-CX Virtual.10.13", "aos-cx"),
        ("HP J9727A 2920-24G-PoE+ Switch, revision WB.16.10.0005", "aruba"),
        ("Aruba JL255A 2930F-24G-PoE+-4SFP+ Switch, revision WC.16.05.0007", ""),
        ("ARISTA Networks EOS version 4.30", "arista"),
        ("SONiC Software Version: SONiC.202311.1 - HwSku: Arista-7050-QX32", "sonic"),
        ("Cumulus Linux version 5.3.0 running on Mellanox Technologies Ltd. MSN2700", "cumulus"),
        ("Cisco IOS Software, Catalyst 4500 L3 Switch Software (cat4500e-UNIVERSALK9-M)", "catalyst-4500"),
        ("Cisco IOS Software, Catalyst 4500 L3 Switch  Software (cat4500-IPBASEK9-M)", "catalyst-4500"),
        ("Cisco Internetwork Operating System Software IOS (tm) s72033_rp Software", "catalyst-6500"),
        ("Cisco IOS Software [Gibraltar], Catalyst L3 Switch Software (CAT9K_IOSXE)", "catalyst-9000"),
        ("racwire practice switch", "practice"),
    ],
)
def test_a_kind_is_recognised_by_the_description_of_the_switch(description: str, kind: str):
    assert kind_of(description) == kind


@pytest.mark.parametrize(
    ("product", "kind"),
    [
        ("VMware, Inc. VMware Virtual Platform", "vmware"),
        ("VMware, Inc. VMware7,1", "vmware"),
        ("Microsoft Corporation Virtual Machine", "hyper-v"),
        ("oVirt RHEL", "olvm"),
        ("Nutanix AHV", "nutanix"),
        ("QEMU Standard PC (i440FX + PIIX, 1996)", "kvm"),
        ("Red Hat KVM", "kvm"),
        ("Microsoft Corporation Surface", ""),
        ("Oracle Corporation ORACLE SERVER X9-2", ""),
        ("", ""),
    ],
)
def test_a_hypervisor_is_recognised_by_manufacturer_and_product_of_the_guest(product: str, kind: str):
    assert KNOWN.of_product(product) == kind


def test_a_pair_of_nexus_switches_with_an_mtu_for_each_port_compares_mtus():
    assert {key for key, kind in KNOWN.switches.items() if kind.pair_compares == "yes"} == {"nexus-9000", "nexus-7000"}
    nexus = KNOWN.switches["nexus-9000"]
    assert showing(nexus, ["Ethernet1/5"], before=True) == ("show interface Ethernet1/5 | include MTU",)
    assert "show vpc consistency-parameters interface port-channel NUMBER" in nexus.pair_look


def test_no_mtu_of_a_known_kind_is_too_small_for_9000():
    kinds = (*KNOWN.switches.values(), *KNOWN.hypervisors.values())
    assert [kind.name for kind in kinds if kind.falls_short(9000)] == []
    assert "less than the 9216 bytes" in KNOWN.switches["juniper"].falls_short(9216)


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("cumulus", "The MTU of 9216 does not include the Ethernet header."),
        ("juniper", "The MTU of 9216 includes the 14 bytes of Ethernet header: it carries packets of 9202 bytes."),
        (
            "dell-os9",
            "The MTU of 9216 includes the 18 bytes of Ethernet header and checksum: it carries packets of 9198 bytes.",
        ),
        ("arista", "Ask whether the MTU of 9214 includes the Ethernet header."),
        ("brocade", ""),
    ],
)
def test_a_sentence_says_what_the_mtu_of_the_vendor_includes(key: str, sentence: str):
    assert KNOWN.switches[key].counting == sentence


def test_the_commands_of_a_hypervisor_go_from_the_cable_to_the_guest():
    lines = KNOWN.hypervisors["kvm"].commands
    assert [line.split()[4] for line in lines if line.startswith("ip ")] == ["UPLINK", "TAP", "BRIDGE"]
    assert "ip link set dev UPLINK mtu 9000" in lines


# --- the kinds of a site ----------------------------------------------------------------------------------------------


def test_a_site_adds_a_kind_that_is_tried_first(tmp_path: Path):
    kinds = load_kinds(site(tmp_path, ACME.replace("'acme os'", "'acme os', 'arista'")))
    assert set(kinds.switches) == {"acme", *KNOWN.switches}
    assert kind_of("Arista Networks EOS", kinds) == "acme"
    assert commands_of(kinds.switches["acme"], ["7", "8"]) == (
        "configure", "port 7 mtu 9300", "port 8 mtu 9300", "write",
    )  # fmt: skip
    assert commands_of(kinds.switches["acme"], []) == ("configure", f"port {PORT} mtu 9300", "write")


def test_a_site_replaces_a_kind_of_racwire(tmp_path: Path):
    kinds = load_kinds(site(tmp_path, ACME.replace("switch.acme", "switch.arista")))
    assert kinds.switches["arista"].name == "Acme 1"
    assert len(kinds.switches) == len(KNOWN.switches)
    assert kinds.hypervisors == KNOWN.hypervisors


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[switch", "is not valid TOML"),
        ("x = " + "[" * 5000, "is not valid TOML"),
        ("[swich.acme]", "'swich' is not known; write [switch.KEY] or [hypervisor.KEY] above each kind."),
        ("switch = 1", "'switch' is a table of kinds; write [switch.KEY] above each kind."),
        ("[switch]\nacme = 1", "'switch' is a table of kinds; write [switch.KEY] above each kind."),
        (ACME.replace("switch.acme", "switch.Acme"), "[switch.Acme]: a key has lower-case letters, digits and hyphens"),
        (ACME.replace("scope", "scpe"), "[switch.acme] 'scpe' is not known; did you mean 'scope'?"),
        (ACME.replace('source = "Acme manual"', ""), "[switch.acme] has no 'source'."),
        (ACME.replace('verify = ["show port {port}"]', "verify = []"), "[switch.acme] has no 'verify'."),
        (ACME.replace("9300", "900"), "[switch.acme] 'mtu' must be a whole number >= 1500."),
        (ACME.replace('["write"]', '"write"'), "[switch.acme] 'save' must be a list, got text."),
        (ACME.replace('"with header"', '"both"'), "[switch.acme] 'counts' must be one of \"without header\", "),
        (ACME.replace("{port} mtu", "{prt} mtu"), "[switch.acme] 'each_port': {prt} is not known; the placeholders"),
        (ACME.replace("mtu = 9300", ""), "[switch.acme] 'each_port' has {mtu}: write its value as mtu"),
        (ACME.replace("'acme os'", "'('"), "[switch.acme] 'lldp': '(' is not a regular expression"),
        (
            ACME.replace('each_port = ["port {port} mtu {mtu}"]', "").replace('enter = ["configure"]', ""),
            "[switch.acme] has no command that changes it: write enter or each_port.",
        ),
        (
            "[hypervisor.x]\nname='x'\nproduct=['[']\nscope='s'\nsource='s'\nverify=['v']\nuplinks=['u']",
            "'product': '['",
        ),
    ],
)
def test_a_mistake_is_named_with_file_table_and_key_in_one_sentence(text: str, sentence: str):
    with pytest.raises(VendorsFileError) as raised:
        parse_kinds(text, "site.toml")
    assert str(raised.value).startswith("site.toml")
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_cannot_be_read_is_named_with_its_setting(tmp_path: Path):
    with pytest.raises(VendorsFileError, match=r"none\.toml could not be read: .* switch_kinds of \[change\]"):
        load_kinds(str(tmp_path / "none.toml"))
    (tmp_path / "kinds.toml").write_bytes(b"\xff")
    with pytest.raises(VendorsFileError, match="it is not UTF-8 text"):
        load_kinds(str(tmp_path / "kinds.toml"))
    with pytest.raises(VendorsFileError, match="is no file of switch kinds: it is longer than"):
        load_kinds(site(tmp_path, "#" * (FILE_LIMIT + 1)))


def test_a_kind_without_commands_to_look_shows_those_that_verify():
    kind = parse_kinds(ACME, "site.toml").switches["acme"]
    assert isinstance(kind, SwitchKind)
    assert showing(kind, ["7"], before=True) == showing(kind, ["7"]) == ("show port 7",)


def test_the_kind_on_the_page_of_changes_is_valid():
    page = Path(__file__).parents[2] / "docs" / "change.md"
    (example,) = re.findall("```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert list(parse_kinds(example, "change.md").switches) == ["acme"]


VALUES = st.one_of(
    st.none().map(lambda _: "{}"), st.integers().map(str), st.booleans().map(lambda b: str(b).lower()),
    st.sampled_from(['""', "[1]", '["{port} {mtu} {x}"]', '["("]', '"yes"', "[[]]", "{a = 1}", "1.5", "2026-11-20"]),
)  # fmt: skip


@given(
    st.sampled_from(["switch.a", "hypervisor.a", "switch", "hypervisor", "x"]),
    st.dictionaries(st.sampled_from([*SwitchKind.__struct_fields__, "product", "uplinks", "x"]), VALUES, max_size=12),
)
def test_no_value_of_any_key_raises_another_error(heading: str, keys: dict[str, str]):
    valid = dict.fromkeys(("name", "scope", "source"), '"a"') | {"verify": '["v"]'}
    text = f"[{heading}]\n" + "".join(f"{key} = {value}\n" for key, value in (valid | keys).items())
    with suppress(VendorsFileError):
        parse_kinds(text, "site.toml")
