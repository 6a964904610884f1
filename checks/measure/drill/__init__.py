"""A drill: people pull a cable or stop a node, and racwire holds the clock."""
