"""The settings file: the message for each mistake, and the correctness of the template."""

import json
import tomllib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.settings import Settings
from checks.run.settings_file import SettingsError, load_settings, parse_settings, template, toml
from checks.run.settings_values import as_plain


def test_the_template_has_the_defaults():
    assert parse_settings(template(), "template") == Settings()


def test_every_setting_is_in_the_template_with_its_description():
    lines = template().splitlines()
    for number, line in enumerate(lines):
        if " = " in line and not line.startswith("#"):
            assert lines[number - 1].startswith("# "), line


def test_values_are_read_and_the_rest_are_defaults():
    settings = parse_settings('[probe]\npackets = 50\n[cluster]\npeers = ["rac2"]\n', "s.toml")
    assert settings.probe.packets == 50
    assert settings.cluster.peers == ("rac2",)
    assert settings.ssh == Settings().ssh


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[prob]\n", "s.toml line 1: 'prob' is not known; did you mean 'probe'?"),
        ("\n\n[probe]\npackts = 5\n", "s.toml line 4: 'packts' is not known; did you mean 'packets'?"),
        ("[probe]\npackets = 1\n", "s.toml line 2: 'packets' must be a whole number >= 3."),
        ("[probe]\npackets = 'x'\n", "s.toml line 2: 'packets' must be a whole number, got text."),
        ("probe = 3\n", "s.toml line 1: 'probe' is a table of settings; write [probe] above its settings."),
        ("[cluster]\npeers = 'rac2'\n", "s.toml line 2: 'peers' must be a list, got text."),
        ("[ssh]\nconnect_timeout_s = nan\n", "s.toml line 2: 'connect_timeout_s' must be a number > 0.0."),
        ('[ssh]\nuser = "a\\u0000"\n', "s.toml line 2: 'user': 'a\\x00' contains control characters."),
    ],
)
def test_an_error_is_reported_with_its_line_and_a_suggestion(text, sentence):
    with pytest.raises(SettingsError) as error:
        parse_settings(text, "s.toml")
    assert str(error.value) == sentence


@pytest.mark.parametrize("text", ["x =", "[[", "\x00", "a = 1\na = 2", "x = " + "[" * 100_000, "x = " + "9" * 5_000])
def test_invalid_toml_is_one_sentence(text):
    with pytest.raises(SettingsError, match="is not valid TOML"):
        parse_settings(text, "s.toml")


