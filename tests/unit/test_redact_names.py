"""Pseudonyms of names: every name is replaced, at every place, and no other word changes."""

import html
import json
import re
import time
from collections.abc import Callable
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checks.model.facts import Cluster, Database, NotAsked, ServiceActivity, Unknown
from checks.model.finding import Finding, Status
from checks.model.journal import Entry
from checks.model.report import Report, make_report
from checks.redact import Identity, Pseudonyms, RedactionError, Redactor
from checks.redact.connect_text import names_in_connect_string, names_in_text
from checks.redact.names import MatchScope, is_derived, match_scope_of
from checks.redact.originals import NAMES
from checks.redact.well_known import VOCABULARY, WELL_KNOWN_NAMES, is_well_known
from checks.report.json_report import to_json
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import activity, asked, database
from tests.fixtures.reports import report_of

LETTERS = "abcdefghijklmnopqrstuvwxyzäöß"
any_name = st.from_regex(rf"[{LETTERS}][{LETTERS}0-9]{{0,11}}(-[{LETTERS}0-9]{{1,4}})?", fullmatch=True).filter(
    lambda name: not is_well_known("host", name)
)


def of_nodes(*names: str) -> Report:
    """A report of nodes with these names, and with possible output of tools about them."""
    built = cluster(len(names))
    data = msgspec.json.encode(built)
    for number, name in enumerate(names, 1):
        data = re.sub(rf'"rac{number}(-vip)?"'.encode(), rf'"{name}\1"'.encode(), data)
    text = "\n".join(f"{n} {n.upper()} {n}-vip {n}.acme.example: ora.{n}.vip [{n}] /{n}/ ({n})" for n in names)
    return make_report(
        version="1.2.3", started_at=built.taken_at, duration_s=1.0, cluster=msgspec.json.decode(data, type=Cluster),
        findings=[Finding(code="IC-GRID-001", check="clusterware", status=Status.PASS, title=f"{names[0]} is well.")],
        journal=[Entry(names[0], "output", "cat", built.taken_at, text=text)],
    )  # fmt: skip


def text_with(text: str, report: Report | None = None, identity: Identity | None = None) -> str:
    """Return that text as it is in the redacted report of a cluster with it."""
    built = report or report_of(asked(2))
    entry = Entry("rac1", "output", "cat", "2026-11-20T14:02:31.100+01:00", text=text)
    replaced = Redactor(Pseudonyms(), identity).report(msgspec.structs.replace(built, journal=(entry,)))
    return replaced.journal[0].text


@given(st.lists(any_name, min_size=2, max_size=4, unique_by=str.lower))
@example(["a-0", "a-v"])
def test_no_name_of_a_node_remains_in_any_field(names: list[str]) -> None:
    pseudonyms = Pseudonyms()

    report = Redactor(pseudonyms).report(of_nodes(*names))

    names_after = [n.name for n in report.cluster.read_nodes()]
    assert len(set(names_after)) == len(names)
    assert not {n.lower() for n in names_after} & {n.lower() for n in names}
    # Without the pseudonyms: of a node a-v, host_a-vip has the letters, but not the name.
    text = re.sub(r"host_[a-z]+", "\0", to_json(report).decode())
    for name in names:
        more = r"\d" if name[-1].isdigit() else r"\b\B"
        if match_scope_of(name) is MatchScope.ANYWHERE:
            assert not re.search(rf"{re.escape(name)}(?!{more})", text, re.IGNORECASE)
        elif match_scope_of(name) is MatchScope.NOT_NEXT_TO_LETTER:
            assert not re.search(rf"(?<![^\W\d_]){re.escape(name)}(?!{more}|[^\W\d_])", text, re.IGNORECASE)
        else:
            assert not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", report.journal[0].text, re.IGNORECASE)
    assert report.findings[0].code == "IC-GRID-001"
    used = [p for of_kind in pseudonyms.mapping().names.values() for p in of_kind.values()]
    assert len(set(used)) == len(used)


@given(st.lists(st.tuples(st.sampled_from(["host", "user", "database", "switch"]), any_name), max_size=40))
def test_the_mapping_is_injective_and_no_pseudonym_contains_an_original(named: list[tuple[str, str]]) -> None:
    pseudonyms = Pseudonyms()
    pseudonyms.avoid(name for _, name in named)

    used = {name: pseudonyms.name(kind, name) for kind, name in named}

    assert len(set(used.values())) == len({name.lower() for name in used})
    for pseudonym in used.values():
        assert not [name for name in used if len(name) > 2 and name.lower() in pseudonym]
        assert not set(pseudonym.split("_")) & set(used)


