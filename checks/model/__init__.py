"""The data model: facts about a cluster, findings, reports and settings. No I/O."""
