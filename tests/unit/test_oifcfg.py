"""The parser of oifcfg's answers."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import ConfiguredInterface, InterfaceConfiguration, ListedInterface, ToolMessage, Unknown
from checks.sources.clusterware.oifcfg_text import parse_getif, parse_iflist

SAMPLES = Path(__file__).parents[1] / "fixtures" / "clusterware"
GETIF_SAMPLES = sorted(path.read_text() for path in SAMPLES.glob("getif_*.txt"))
IFLIST_SAMPLE = (SAMPLES / "iflist_pn.txt").read_text()


def sample(name: str) -> str:
    return (SAMPLES / name).read_text()


def interconnect(name: str, subnet: str, *more_roles: str, scope: str = "global") -> ConfiguredInterface:
    return ConfiguredInterface(name, subnet, scope, tuple(sorted((*more_roles, "cluster_interconnect"))))


def names_and_roles(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(entry.name, entry.roles) for entry in parse_getif(text).interfaces]


class TestGetif:
    def test_private_networks_may_be_listed_before_the_public_one(self) -> None:
        assert parse_getif(sample("getif_combined_asm.txt")) == InterfaceConfiguration(
            interfaces=(
                interconnect("eno1", "192.168.40.0", "asm"),
                interconnect("eno2", "192.168.41.0", "asm"),
                ConfiguredInterface("eth0", "10.90.16.0", "global", ("public",)),
            )
        )

    def test_wildcards_keep_their_pattern_without_quotes_and_the_warning_is_a_message(self) -> None:
        configuration = parse_getif(sample("getif_wildcard_prif29.txt"))
        assert [entry.name for entry in configuration.interfaces if entry.is_pattern] == ["*", "ens*"]
        assert [message.code for message in configuration.messages] == ["PRIF-29"]
        assert configuration.messages[0].text.startswith("Warning: wildcard in network parameters")
        assert configuration.not_understood == ()

    def test_entries_below_only_in_ocr_are_listed_separately(self) -> None:
        configuration = parse_getif(sample("getif_only_in_ocr.txt"))
        assert [entry.name for entry in configuration.interfaces] == ["eth0", "eth1"]
        assert configuration.only_in_ocr == (
            interconnect("eth2", "192.168.41.0"),
            interconnect("eth3", "192.168.42.0", scope="node-specific"),
        )
        assert configuration.messages == (
            ToolMessage("PRIF-30", "Network information in OCR and GPnP profile differs"),
        )

    def test_only_in_ocr_before_an_entry_applies_to_that_line_only(self) -> None:
        configuration = parse_getif(
            "Only in OCR: eth2  192.168.41.0  global  cluster_interconnect\n"
            "eth1  192.168.40.0  global  cluster_interconnect\n"
        )
        assert configuration.only_in_ocr == (interconnect("eth2", "192.168.41.0"),)
        assert configuration.interfaces == (interconnect("eth1", "192.168.40.0"),)

    def test_a_message_ends_the_list_of_entries_only_in_the_ocr(self) -> None:
        configuration = parse_getif(
            "Only in OCR:\nPRIF-30: Network information in OCR and GPnP profile differs\n"
            "eth1  192.168.40.0  global  cluster_interconnect\n"
        )
        assert configuration.only_in_ocr == ()
        assert configuration.interfaces == (interconnect("eth1", "192.168.40.0"),)

    def test_four_interfaces_may_share_a_subnet(self) -> None:
        private = [
            entry for entry in parse_getif(sample("getif_four_on_one_subnet.txt")).interfaces if entry.is_private
        ]
        assert [entry.name for entry in private] == ["bondib0", "bondib1", "bondib2", "bondib3"]
        assert {entry.subnet for entry in private} == {"192.168.44.0"}

    def test_one_interface_may_have_two_subnets_during_a_change(self) -> None:
        text = "eth1  192.168.40.0  global  cluster_interconnect\neth1  172.20.0.0  global  cluster_interconnect\n"
        assert [entry.subnet for entry in parse_getif(text).interfaces] == ["192.168.40.0", "172.20.0.0"]

    def test_names_with_dots_ipv6_subnets_and_roles_in_any_case(self) -> None:
        configuration = parse_getif(sample("getif_ipv6_s390.txt"))
        assert configuration.interfaces == (
            interconnect("enccw0.0.f400", "fd3a:40::", "asm"),
            interconnect("bond1.200", "fd3a:41::/64"),
            ConfiguredInterface("enccw0.0.f500", "2001:db8:16::", "global", ("public",)),
        )

    @pytest.mark.parametrize(
        ("line", "code"),
        [
            ("PRIF-29: Warning: wildcard", "PRIF-29"),
            ("PRIF-29 : Warning: wildcard", "PRIF-29"),
            ("PRIF-00030: differs", "PRIF-30"),
            ("PROC-15: failed to initialize", "PROC-15"),
            ("PROC-00015: failed to initialize", "PROC-15"),
        ],
    )
    def test_codes_lose_the_padding_from_the_manuals(self, line: str, code: str) -> None:
        assert [message.code for message in parse_getif(line).messages] == [code]

    def test_tabs_and_spaces_between_roles_make_no_difference(self) -> None:
        assert names_and_roles("en3\t10.90.14.0\tGLOBAL\tASM, cluster_interconnect") == [
            ("en3", ("asm", "cluster_interconnect"))
        ]

    def test_empty_output_means_nothing_is_configured(self) -> None:
        assert parse_getif("\n") == InterfaceConfiguration()

    @pytest.mark.parametrize(
        "line",
        [
            "$ oifcfg getif",
            "eth1  192.168.40  global  cluster_interconnect",
            "eth1  192.168.40.0  local  cluster_interconnect",
            "eth1  192.168.40.0  global",
            "eth1  192.168.40.0  global  cluster-interconnect",
            '""  192.168.40.0  global  public',
            "Only in OCR: something else",
        ],
    )
    def test_a_line_with_another_format_is_returned_as_printed(self, line: str) -> None:
        assert parse_getif(f"  {line}\n") == InterfaceConfiguration(not_understood=(line,))

    @given(st.text())
    def test_any_text_is_parsed_without_an_error(self, text: str) -> None:
        parse_getif(text)

    @given(st.sampled_from(GETIF_SAMPLES), st.data())
    def test_no_line_of_a_damaged_answer_is_lost(self, text: str, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(text)))
        damaged = text[:at] + data.draw(st.text(max_size=5)) + text[at + data.draw(st.integers(0, 5)) :]
        read = parse_getif(damaged)
        entries = [*read.interfaces, *read.only_in_ocr, *read.messages, *read.not_understood]
        headings = sum(line.strip().lower().replace(" ", "") == "onlyinocr:" for line in damaged.split("\n"))
        assert len(entries) + headings == sum(bool(line.strip()) for line in damaged.split("\n"))


class TestIflist:
    def test_unknown_subnets_and_every_form_of_a_netmask_are_parsed(self) -> None:
        assert parse_iflist(IFLIST_SAMPLE) == (
            ListedInterface("eth0", "10.90.16.0", "PRIVATE", 20),
            ListedInterface("eth0", "2001:db8:16::", "UNKNOWN", 64),
            ListedInterface("eth1", "192.168.40.0", "PRIVATE", 25),
            ListedInterface("eth1", "169.254.0.0", "UNKNOWN", 17),
            ListedInterface("eth2", "fd3a:41::", "PUBLIC", 64),
        )

    @pytest.mark.parametrize(
        ("line", "row"),
        [
            ("eth1  192.168.40.0", ListedInterface("eth1", "192.168.40.0")),
            ("eth1  192.168.40.0  PRIVATE", ListedInterface("eth1", "192.168.40.0", "PRIVATE")),
            ("eth1  192.168.40.0  255.255.255.0", ListedInterface("eth1", "192.168.40.0", "", 24)),
        ],
    )
    def test_columns_follow_the_options(self, line: str, row: ListedInterface) -> None:
        assert parse_iflist(line) == (row,)

    def test_a_failure_is_quoted(self) -> None:
        assert parse_iflist("PRIF-9: incorrect usage\n") == Unknown(
            '`oifcfg iflist -p -n` printed a format that racwire does not know: "PRIF-9: incorrect usage".'
        )

    @pytest.mark.parametrize("mask", ["255.0.255.0", "129", "/x", "255.255.255.0  more"])
    def test_a_row_with_an_impossible_netmask_is_not_an_interface(self, mask: str) -> None:
        assert isinstance(parse_iflist(f"eth1  192.168.40.0  PRIVATE  {mask}"), Unknown)

    @given(st.one_of(st.text(), st.text(alphabet="0123456789./:eth \n%", max_size=60)))
    def test_any_text_is_parsed_without_an_error(self, text: str) -> None:
        parse_iflist(text)