@pytest.mark.parametrize("name", ["host", "a", "hos", "host_a", "machine"])
def test_a_node_with_the_name_of_a_pseudonym_gets_another_one(name: str) -> None:
    pseudonyms = Pseudonyms()
    pseudonyms.name("host", "rac7")  # of an earlier report: host_a

    pseudonyms.avoid([name, "rac7"])

    assert name not in pseudonyms.name("host", "rac7").split("_")
    assert pseudonyms.name("host", name) != pseudonyms.name("host", "rac7")
    assert set(pseudonyms.mapping().retired.values()) <= {"rac7"}


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("rac1 rac2", "host_a host_b"),
        ("RAC1.", "HOST_A."),
        ("Rac1", "Host_a"),
        ("rac12 rac1", "rac12 host_a"),
        ("rac1-vip,rac1-priv1", "host_a-vip,host_a-priv1"),
        ("xrac1x", "xhost_ax"),
        ("rac1.tar.gz other.tar.gz", "host_a.tar.gz other.tar.gz"),
        ("oracle@rac1.acme.com and grid@other.acme.com", "oracle@host_a.domain_a and grid@host_d.domain_a"),
        ("/etc/oracle/scls_scr/rac2/root/ohasdstr", "/etc/oracle/scls_scr/host_b/root/ohasdstr"),
        ("prodrac-scan PRODRAC_1", "cluster_a-scan CLUSTER_A_1"),
        ("product production reproduce prod", "product production reproduce base_a"),
        (
            "ora_lmon_prod1 ora.prod.db PROD_DATA +DATA/PROD/",
            "ora_lmon_base_a1 ora.base_a.db BASE_A_DATA +DATA/BASE_A/",
        ),
        ("oracle grid root sys SYSTEM racwire", "oracle grid root sys SYSTEM racwire"),
        ("+ASM1 -MGMTDB LISTENER_SCAN1 localhost CDB$ROOT", "+ASM1 -MGMTDB LISTENER_SCAN1 localhost CDB$ROOT"),
    ],
)
def test_a_name_is_replaced_only_where_it_is_the_name(text: str, replaced: str) -> None:
    assert text_with(text) == replaced


@pytest.mark.parametrize(
    ("text", "original"),
    [
        ("rac1.corp.acme.example", "corp.acme"),
        ("rac1.corp.acme.example and db7.acme.example, lab3.corp.acme.example:22", "db7"),
        ("rac1.corp.acme.example and db7.acme.example, lab3.corp.acme.example:22", "lab3"),
        ("HOST=rac1.corp.acme.com:22, and db7.acme.com", "acme"),
        ("HOST=rac1.corp.acme.com:22, and db7.acme.com", "db7"),
        ("rac1.corp.acme.co.uk; www2.acme.co.uk", "acme"),
        ("bob-rac1@rac1.corp.acme.example", "bob"),
        ("search corp.acme.example", "acme"),
        ("/home/zaphod/.ssh/known_hosts and zaphod@10.1.1.1", "zaphod"),
        ("uid=1001(zaphod) gid=1001(zaphods)", "zaphod"),
        ("ora_pmon_HRDB1", "hrdb"),
        ("ora_vktm_HRDB1", "hrdb"),
        ("ora_scmn_HRDB1", "hrdb"),
        ("ora.hrdb.payslips.svc", "payslips"),
        ("srvctl status database -d hrdb", "hrdb"),
        ("(ADDRESS=(PROTOCOL=TCP)(HOST=hrhost9)(PORT=1521))", "hrhost9"),
        ("(CONNECT_DATA=(SID=HRSID))", "hrsid"),
        ("lldp.eth1.chassis.name=core-sw-north", "core-sw-north"),
        ("Database unique name: hrdb_fra", "hrdb_fra"),
        ("Domain: corp.acme.example", "acme"),
        ("Database instances: hrdb_a1,payslips_a2", "hrdb_a1"),
        ("Database instances: hrdb_a1,payslips_a2", "payslips_a2"),
        ("SCAN name: hr-scan.acme.example, Network: 1", "hr-scan"),
        ('Service "payroll.acme.example" has 2 instance(s).', "payroll"),
        ('  Instance "hrdb_a1", status READY, has 1 handler(s) for this service...', "hrdb_a1"),
        ("rac1%2ecorp http://rac1:80 &quot;rac1&quot; \\u0022rac1\\u0022", "rac1"),
    ],
)
def test_names_in_well_known_outputs_are_replaced(text: str, original: str) -> None:
    assert original not in text_with(text).lower()


