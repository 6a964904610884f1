"""The kinds of change: each name in a remedy or a page is one that `racwire change new` knows."""

import re
from pathlib import Path

import checks
from checks.change.kinds.descriptions import DESCRIPTIONS
from checks.change.plan.change_plan import ChangeKind
from tui.cli.change.new import REQUESTS

ROOT = Path(checks.__file__).parents[1]
NAMED = re.compile(r"racwire change new ([a-z][a-z-]*)|\bplan_of\(\"([a-z-]+)\"\)")


def test_each_kind_that_is_named_anywhere_is_known():
    known = {kind.name for kind in DESCRIPTIONS}
    files = [*ROOT.glob("checks/**/*.py"), *ROOT.glob("tui/**/*.py"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    named = {name for file in files for found in NAMED.findall(file.read_text()) for name in found if name}
    assert named <= known
    assert {"receive-buffers", "rp-filter"} <= named


def test_each_kind_has_a_request_and_plans_of_its_own():
    assert set(REQUESTS) == {kind.name for kind in DESCRIPTIONS}
    plans = [plan for kind in DESCRIPTIONS for plan in kind.plans]
    assert len(plans) == len(set(plans))
    assert set(plans) <= set(ChangeKind)
