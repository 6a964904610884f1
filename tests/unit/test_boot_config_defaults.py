"""NetworkManager's default MTU for connections that set none (NetworkManager.conf(5), section connection)."""

from checks.model.facts import KeptMtu, NetworkService, Unknown
from checks.sources.nodes.boot_config.network_manager import parse_defaults, with_default
from checks.sources.nodes.sections import ConfigFile, OutputSection, grepped_files
from checks.sources.nodes.setup_text import parse_setup

CONF = "/etc/NetworkManager/NetworkManager.conf"


def kept(mtu: int | None, kind: str = "ethernet") -> KeptMtu:
    return KeptMtu("eth1", NetworkService.NETWORK_MANAGER, mtu=mtu, kind=kind)


def test_a_default_applies_to_connections_without_an_mtu():
    defaults = parse_defaults([ConfigFile(CONF, ("[main]", "[connection]", "ethernet.mtu=9000"))])
    assert defaults == {"ethernet": 9000}
    assert with_default(kept(None), defaults).mtu == 9000
    assert with_default(kept(1500), defaults).mtu == 1500
    assert with_default(kept(None, "infiniband"), defaults).mtu is None


def test_defaults_for_some_devices_or_with_several_values_are_unknown():
    some = ConfigFile(CONF, ("[connection-lan]", "match-device=interface-name:eth1", "ethernet.mtu=9000"))
    two = [ConfigFile(CONF, ("[connection]", f"802-3-ethernet.mtu={mtu}")) for mtu in (9000, 1500)]
    assert isinstance(parse_defaults([some])["ethernet"], Unknown)
    assert isinstance(parse_defaults(two)["ethernet"], Unknown)
    assert parse_defaults([ConfigFile(CONF, ("[main]", "ethernet.mtu=9000", "[connection]", "ethernet.mtu=x"))]) == {}


def test_an_interface_keeps_the_default_at_the_next_boot():
    keyfile = (
        "##racwire-file /etc/NetworkManager/system-connections/eth1.nmconnection\n"
        "[connection]\nid=eth1\nuuid=u1\ntype=ethernet\ninterface-name=eth1"
    )
    texts = {
        "units": "active\ninactive\ninactive\ninactive",
        "devices": "eth1/address:52:54:00:a1:00:01\neth1/type:1",
        "keyfiles": keyfile,
        "connection defaults": f"{CONF}:[connection]\n{CONF}:ethernet.mtu=9000",
        "rules": "",
    }
    assert grepped_files(texts["connection defaults"])[0].path == CONF
    setup = parse_setup("rac1", {name: OutputSection(text) for name, text in texts.items()})
    found = setup.kept_mtu("eth1")
    assert found is not None
    assert found.mtu == 9000
