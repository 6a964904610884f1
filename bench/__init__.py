"""Measurements of racwire's cost against its budgets: `make bench` prints them as one table.

This is not a test: it reports the figures of this machine and always exits with 0. Each file measures one thing and
returns rows. It makes the things that it needs (a terminal, a practice cluster, a namespace with traffic) and removes
them again.
"""
