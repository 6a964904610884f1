"""Where the `racwire` command starts: so little that Ctrl-C finds a handler while the rest is still being loaded."""


def main() -> int:
    """Run the command; returns its exit code."""
    try:
        from tui.cli import main

        return main.main()
    except KeyboardInterrupt:
        return 130
