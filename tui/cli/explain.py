"""`racwire explain WHAT`, in the style of oerr: explain a check, a gate of a change, the code of a finding, a cause, or
how to configure a kind of switch for jumbo frames, or what is known of a cloud or a virtual NIC."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from checks.model.wording import nearest
from tui.cli.completion_page import ABOUT_COMPLETION, COMPLETION, completion_page
from tui.cli.errors import UsageError
from tui.cli.options import add_settings_option
from tui.cli.pager import print_paged
from tui.text.glossary import terms
from tui.text.sanitize import sanitize_lines

if TYPE_CHECKING:
    from checks.model.check import Check, Kind
    from checks.model.report import Report
    from checks.model.vendors import Hypervisor, Kinds, SwitchKind
    from checks.predict.platforms import Platform
    from checks.predict.topics import ExplainedTopic
    from checks.run.check_discovery import Checks

_SWITCHES = "switches"
_CAUSES = "causes"
_GLOSSARY = "glossary"
_ABOUT_CAUSES = "Causes of lost blocks, and how to examine each"
_ABOUT_SWITCHES = "Kinds of switch and hypervisor, with their commands for jumbo frames"
_ABOUT_GLOSSARY = "Terms, each with its meaning"
_COMPARES = {
    "yes": "it compares the MTU of its two switches, and suspends member ports while they differ",
    "no": "it does not compare the MTU of its switches",
    "unknown": "whether it compares the MTU of its two switches is not known; the plan of a change asks",
}
_RELOADED = "required; the plan of a change puts it after the stop of Clusterware on all nodes"


_EPILOG = """\
examples:
  racwire explain                list all checks and codes
  racwire explain df-ping        explain a check
  racwire explain IC-PATH-003    explain the code of a finding
  racwire explain causes         list the causes of lost blocks
  racwire explain CAUSE-08       explain a cause
  racwire explain causes --in night.racwire
                                 what became of each cause in a report
  racwire explain switches       list the kinds of switch and hypervisor
  racwire explain reassembly     explain a term; glossary lists all
  racwire explain jumbo          what jumbo frames change; also frames, sdu, dpp
  racwire explain azure          what is known of a cloud or a virtual NIC; also
                                 oci, aws, gcp, exadata, vmxnet3, hv_netvsc, kvm

exit codes: 0 explained; 64 there is no such check, code or kind of switch, or
the report could not be read."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Explain a check, the code of a finding, or how to configure a kind of switch for\njumbo frames."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "--in", dest="report", metavar="REPORT", help="a saved file or JSON report: what became of each cause in it"
    )
    add_settings_option(parser)
    parser.add_argument(
        "what", nargs="?", metavar="ID|CODE|KIND", help="a check, a code or a kind of switch (default: list them)"
    )


def run(args: argparse.Namespace) -> int:
    """Print the page of a check, a code or a kind of switch, or a list. Raises UsageError for an unknown name."""
    print_paged("\n".join(_lines(args)) + "\n")
    return 0


def explained(what: str) -> list[str]:
    """Return the page of a check, a code, a cause or a kind of switch. Raises UsageError for an unknown name."""
    return _lines(argparse.Namespace(what=what, report=None))


def _lines(args: argparse.Namespace) -> list[str]:
    """Return the lines of a page, without characters that a terminal would interpret."""
    from checks.diagnosis.catalogue import CATALOGUE
    from checks.predict.platforms import PLATFORMS, platform_named
    from checks.predict.topics import TOPICS
    from tui.cli.explain_causes import cause_page, causes, causes_in, fate_page

    found, kinds = _checks_and_kinds()
    name = args.what
    if args.report is not None and (name is None or (name.lower() != _CAUSES and not _is_cause(name))):
        raise UsageError("--in needs causes or the code of a cause: `racwire explain causes --in REPORT`.")
    report = _report_with_causes(args.report) if args.report is not None else None
    if name is None:
        lines = list(_contents(tuple(found), kinds))
    elif check := found.get(name.lower()):
        lines = list(_check_page(check))
    elif name.upper() in kinds:
        lines = list(_kind_page(*kinds[name.upper()]))
    elif name.lower() == _CAUSES:
        lines = list(causes() if report is None else causes_in(report))
    elif cause := next((each for each in CATALOGUE if each.code == name.upper()), None):
        lines = list(cause_page(cause, kinds))
        lines += fate_page(cause, report) if report is not None else ()
    elif name.lower() == COMPLETION:
        lines = list(completion_page())
    elif name.lower() == _SWITCHES:
        lines = list(_switches(_vendor_kinds(args)))
    elif switch := _vendor_kinds(args).switches.get(name.lower()):
        lines = list(_switch_page(name.lower(), switch))
    elif topic := next((each for each in TOPICS if each.name == name.lower()), None):
        lines = list(_topic_page(topic))
    elif (platform := platform_named(name)) or name.lower() in _vendor_kinds(args).hypervisors:
        lines = list(_platform_page(platform)) if platform else []
        key = platform.name if platform else name.lower()
        if hypervisor := _vendor_kinds(args).hypervisors.get(key):
            lines += ("",) if lines else ()
            lines += _hypervisor_page(key, hypervisor)
    elif name.lower() == _GLOSSARY:
        lines = [line for text in terms().values() for line in (*_term(text), "")]
    elif name.lower() in terms():
        lines = []
    else:
        aliases = (word for one in PLATFORMS for word in one.aliases)
        raise UsageError(_unknown(name, [*explainable(args), *terms(), *aliases, *getattr(args, "all_commands", ())]))
    if meaning := terms().get((name or "").lower()):
        lines = [*_term(meaning), *([""] if lines else []), *lines]
    return [*map(sanitize_lines, lines)]


