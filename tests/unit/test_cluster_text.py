"""The answers of olsnodes and crsctl, and why they fail."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import (
    ActiveVersion,
    ClusterMember,
    Haip,
    MissingRight,
    ToolMessage,
    Unknown,
)
from checks.sources.clusterware.cluster_text import (
    parse_active_version,
    parse_check_crs,
    parse_cluster_name,
    parse_haip,
    parse_local_node,
    parse_misscount,
    parse_olsnodes,
)
from checks.sources.clusterware.grid_home import SUDOERS_SCRIPT
from checks.sources.clusterware.grid_tool_command import CommandOutput
from checks.sources.clusterware.tool_failure import ToolUser, explain_failure

SAMPLES = Path(__file__).parents[1] / "fixtures" / "clusterware"
HAIP = "NAME=ora.cluster_interconnect.haip\nTYPE=ora.haip.type\n"


def sample(name: str) -> str:
    return (SAMPLES / name).read_text()


class TestOlsnodes:
    def test_a_vip_is_a_name_an_address_or_none(self) -> None:
        assert parse_olsnodes(sample("olsnodes_nist.txt")) == (
            ClusterMember("db1", 1, "db1-vip.example.test", "Active", "Unpinned"),
            ClusterMember("db2", 2, "10.90.16.22", "Inactive", "Pinned"),
            ClusterMember("db3-0", 3, "", "Active", "Unpinned"),
        )

    def test_columns_may_be_separated_by_spaces_and_be_fewer(self) -> None:
        assert parse_olsnodes("db1 1 db1-vip\ndb2 Active\n") == (
            ClusterMember("db1", 1, "db1-vip"),
            ClusterMember("db2", status="Active"),
        )

    def test_a_message_among_the_members_is_skipped(self) -> None:
        assert parse_olsnodes("PRKH-1001: a warning\ndb1\t1\tdb1-vip\tActive\tUnpinned\n") == (
            ClusterMember("db1", 1, "db1-vip", "Active", "Unpinned"),
        )

    def test_a_line_that_may_hide_a_member_makes_the_list_unknown(self) -> None:
        assert parse_olsnodes("db1\t1\tdb1-vip\tActive\tUnpinned\ndb2 is a hub\n") == Unknown(
            '`olsnodes -n -i -s -t` printed a format that racwire does not know: "db2 is a hub".'
        )

    def test_a_list_of_only_messages_is_quoted(self) -> None:
        answer = parse_olsnodes("PRCO-19: Failure retrieving list of nodes in the cluster\n")
        assert isinstance(answer, Unknown)
        assert "PRCO-19: Failure retrieving" in answer.reason

    def test_single_names(self) -> None:
        assert parse_local_node("db1\n") == "db1"
        assert parse_cluster_name("prod-cluster\n") == "prod-cluster"
        assert parse_cluster_name("") == Unknown("`olsnodes -c` printed nothing.")
        assert isinstance(parse_local_node("PRCO-19: Failure retrieving list of nodes\n"), Unknown)


class TestCrsctl:
    def test_active_version_with_state_and_patch_level(self) -> None:
        assert parse_active_version(sample("activeversion_f.txt")) == ActiveVersion(
            "19.0.0.0.0", "NORMAL", "1234567890"
        )

    def test_active_version_of_a_release_without_them(self) -> None:
        version = parse_active_version("Oracle Clusterware active version on the cluster is [11.2.0.4.0]\n")
        assert version == ActiveVersion("11.2.0.4.0")
        assert isinstance(version, ActiveVersion)
        assert isinstance(version.upgrade_state, Unknown)

    def test_services_that_are_down_are_a_valid_answer(self) -> None:
        services = parse_check_crs(sample("check_crs_part_down.txt"))
        assert not isinstance(services, Unknown)
        assert [service.code for service in services] == ["CRS-4638", "CRS-4535", "CRS-4530", "CRS-4534"]
        assert parse_check_crs("CRS-4639: Could not contact Oracle High Availability Services\n") == (
            ToolMessage("CRS-4639", "Could not contact Oracle High Availability Services"),
        )

    def test_a_refused_check_is_not_parsed_as_a_service(self) -> None:
        assert isinstance(parse_check_crs("CRS-4563: Insufficient user privileges.\n"), Unknown)

    @pytest.mark.parametrize(
        ("lines", "haip"),
        [
            ("TARGET=ONLINE\nSTATE=ONLINE on db1\n", Haip(True, "ONLINE", "ONLINE", "db1")),
            ("TARGET=OFFLINE\nSTATE=OFFLINE\n", Haip(True, "OFFLINE", "OFFLINE", "")),
            ("TARGET=ONLINE\nSTATE=INTERMEDIATE on db1\n", Haip(True, "ONLINE", "INTERMEDIATE", "db1")),
            (
                "TARGET=ONLINE         , ONLINE\nSTATE=ONLINE on db1, ONLINE on db2\n",
                Haip(True, "ONLINE", "ONLINE", "db1, db2"),
            ),
            (
                "TARGET=ONLINE, ONLINE\nSTATE=ONLINE on db1, OFFLINE\n\nNAME=ora.ctssd\nTARGET=OFFLINE\n",
                Haip(True, "ONLINE", "ONLINE, OFFLINE", "db1"),
            ),
        ],
    )
    def test_haip(self, lines: str, haip: Haip) -> None:
        assert parse_haip(HAIP + lines) == haip

    def test_a_missing_haip_resource_is_a_fact(self) -> None:
        assert parse_haip(sample("haip_missing.txt")) == Haip(present=False)

    def test_another_resource_is_not_parsed_as_haip(self) -> None:
        assert isinstance(parse_haip("NAME=ora.asm\nTARGET=ONLINE\nSTATE=ONLINE on db1\n"), Unknown)

    @pytest.mark.parametrize("end", [".", ""])
    def test_misscount(self, end: str) -> None:
        assert parse_misscount(f"CRS-4678: Successful get misscount 60 for Cluster Synchronization Services{end}") == 60


@given(
    st.one_of(
        st.text(),
        st.text(alphabet="NAMESTARGE=,\n on[]CRS-2613:4 ", max_size=80),
        st.builds(
            lambda text, at, insert: text[:at] + insert + text[at + len(insert) :],
            st.sampled_from(sorted(path.read_text() for path in SAMPLES.glob("*.txt"))),
            st.integers(0, 200),
            st.text(max_size=8),
        ),
    )
)
def test_any_text_is_parsed_without_an_error(text: str) -> None:
    for parse in (
        parse_olsnodes, parse_local_node, parse_cluster_name,
        parse_active_version, parse_check_crs, parse_haip, parse_misscount,
    ):  # fmt: skip
        parse(text)
    explain_failure("tool", CommandOutput(1, text, ""), ToolUser("me", "grid", True))


class TestFailureReasons:
    GRID = ToolUser("grid", "grid", is_outsider=False)
    MONITOR = ToolUser("monitor", "grid", is_outsider=True)

    @pytest.mark.parametrize(
        "line",
        [
            "PRIF-10: failed to initialize the cluster registry",
            "PROC-00015: failed to initialize the cluster registry",
            "CRS-4639: Could not contact Oracle High Availability Services",
            "PRCO-19: Failure retrieving list of nodes in the cluster",
        ],
    )
    def test_the_stack_is_down(self, line: str) -> None:
        reason = explain_failure("tool", CommandOutput(1, line, ""), self.GRID)
        assert reason is not None
        assert reason.reason.startswith("Clusterware is not running on this node")

    @pytest.mark.parametrize(
        "line",
        [
            "PROC-5: no",
            "PROC-00006: no",
            "PROT-20: Insufficient permission to proceed. Require privileged user",
            "Permission denied",
            "CRS-4563: no",
        ],
    )
    def test_the_user_is_refused(self, line: str) -> None:
        assert explain_failure("oifcfg getif", CommandOutput(1, "", line), self.MONITOR) == Unknown(
            "monitor may not run `oifcfg getif`: run `sudo -u grid racwire check`, or racwire as root.",
            MissingRight(
                "run the tools of the Grid home as grid or root", ("sudo -u grid racwire check",), "", SUDOERS_SCRIPT
            ),
        )

    def test_for_another_user_a_closed_registry_may_be_a_missing_permission(self) -> None:
        reason = explain_failure("oifcfg getif", CommandOutput(1, "PRIF-10: failed", ""), self.MONITOR)
        assert reason is not None
        assert "sudo -u grid racwire check" in reason.reason
        assert reason.right.commands == ("sudo -u grid racwire check",)

    def test_any_other_failure_is_quoted(self) -> None:
        assert explain_failure("olsnodes -c", CommandOutput(3, "Segfault\n", ""), self.GRID) == Unknown(
            '`olsnodes -c` failed with exit status 3: "Segfault".'
        )
        assert explain_failure("olsnodes -c", CommandOutput(-9, "", ""), self.GRID) == Unknown(
            "Signal 9 ended `olsnodes -c`."
        )
        assert explain_failure("olsnodes -c", CommandOutput(0, "hm", ""), self.GRID) is None
