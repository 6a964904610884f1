"""Traffic of the interconnect, live and recorded: samples, rates, recordings, and the comparison of two recordings.

A sample (`samples.py`) has differences of counters over a stated time, never totals and never rates. A time without a
sample is a `Gap` with its reason. `feed.py` takes samples, `rates.py` computes the displayed rates, `timeline.py` holds
the newest samples in memory, and `recording.py` holds all samples in a file.
"""