def explainable(args: argparse.Namespace | None = None) -> dict[str, str]:
    """Return the name of each page with its title: checks, codes, causes, kinds of switch and hypervisor, topics and
    platforms. Raises UsageError where a file of the settings has a mistake."""
    from checks.diagnosis.catalogue import CATALOGUE
    from checks.predict.platforms import PLATFORMS
    from checks.predict.topics import TOPICS

    found, kinds = _checks_and_kinds()
    vendors = _vendor_kinds(args or argparse.Namespace())
    return {
        **{one.name: f"What is known of {one.title}" for one in PLATFORMS},
        **{key: kind.name for kind_of in (vendors.switches, vendors.hypervisors) for key, kind in kind_of.items()},
        **{check.id: check.question for check in found},
        **{code: kind.title for code, (kind, _) in kinds.items()},
        **{cause.code: cause.name for cause in CATALOGUE},
        **{topic.name: topic.title for topic in TOPICS},
        _CAUSES: _ABOUT_CAUSES,
        _SWITCHES: _ABOUT_SWITCHES,
        _GLOSSARY: _ABOUT_GLOSSARY,
        COMPLETION: ABOUT_COMPLETION,
    }


def _checks_and_kinds() -> tuple[Checks, dict[str, tuple[Kind, str]]]:
    """Return all checks and gates, and all codes with what finds each."""
    from checks.change.gates import documented
    from checks.change.plan import codes
    from checks.run.check_discovery import Checks, discover
    from checks.run.engine_findings import KINDS

    found = Checks((*discover().every, *documented()))
    kinds = {code: (kind, check.id) for code, (kind, check) in found.kinds().items()}
    kinds |= {kind.code: (kind, "any check") for kind in KINDS}
    kinds |= {kind.code: (kind, "racwire change") for kind in codes.KINDS}
    return found, kinds


def _contents(checks: tuple[Check, ...], kinds: dict[str, tuple[Kind, str]]) -> Iterator[str]:
    from checks.predict.platforms import PLATFORMS
    from checks.predict.topics import TOPICS

    wide = max(map(len, (*(check.id for check in checks), *kinds))) + 2
    for check in checks:
        yield f"{check.id:<{wide}}{check.question}"
    yield ""
    for code, (kind, _) in kinds.items():
        yield f"{code:<{wide}}{kind.title}"
    yield ""
    yield f"{_CAUSES:<{wide}}{_ABOUT_CAUSES}"
    yield f"{_SWITCHES:<{wide}}{_ABOUT_SWITCHES}"
    yield f"{_GLOSSARY:<{wide}}{_ABOUT_GLOSSARY}"
    yield f"{COMPLETION:<{wide}}{ABOUT_COMPLETION}"
    yield from (f"{topic.name:<{wide}}{topic.title}" for topic in TOPICS)
    yield from (f"{one.name:<{wide}}What is known of {one.title}" for one in PLATFORMS)


def _term(text: str) -> list[str]:
    return textwrap.wrap(text, 78, subsequent_indent="  ")


def _platform_page(platform: Platform) -> Iterator[str]:
    yield f"{platform.name}: what is known of {platform.title}"
    for statement in platform.statements:
        yield ""
        yield from textwrap.wrap(f"{statement.about}: {statement.text}", 78)
        yield from textwrap.wrap(
            f"Source: {statement.source}.", 78, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
        )


def _topic_page(topic: ExplainedTopic) -> Iterator[str]:
    yield f"{topic.name}: {topic.title}"
    for paragraph in topic.paragraphs:
        yield ""
        yield from textwrap.wrap(paragraph, 78)
    if topic.commands:
        yield ""
        yield from (f"  {command}" for command in topic.commands)
    yield ""
    yield from textwrap.wrap(f"Source: {', '.join(topic.sources)}.", 78)


def _unknown(name: str, known: list[str]) -> str:
    similar = nearest(name, known)
    return (
        f"There is no check, code or kind of switch {name!r}"
        + (f"; did you mean {similar}?" if similar else ";")
        + " `racwire explain` lists them."
    )


def _is_cause(name: str) -> bool:
    from checks.diagnosis.catalogue import CATALOGUE

    return any(cause.code == name.upper() for cause in CATALOGUE)