def test_names_in_proposed_commands_go_and_placeholders_stay() -> None:
    proposed = NotAsked(
        "No database connection is set; zapdb1 runs here.",
        (
            "racwire check --connect SCAN:1521/zapdb_fra.heart.example --user RACWIRE",
            "racwire check --connect SCAN:1521/SERVICE --user RACWIRE",
            "ORACLE_HOME=/u01/db ORACLE_SID=zapdb1 racwire check --os-auth --sysdba",
        ),
    )
    text = "\n".join((proposed.reason, *proposed.commands))

    replaced = text_with(text, report_of(asked(2, database=proposed)))

    assert not re.search("zapdb|heart", replaced)
    assert "--connect SCAN:1521/SERVICE --user RACWIRE" in replaced


def test_names_with_special_characters_are_replaced_in_html_json_and_urls() -> None:
    who = "Zoë O'Neil & <Sons>"
    report = msgspec.structs.replace(report_of(asked(2)), settings={"waivers": [{"by": who}]})
    forms = [who, html.escape(who), json.dumps(who), quote(who, safe="")]

    replaced = text_with("\n".join(forms), report)

    assert replaced.splitlines() == ["person_a", "person_a", '"person_a"', "person_a"]


def test_the_user_and_the_host_of_racwire_are_replaced() -> None:
    identity = Identity(("root", "zaphod"), "/export/zaphod", "beeblebox.heart.example")

    replaced = text_with("ssh zaphod@beeblebox in /export/zaphod of beeblebox.heart.example", identity=identity)

    assert not re.search("zaphod|beeblebox|heart", replaced)
    assert re.fullmatch(r"ssh user_a@(host_\w) in /export/user_a of \1\.domain_a", replaced)


def test_an_interface_keeps_its_name_except_for_names_in_it() -> None:
    data = msgspec.json.encode(asked(2)).replace(b"eth2", b"prodracp2")
    base = report_of(msgspec.json.decode(data, type=Cluster))

    report = Redactor(Pseudonyms()).report(base)

    assert [i.name for i in report.cluster.read_nodes()[0].interfaces] == ["eth0", "eth1", "cluster_ap2"]
    assert report_of(report.cluster).findings == report.findings


def test_reasons_of_unknown_facts_are_redacted_too() -> None:
    reason = "GV$DLM_MISC could not be read as AUDITOR_KIM on rac2 (10.20.0.2)."
    base = msgspec.structs.replace(cluster(2), database=database(2, user="AUDITOR_KIM", parameters=Unknown(reason)))

    redacted = Redactor(Pseudonyms()).report(report_of(base)).cluster.database

    assert isinstance(redacted, Database)
    assert isinstance(redacted.parameters, Unknown)
    assert re.fullmatch(
        r"GV\$DLM_MISC could not be read as USER_A on host_b \(24\d\.\d+\.\d+\.2\)\.", redacted.parameters.reason
    )


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        (MatchScope.ANYWHERE, "prodrac rac1 db01 leaf-7"),
        (MatchScope.NOT_NEXT_TO_LETTER, "prod acme inter"),
        (MatchScope.WHOLE_WORD, "up node eth1 bond0.200 r1"),
    ],
)
def test_a_name_is_searched_where_no_other_word_is_damaged(scope: MatchScope, names: str) -> None:
    assert [match_scope_of(name) for name in names.split()] == [scope] * len(names.split())


@pytest.mark.parametrize(
    ("name", "derived"),
    [("rac1-vip", True), ("prod2", True), ("prodrac-scan", True), ("rac12", False), ("prod_payroll", False)],
)
def test_only_common_prefixes_and_suffixes_derive_a_name_from_another(name: str, *, derived: bool) -> None:
    assert is_derived(name, {"rac1", "prod", "prodrac"}) is derived


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("rac-scan:1521/prod", {("host", "rac-scan"), ("service", "prod")}),
        ("//rac-scan.acme.example/prod:dedicated/prod1", {
            ("host", "rac-scan.acme.example"), ("service", "prod"), ("instance", "prod1"),
        }),
        ("tcps://h1,h2:1522/prod?wallet_location=/w", {("host", "h1"), ("host", "h2"), ("service", "prod")}),
        ("PRODALIAS", {("service", "PRODALIAS")}),
        ("h1:1521", {("host", "h1")}),
        ("(DESCRIPTION=(ADDRESS=(HOST = h1))(DATA=(service_name=prod)))", {("host", "h1"), ("service", "prod")}),
        ("", set()),
    ],
)  # fmt: skip
def test_names_in_a_connect_string_are_replaced(text: str, names: set[tuple[str, str]]) -> None:
    assert {found for found in names_in_connect_string(text) if found[1]} == names


