"""The entry point of the `racwire` command. It imports nothing, so that Ctrl-C is handled during all other imports."""


def main() -> int:
    """Run the command and return its exit code."""
    try:
        from tui.cli import main

        return main.main()
    except KeyboardInterrupt:
        return 130
