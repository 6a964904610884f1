"""The lines of Oracle's logs: which messages are read, what each reports, and which lines are one event."""