def _report_with_causes(file: str) -> Report:
    """Return a report with the standing of each cause. Raises UsageError where it cannot be read, or has none."""
    from checks.model.shell_command import shell
    from tui.cli.diff import saved_report

    report = saved_report(file)
    if not report.diagnosis.hypotheses:
        made_by = f"racwire {report.racwire_version}"
        check = shell("racwire check --from {file}", file=str(file))
        raise UsageError(f"{file} has no diagnosis; {made_by} made it. `{check}` makes one.")
    return report


def _vendor_kinds(args: argparse.Namespace) -> Kinds:
    """The kinds of racwire, and those of the site's settings. Raises UsageError where a file has a mistake."""
    from checks.change.session.vendors_file import VendorsFileError, load_kinds
    from checks.run.settings_file import SettingsError, load_settings

    try:
        return load_kinds(load_settings(getattr(args, "settings", None)).change.switch_kinds)
    except (SettingsError, VendorsFileError) as error:
        raise UsageError(str(error)) from None


def _switches(kinds: Kinds) -> Iterator[str]:
    wide = max(map(len, (*kinds.switches, *kinds.hypervisors))) + 2
    yield from (f"{key:<{wide}}{kind.name}" for key, kind in kinds.switches.items())
    yield ""
    yield "Hypervisors:"
    yield from (f"{key:<{wide}}{kind.name}" for key, kind in kinds.hypervisors.items())
    yield ""
    yield "For the commands of a kind: racwire explain KIND"
    yield "To put them into the plan of a change: racwire change new --switch KIND"
    yield "or --hypervisor KIND"


def _switch_page(key: str, switch: SwitchKind) -> Iterator[str]:
    from checks.model.vendors import PORT, commands_of, showing

    yield f"{key}: commands for jumbo frames on {switch.name}"
    yield ""
    yield "To look at it first:"
    yield from (f"  {line}" for line in showing(switch, (), before=True))
    yield ""
    if switch.pair_look:
        yield f"On both switches of a pair ({switch.pair or 'MLAG'}), before the change:"
        yield from (f"  {line}" for line in switch.filled(switch.pair_look))
        yield ""
    lines = commands_of(switch, ())
    yield f"{switch.place}{f', for each {PORT}' if any(PORT in line for line in lines) else ''}:"
    yield from (f"  {line}" for line in lines)
    yield ""
    if switch.each_channel:
        yield "For a port-channel, in place of the lines for its member ports:"
        yield from (f"  {line}" for line in switch.filled(switch.each_channel))
        yield ""
    yield "To verify:"
    yield from (f"  {line}" for line in showing(switch, ()))
    yield ""
    yield from _remarks_on(switch)
    pair = f" ({switch.pair})" if switch.pair else ""
    yield from textwrap.wrap(f"Pair of switches{pair}: {_COMPARES[switch.pair_compares]}.", 78)
    yield f"Reload: {_RELOADED if switch.reloads else 'not required, except as stated above'}."
    yield from textwrap.wrap(f"Source: {switch.source}.", 78)
    yield ""
    yield "racwire does not run these commands. They are for the network team, who know the"
    yield "other traffic of the switch."


def _hypervisor_page(key: str, hypervisor: Hypervisor) -> Iterator[str]:
    yield f"{key}: commands for jumbo frames on {hypervisor.name}"
    yield ""
    yield f"{hypervisor.place}:"
    for part, lines in (
        ("To look at it first", hypervisor.look or hypervisor.verify),
        ("Uplinks", hypervisor.uplinks),
        ("Port group", hypervisor.port_group),
        ("Virtual switch", hypervisor.virtual_switch),
        ("To keep it", hypervisor.save),
        ("To verify", hypervisor.verify),
    ):
        if lines:
            yield f"{part}:"
            yield from (f"  {line}" for line in hypervisor.filled(lines))
    yield ""
    yield from _remarks_on(hypervisor)
    yield from textwrap.wrap(f"Interrupts running guests: {hypervisor.interrupts}.", 78)
    yield from textwrap.wrap(f"Source: {hypervisor.source}.", 78)
    yield ""
    yield "racwire does not run these commands. They are for the operators of the"
    yield "hypervisor; the plan has a step that is attested for each host."


def _remarks_on(kind: SwitchKind | Hypervisor) -> Iterator[str]:
    for text in (kind.scope, kind.counting, *kind.hints):
        if text:
            yield from textwrap.wrap(text, 78)


def _check_page(check: Check) -> Iterator[str]:
    yield f"{check.id}: {check.question}"
    yield ""
    for paragraph in check.page.split("\n\n"):
        yield from textwrap.wrap(paragraph, 78)
        yield ""
    yield f"Reads: {', '.join((*check.needs, *check.uses))}"
    yield "Findings:"
    for kind in check.kinds:
        yield f"  {kind.code:<16}{kind.title}"


def _kind_page(kind: Kind, check: str) -> Iterator[str]:
    yield f"{kind.code}: {kind.title}"
    yield f"Found by: {check}"
    if kind.why:
        yield ""
        yield from textwrap.wrap(kind.why, 78)
    if kind.sources:
        yield ""
        yield f"Sources: {'; '.join(kind.sources)}"
    yield ""
    yield "Each finding contains its evidence, the expected state and the next steps."
