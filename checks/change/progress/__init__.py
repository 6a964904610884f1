"""What has happened since: the events of a change, the state folded from them, and what the next event may be."""
