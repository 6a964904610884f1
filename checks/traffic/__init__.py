"""What flows over the interconnect, live and recorded: samples, rates, recordings, and the comparison of two of them.

Samples (`samples.py`) are differences of counters over a stated time, never totals and never rates; a time of which
nothing can be told is a `Gap` with its reason. `feed.py` takes them, `rates.py` turns them into what is shown,
`timeline.py` keeps the newest, `recording.py` all of them in a file.
"""
