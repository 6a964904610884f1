"""A change as it is worked on: open it, gather evidence, verify, write to the journal. What does I/O is here."""