@pytest.mark.parametrize("name", ["app01", "log1", "oracle1", "inventory", "grid2", "oracle", "wallet"])
def test_a_host_is_replaced_even_if_a_common_directory_or_user_has_its_name(name: str) -> None:
    report = Redactor(Pseudonyms()).report(of_nodes(name, "zulu2"))

    assert report.cluster.read_nodes()[0].name == "host_a"
    assert report.journal[0].text.splitlines()[0].startswith("host_a HOST_A host_")


@pytest.mark.parametrize("name", ["inventory", "app", "log1"])
def test_a_database_is_replaced_even_if_a_common_directory_has_its_name(name: str) -> None:
    base = msgspec.structs.replace(asked(2), database=database(2, name=name))

    replaced = text_with(f"ora.{name}.db {name.upper()}_DATA ora_pmon_{name}_1 /u01/oraInventory", report_of(base))

    assert replaced == "ora.base_a.db BASE_A_DATA ora_pmon_base_a_1 /u01/oraInventory"


@pytest.mark.parametrize(
    ("kind", "name", "anyones"),
    [
        ("user", "oracle", True), ("user", "oracle1", False), ("user", "inventory", False),
        ("host", "localhost", True), ("host", "asm", False), ("switch", "localhost", True),
        ("instance", "+ASM1", True), ("instance", "log1", False), ("database", "_mgmtdb", True),
        ("listener", "LISTENER_SCAN3", True), ("directory", "dbhome_4", True), ("directory", "payroll", False),
        ("label", "oracle", False),
    ],
)  # fmt: skip
def test_a_name_is_well_known_only_as_a_name_of_its_kind(kind: str, name: str, *, anyones: bool) -> None:
    assert is_well_known(kind, name) is anyones


LONG = {
    "a label": lambda n: "." + "A" * n,
    "letters": lambda n: "A" * n,
    "resources": lambda n: "ora.a." * (n // 6),
    "users": lambda n: "uid=1(" * (n // 6),
    "a switch": lambda n: "chassis.name=a" + " " * n + "b",
    "colons": lambda n: "/" + ":" * n,
    "a home": lambda n: "/home/" + "1" * n + "x",
    "numbers": lambda n: "1.-1_" * (n // 5),
    "digits": lambda n: "0x" + "F" * n,
    "a long name": lambda n: f"/home/{'A' * n} {'A' * (n - 1)}B",
}


@pytest.mark.parametrize("made", LONG.values(), ids=LONG)
def test_a_text_four_times_as_long_takes_about_four_times_as_long(made: Callable[[int], str]) -> None:
    report = report_of(asked(2))

    def spent(length: int) -> float:
        started = time.process_time()
        text_with(made(length), report)
        return time.process_time() - started

    short = max(spent(5_000), 0.02)
    assert spent(20_000) < 8 * short


def test_a_name_with_many_digits_is_compared_fast() -> None:
    assert not is_derived(f"rac{'1' * 5000}x", {"rac"})
    assert not is_derived(f"rac{'-1' * 5000}x", {"rac"})


def test_plain_sentences_contain_no_names() -> None:
    assert (
        list(names_in_text("Jumbo frames vanish on eth2 between two nodes; the domain of the search is unknown.")) == []
    )


def test_every_table_of_well_known_names_has_a_reason() -> None:
    for kind, (names, reason) in WELL_KNOWN_NAMES.items():
        assert names, kind
        assert reason.endswith("."), kind
        assert names == {name.lower() for name in names}
    assert all(word == word.lower() for word in VOCABULARY)


def test_more_names_than_pseudonyms_are_refused_in_a_sentence() -> None:
    pseudonyms = Pseudonyms()
    pseudonyms.avoid(["host", "machine", "computer", "name", "thing", "xx", "yy", "zz", "qq"])

    with pytest.raises(RedactionError, match="too many names"):
        pseudonyms.name("host", "rac1")


def test_the_services_of_a_load_get_pseudonyms_and_sys_users_does_not() -> None:
    services = tuple(ServiceActivity(1, name, 5_000_000, 1_000_000) for name in ("zebrapay", "SYS$USERS"))
    facts = asked(2, activity=msgspec.structs.replace(activity(2), services=services))
    replaced = Redactor(Pseudonyms(), None).report(report_of(facts))
    text = to_json(replaced).decode()
    assert "zebrapay" not in text
    assert "SYS$USERS" in text


def test_each_field_with_names_exists() -> None:
    assert not [(kind, name) for kind, fields in NAMES.items() for name in fields if name not in kind.__struct_fields__]
