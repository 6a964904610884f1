"""A run of the checks: gather each needed fact once, judge it, stream events; or judge saved facts again."""