def test_the_named_file_must_exist_but_the_default_file_need_not(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_settings(None, {}) == Settings()
    with pytest.raises(SettingsError, match="does not exist"):
        load_settings(str(tmp_path / "nowhere.toml"), {})


def test_the_environment_names_a_file_and_the_command_line_overrides_it(tmp_path):
    for name, packets in (("env", 30), ("line", 40)):
        (tmp_path / name).write_text(f"[probe]\npackets = {packets}\n")
    environ = {"RACWIRE_SETTINGS": str(tmp_path / "env")}
    assert load_settings(None, environ).probe.packets == 30
    assert load_settings(str(tmp_path / "line"), environ).probe.packets == 40


def test_a_directory_or_undecodable_bytes_are_one_sentence(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path, tmp_path / "binary"):
        with pytest.raises(SettingsError, match="could not be read"):
            load_settings(str(path), {})


@pytest.mark.parametrize(
    ("network", "mistake"),
    [
        ("", "is not a subnet"),
        ("foo", "is not a subnet"),
        ("300.1.1.0/24", "is not a subnet"),
        ("192.168.10.5/24", "is an address within a subnet; the subnet is 192.168.10.0/24."),
        ("0.0.0.0/0", "includes every network"),
        ("127.0.0.0/8", "is not a network between nodes"),
        ("169.254.0.0/16", "is not a network between nodes"),
    ],
)
def test_an_invalid_private_network_is_refused_before_any_check(network, mistake):
    with pytest.raises(SettingsError, match=mistake):
        parse_settings(f'[cluster]\nnetworks = ["{network}"]\n', "s.toml")


@pytest.mark.parametrize("peer", ["", " ", "-oProxyCommand=x", "a b", "$(x)", "a;b", "a\\u001b[2J", "%h", "x" * 300])
def test_an_invalid_host_name_is_never_passed_to_ssh(peer):
    with pytest.raises(SettingsError, match="is not a host name"):
        parse_settings(f'[cluster]\npeers = ["{peer}"]\n', "s.toml")


@pytest.mark.parametrize("peer", ["ann:SECRET@rac2", "ssh://ann:SECRET@rac2:22", "ann:SE CRET@rac2", "a:SECRET@b@rac2"])
def test_a_password_for_a_peer_is_refused_and_not_repeated(peer):
    with pytest.raises(SettingsError, match="one seems to contain a password; write only user and host") as error:
        parse_settings(f'[cluster]\npeers = ["{peer}"]\n', "s.toml")
    assert "SECRET" not in str(error.value)


def test_peers_are_accepted_in_every_form_that_ssh_accepts():
    peers = ("rac2", "grid@rac2.example.com", "ssh://rac2:2222", "10.0.0.2", "fd00::2")
    assert parse_settings(f"[cluster]\npeers = {list(peers)}\n", "s.toml").cluster.peers == peers


def test_an_impossible_default_file_counts_as_missing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert load_settings(None, {}) == Settings()


def test_a_byte_order_mark_is_skipped_and_an_endless_file_refused(tmp_path):
    (tmp_path / "bom").write_bytes(b"\xef\xbb\xbf[probe]\npackets = 30\n")
    assert load_settings(str(tmp_path / "bom"), {}).probe.packets == 30
    with pytest.raises(SettingsError, match="is longer than"):
        load_settings("/dev/zero", {})


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ('[ssh]\nuser = "fine"\n[database]\nconnect = "x"\nuser = "a\\u0000"\n', 5, "user"),
        ('[database]\nuser = "fine"\n[ssh]\nuser = "a\\u0000"\n', 4, "user"),
        ("[database]\nconnect_timeout_s = 1\n[ssh]\nconnect_timeout_s = 0\n", 4, "connect_timeout_s"),
        ("[ssh]\nconnect_timeout_s = 1\n[database]\nconnect_timeout_s = 0\n", 4, "connect_timeout_s"),
        ('[ssh]\nuser = "a"\n[ database ]\nusr = "b"\n', 4, "usr"),
        ('ssh.user = "fine"\ndatabase.user = "a/b"\n', 2, "user"),
        ('ssh = {user = "fine"}\ndatabase = {user = "a/b"}\n', 2, "user"),
    ],
)
def test_a_setting_name_of_two_sections_is_found_in_the_right_one(text, line, name):
    with pytest.raises(SettingsError, match=rf"^s\.toml line {line}: '{name}'"):
        parse_settings(text, "s.toml")


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ('connect = "scott/tiger@rac-scan/prod"', "it seems to contain a user or a password"),
        ('connect = "scott/tiger@"', "it seems to contain a user or a password"),
        ('connect = "(DESCRIPTION=(PASSWORD=tiger))"', "it seems to contain a user or a password"),
        ('connect = "h/p?pyo.password=tiger"', "it seems to contain a user or a password"),
        ('user = "scott/tiger"', "it seems to contain a password"),
    ],
)
def test_a_password_in_a_setting_is_refused_and_not_repeated(setting, what):
    with pytest.raises(SettingsError, match=what) as error:
        parse_settings(f"[database]\n{setting}\n", "s.toml")
    assert "tiger" not in str(error.value)
    assert "$RACWIRE_DB_PASSWORD" in str(error.value)


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ('connect = "a\\u001b[2J"', "it contains control characters"),
        ('connect = " prod"', "it contains control characters or surrounding blanks"),
        ('user = "sys"', "SYS can only log in as SYSDBA: also set sysdba"),
        ('connect = "prod"\nos_authentication = true', "leave connect empty"),
        ('oracle_sid = "a/b"', "is not the name of an instance"),
        ('wallet = "a\\u0007"', "contains control characters"),
        ('password = "x"', "is not known; did you mean 'password_file'"),
        ("sysdba = 1", "must be true or false"),
    ],
)
def test_an_impossible_database_address_is_refused(setting, what):
    with pytest.raises(SettingsError, match=what):
        parse_settings(f"[database]\n{setting}\n", "s.toml")


