"""The situation of a moment: runs, gates, events, steps of a change and samples in; what holds, what is over and what
is not known any more out. Pure functions.

`conditions.py` says which conditions a finding is about, `touching.py` what an event can change, `run_history.py` what
the runs have shown, `condition_standing.py` what makes a statement "was so until", `at_moment.py` puts it together.
"""
