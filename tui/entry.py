"""The entry point of the `racwire` command. It imports nothing of racwire, so that Ctrl-C is handled during all other
imports."""


def main() -> int:
    """Run the command and return its exit code."""
    try:
        import gc

        # Loaded modules stay in memory: searching them for garbage delays the first output.
        gc.disable()
        from tui.cli import main

        return main.main()
    except KeyboardInterrupt:
        return 130
