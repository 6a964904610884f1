"""Results of other tools as runs that can be compared: Swingbench, HammerDB, iperf3, sysstat. Text in, a `Run` out."""
