"""Programs that are run, each as a process of its own, to be measured or to measure from inside a namespace."""
