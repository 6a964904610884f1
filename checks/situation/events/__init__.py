"""Events of the cluster, from live samples or a recording: what happened, where, for how long, and how bad it was.

`watching.py` takes the items of a feed or of a recording and returns the events that changed. It does no I/O and reads
no clock: the same samples make the same events. `counted_troubles.py` judges counters, `answers.py` sources that stop
answering and clocks that jump, `private_links.py` interfaces; `event_book.py` makes one event of each trouble.
"""