@pytest.mark.parametrize(
    "connect",
    [
        "rac-scan:1521/prod",
        "//rac-scan/prod:dedicated/prod1",
        "tcps://h:2484/p?wallet_location=/w",
        "PROD_RW.example.com",
        "[fd00::1]:1521/prod",
        "(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=h)(PORT=1521))(CONNECT_DATA=(SERVICE_NAME=p)))",
    ],
)
def test_every_form_of_a_database_address_is_accepted(connect):
    assert parse_settings(f'[database]\nconnect = "{connect}"\n', "s.toml").database.connect == connect


# --- waivers ----------------------------------------------------------------------------------------------------------

WAIVER = """\
[[waivers]]
code = "IC-BOOT-002"
subject = "eth2 rac1"
reason = "fixed in January"
by = "Ann Lee"
expires = 2027-01-31
"""


@pytest.fixture
def today(monkeypatch):
    """20 November 2026, whatever the clock says."""

    class Day(date):
        @classmethod
        def today(cls):
            return cls(2026, 11, 20)

    monkeypatch.setattr("checks.run.settings_values.date", Day)


@pytest.mark.usefixtures("today")
def test_any_number_of_waivers_is_accepted():
    other = WAIVER.replace("rac1", "rac2") + 'status = "FAIL"\nextent = 0.5\nnodes = ["rac2"]\n'
    first, second = parse_settings(f"[probe]\npackets = 30\n{WAIVER}\n{other}", "s.toml").waivers
    assert (first.code, first.subject, first.by, first.expires) == (
        "IC-BOOT-002",
        "eth2 rac1",
        "Ann Lee",
        date(2027, 1, 31),
    )
    assert (first.status, first.extent, first.nodes) == ("WARN", None, ())
    assert (second.status, second.extent, second.nodes) == ("FAIL", 0.5, ("rac2",))
    as_text = WAIVER.replace("2027-01-31", '"2027-01-31"')
    assert parse_settings(as_text, "s.toml").waivers == (first,)


@pytest.mark.usefixtures("today")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            WAIVER.replace('by = "Ann Lee"\n', ""),
            "line 1: [[waivers]] has no 'by': the person who is responsible for the waiver.",
        ),
        (WAIVER + WAIVER.replace("reason", "raeson"), "line 10: 'raeson' is not known; did you mean 'reason'?"),
        (WAIVER.replace("2027-01-31", '"soon"'), "line 6: 'expires' must be a day, such as 2027-01-31."),
        (WAIVER.replace("2027-01-31", "2027-01-31T10:00:00"), "line 6: 'expires' must be a day, such as 2027-01-31."),
        (
            WAIVER.replace("2027", "2028"),
            "line 6: 'expires': 2028-01-31 is over 366 days ahead; choose an earlier day, and review the waiver then.",
        ),
        (WAIVER + 'status = "INFO"\n', "line 7: 'status' must be WARN, FAIL or UNKNOWN."),
        (WAIVER + "extent = nan\n", "line 7: 'extent': it must be a number, 0 or more."),
        (WAIVER + "extent = 'much'\n", "line 7: 'extent' must be a number, got text."),
        (
            WAIVER.replace("IC-BOOT-002", "boot-mtu"),
            "line 2: 'code': 'boot-mtu' is not the code of a finding; write it as IC-PATH-003.",
        ),
        (
            WAIVER.replace("fixed in January", " "),
            "line 4: 'reason': it is empty or contains control characters; write a short text.",
        ),
        (
            WAIVER + WAIVER,
            "line 9: 'subject': IC-BOOT-002 of 'eth2 rac1' is waived twice; remove one of the two.",
        ),
        ("[waivers]\ncode = 1\n", "line 1: 'waivers' is a table of settings; write [[waivers]] above its settings."),
        ("[[probe]]\npackets = 30\n", "line 1: 'probe' is a table of settings; write [probe] above its settings."),
        ("waivers = 3\n", "line 1: 'waivers' is a table of settings; write [[waivers]] above its settings."),
    ],
)
def test_an_error_in_a_waiver_is_reported_with_its_line(text, sentence):
    with pytest.raises(SettingsError) as error:
        parse_settings(text, "s.toml")
    assert str(error.value) == f"s.toml {sentence}"


