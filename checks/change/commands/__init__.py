"""Commands for people, made from data: each line for a root shell of plain POSIX sh, each safe to be given again.

racwire runs none of them. Every word that comes from a cluster is quoted.

    running.py   the MTU that the kernel has now
    keeping.py   the MTU after the next boot, for each keeper; keepers.py: one function a keeper
    stack.py     databases and Clusterware, down and up
    saving.py    what is saved before
    restoring.py a restore point of each database, and its end
    awr.py       Oracle's own report of the load
    recording.py racwire's own recordings and their comparison
"""
