"""The `racwire` command, and `python -m racwire`: loads racwire's packages from beside this file.

Other distributions have packages named `checks` and `tui`, and a directory of PYTHONPATH can: racwire takes its own,
and leaves `sys.path` as it is. This module imports nothing of racwire before `main`, so that Ctrl-C is handled during
all other imports.
"""

import sys


def main() -> int:
    """Run the command and return its exit code."""
    try:
        import gc

        # Loaded modules stay in memory: searching them for garbage delays the first output.
        gc.disable()
        if not (_load("checks", "__all__") and _load("tui", "__version__")):
            return 3
        from tui.cli import main

        return main.main()
    except KeyboardInterrupt:
        return 130


def _load(name: str, its_own: str) -> bool:
    """Load a package from beside this file; return whether it is racwire's, which has `its_own`."""
    from importlib.util import module_from_spec, spec_from_file_location

    directory = f"{__file__.rpartition('/')[0] or '.'}/{name}"
    spec = spec_from_file_location(name, f"{directory}/__init__.py", submodule_search_locations=[directory])
    try:
        if spec is None or spec.loader is None:
            raise ImportError
        sys.modules[name] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
        if hasattr(module, its_own):
            return True
    except Exception as error:
        if isinstance(error, MemoryError):
            raise
    sys.stderr.write(
        f"racwire: {directory} is not racwire's, or incomplete: another distribution was installed over it. Install "
        "racwire into an environment of its own, as pipx does.\n"
    )
    return False


if __name__ == "__main__":
    sys.exit(main())
