"""`racwire explain` of kinds of switch and hypervisor and of platforms, and the options of `change new` about them."""

from pathlib import Path

import pytest

from checks.model.exit_codes import ExitCode
from checks.predict.platforms import PLATFORMS
from tests.unit.test_vendors_file import ACME
from tui.cli.main import main


@pytest.fixture
def racwire(capsys: pytest.CaptureFixture[str]):
    def run(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def settings(tmp_path: Path) -> str:
    """A settings file whose own kinds are in a file next to it."""
    (tmp_path / "kinds.toml").write_text(ACME, encoding="utf-8")
    path = tmp_path / "settings.toml"
    path.write_text(f'[change]\nswitch_kinds = "{tmp_path}/kinds.toml"\n', encoding="utf-8")
    return str(path)


def test_the_list_has_switches_and_hypervisors(racwire):
    _, out, _ = racwire("explain", "switches")
    assert "nexus-9000   " in out
    assert "aos-cx " in out
    switches, hypervisors = out.split("Hypervisors:")
    assert "hyper-v" in hypervisors
    assert "hyper-v" not in switches


def test_the_page_of_a_switch_has_its_pair_and_its_source(racwire):
    _, out, _ = racwire("explain", "nexus-9000")
    text = " ".join(out.split())
    assert "To look at it first: show interface PORT | include MTU On both switches of a pair (vPC)" in text
    assert "before the change: show vpc consistency-parameters interface port-channel NUMBER" in text
    assert "Pair of switches (vPC): it compares the MTU of its two switches, and suspends member ports" in text
    assert "Source: Cisco 118994" in text
    assert "whether it compares the MTU of its two switches is not known" in racwire("explain", "arista")[1].replace(
        "\n", " "
    )


def test_the_page_of_a_hypervisor_has_uplinks_port_group_and_virtual_switch(racwire):
    code, out, _ = racwire("explain", "kvm")
    assert code == ExitCode.PASS
    parts = [out.index(part) for part in ("Uplinks:", "Port group:", "Virtual switch:", "To keep it:", "To verify:")]
    assert parts == sorted(parts)
    assert "Interrupts running guests: unknown." in out


def test_the_kinds_of_the_site_are_explained(racwire, settings: str):
    assert "acme   " in racwire("explain", "switches", "--settings", settings)[1]
    assert "  port PORT mtu 9300" in racwire("explain", "acme", "--settings", settings)[1]
    assert racwire("explain", "acme")[0] == ExitCode.USAGE


def test_a_mistake_in_the_file_of_the_site_is_one_sentence(racwire, settings: str, tmp_path: Path):
    (tmp_path / "kinds.toml").write_text(ACME.replace("9300", "900"), encoding="utf-8")
    sentence = f"{tmp_path}/kinds.toml: [switch.acme] 'mtu' must be a whole number >= 1500."
    for words in (("explain", "acme"), ("change", "new", "--to", "9000")):
        code, _, stderr = racwire(*words, "--settings", settings)
        assert (code, stderr) == (ExitCode.USAGE, f"racwire: {sentence}\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--switch", "xyz"), "--host: racwire does not know the kind of switch xyz. Choose from acme, aci,"),
        (("--hypervisor", "xyz"), "--host: racwire does not know the kind of hypervisor xyz. Choose from vmware,"),
        (("--hypervisor", "none", "--host", "esx1"), "The hypervisor none has no host and no other kind"),
        (("--host", " "), "A stated host has no name"),
    ],
)
def test_what_is_stated_wrongly_is_refused_before_any_check(racwire, settings: str, words, sentence: str):
    code, _, stderr = racwire("change", "new", "--settings", settings, *words)
    assert code == ExitCode.USAGE
    assert sentence in stderr


@pytest.mark.parametrize(
    ("word", "name", "says"),
    [
        ("oci", "oci", "drops the fragments after the first"),
        ("aws", "aws", "carries 9001 bytes"),
        ("azure", "azure", "3900 bytes pass"),
        ("gcp", "gcp", "an MTU of 1460"),
        ("exadata", "exadata", "re0 and re1"),
        ("vmxnet3", "vmxnet3", "9190 from version 6"),
        ("hv_netvsc", "hv_netvsc", "changes what it sends"),
        ("kvm", "kvm", "mcast_querier 0"),
        ("Microsoft Azure", "azure", "3900"),
        ("AMAZON", "aws", "9001"),
        ("google", "gcp", "8896"),
        ("virtio_net", "kvm", "virsh domiflist GUEST"),
    ],
)
def test_a_platform_is_explained_by_its_names_in_any_case(racwire, word: str, name: str, says: str):
    code, out, _ = racwire("explain", word)
    assert code == ExitCode.PASS
    assert out.startswith(f"{name}: what is known of ")
    assert says in " ".join(out.split())
    assert all(len(line) <= 80 for line in out.splitlines() if not line.startswith("  #"))


def test_each_statement_about_a_platform_has_its_source_below_it(racwire):
    for platform in PLATFORMS:
        out = racwire("explain", platform.name)[1]
        assert out.count("  Source: ") == len(platform.statements)
        assert all(statement.source and statement.text.endswith(".") for statement in platform.statements)


def test_the_list_has_the_platforms_and_a_word_that_is_nearly_one_is_proposed(racwire):
    listed = racwire("explain")[1]
    assert all(f"\n{platform.name} " in listed for platform in PLATFORMS)
    assert "did you mean azure?" in racwire("explain", "azur")[2]
    assert racwire("explain", "nutanix")[1].startswith("nutanix: commands for jumbo frames")


def test_a_term_is_explained_before_a_check_of_the_same_name(racwire):
    assert racwire("explain", "arp probe")[1].startswith("ARP probe: a question")
    meaning, _, check = racwire("explain", "reassembly")[1].partition("\n\n")
    assert meaning.startswith("reassembly: the work of the receiving kernel")
    assert check.startswith("reassembly: Can the nodes reassemble")
    assert "\nbond: " in racwire("explain", "glossary")[1]
