"""The journal of a change on disk, and its copies on other nodes."""
