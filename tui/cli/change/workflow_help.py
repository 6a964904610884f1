"""The help of `racwire change`: the steps of a change, and their commands."""

from __future__ import annotations

import argparse
import sys

ABOUT = """\
Change the private networks in verified steps, or roll the change back.

A gate proves each step on every node before the next step starts. A change of
the MTU is a full outage: nodes with different MTUs lose blocks and evict each
other. One node that differs from all others is stopped alone. racwire changes
nothing: it prints the commands, you run them, and it checks their effect."""

WORKFLOW = """\
the steps of a change:
  racwire change new --to 9000      check the cluster, write the plan
  racwire change next               show the current step and its commands
  racwire change begin              if the step stops something: before it does
  racwire change verify             check the gate of the step, on all nodes
  racwire change attest --by 'A. Lee'   confirm what no check can see, such as
                                    an agreement or a switch; at last, sign off
  racwire change status             show the progress: also after a logout or a
                                    reboot, and from another node
  racwire change report -o change.html  write the report for the change board:
                                    to print, to sign; also .md, .txt, .json
if something fails:
  racwire change rollback           show the rollback; --by NAME --reason TEXT
                                    starts it
  racwire change override --by NAME --reason TEXT    continue although a gate
                                    did not pass; the report lists it
  racwire change abandon --by NAME --reason TEXT    end the change, before
                                    anything was stopped or changed
more:
  racwire change kinds              list other kinds of change
  racwire change new --help         state the switches, pairs and hypervisors
  racwire change next --all         the whole plan; --node rac2: of one node
  racwire change verify --next      then print the next step; also with attest
  racwire change note TEXT          write a note into the journal and the report
  racwire change list               list all changes; --file JOURNAL selects one
  racwire change                    open the console on its Change screen
practise: racwire lab up --mtu 1500 --switch-mtu 1500; then add --lab to each

exit codes: 0 done, or the gate passed; 2 the gate did not pass, or an obstacle
prevents the change; 3 could not tell; 64 usage, or not possible at this step;
130 interrupted, nothing written. Options: racwire change COMMAND --help"""


class WorkflowHelp(argparse.Action):
    """Prints the workflow only: each command below `racwire change` lists its own options."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the help, and end the command."""
        formatter = argparse.RawDescriptionHelpFormatter(parser.prog)
        formatter.add_text(parser.description)
        formatter.add_text(parser.epilog)
        sys.stdout.write(f"{parser.format_usage()}\n{formatter.format_help()}")
        parser.exit()
