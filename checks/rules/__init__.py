"""Judgements: from a value and its limits to a status. The only place that reads a threshold."""
