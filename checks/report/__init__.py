"""The report: what a run found, as one object, and the forms it is written in."""