@pytest.mark.usefixtures("today")
def test_an_expired_waiver_is_not_an_error():
    assert parse_settings(WAIVER.replace("2027-01-31", "2020-01-31"), "s.toml").waivers


@pytest.mark.usefixtures("today")
def test_the_waiver_of_the_template_is_valid_once_uncommented():
    _, _, example = template().partition("# [[waivers]]")
    lines = [line.removeprefix("# ") for line in example.splitlines() if " = " in line]
    (waiver,) = parse_settings("\n".join(["[[waivers]]", *lines]), "template").waivers
    assert waiver.expires > date(2026, 11, 20)


def test_settings_as_plain_data_equal_their_json():
    settings = parse_settings(template() + WAIVER.replace("2027", "2025"), "s.toml")
    plain = as_plain(settings)
    assert json.loads(json.dumps(plain)) == plain
    assert plain["waivers"][0]["expires"] == "2025-01-31"


@given(st.text())
def test_every_text_round_trips_through_toml(text):
    assert tomllib.loads(f"a = {toml(text)}\n") == {"a": text}


def test_the_settings_of_all_users_are_below_those_of_the_user(tmp_path, monkeypatch):
    system, own = tmp_path / "system.toml", tmp_path / "racwire" / "settings.toml"
    monkeypatch.setattr("checks.run.settings_file.SYSTEM_PATH", system)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    waiver = '[[waivers]]\ncode = "IC-BOOT-002"\nsubject = "{}"\nreason = "r"\nby = "b"\n'
    waiver += 'expires = 2027-01-31\nstatus = "WARN"\n'
    system.write_text('[database]\nconnect = "a/prod"\nuser = "all"\n' + waiver.format("eth1 rac1"))
    assert load_settings(None, {}).database.user == "all"
    own.parent.mkdir()
    own.write_text('[database]\nuser = "me"\n' + waiver.format("eth2 rac1"))
    both = load_settings(None, {})
    assert (both.database.connect, both.database.user) == ("a/prod", "me")
    assert [one.subject for one in both.waivers] == ["eth1 rac1", "eth2 rac1"]
    alone = load_settings(str(own), {})
    assert (alone.database.connect, alone.database.user) == ("", "me")
    system.write_text("[database]\nusr = 'x'\n")
    with pytest.raises(SettingsError, match=r"system\.toml line 2: 'usr' is not known; did you mean 'user'\?"):
        load_settings(None, {})


def test_a_variable_of_the_environment_overrides_a_setting(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('[cluster]\npeers = ["rac9"]\n[database]\nuser = "me"\n')
    environment = {"RACWIRE_CLUSTER_PEERS": "rac2, rac3", "RACWIRE_SAMPLING_INTERVAL_S": "7", "RACWIRE_SSH_CONFIG": "x"}
    settings = load_settings(str(file), environment)
    assert settings.cluster.peers == ("rac2", "rac3")
    assert (settings.sampling.interval_s, settings.database.user) == (7.0, "me")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("RACWIRE_SAMPLING_INTERVAL_S", "soon", "RACWIRE_SAMPLING_INTERVAL_S must be a number, got text."),
        (
            "RACWIRE_DATABASE_CONECT",
            "a",
            "RACWIRE_DATABASE_CONECT is no setting; did you mean RACWIRE_DATABASE_CONNECT?",
        ),
        ("RACWIRE_DATABASE_CONNECT", "me/secret@a/b", "RACWIRE_DATABASE_CONNECT: "),
    ],
)
def test_a_mistake_in_a_variable_names_it_and_no_password(variable, value, said):
    with pytest.raises(SettingsError) as refused:
        load_settings(None, {variable: value})
    assert str(refused.value).startswith(said)
    assert "secret" not in str(refused.value)
