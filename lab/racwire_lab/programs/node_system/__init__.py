"""The boot of a practice node from its own files, and the commands of its network services.

NetworkManager with keyfiles, the service `network` with ifcfg files, or systemd-networkd manages a node's network.
Small programs here read and write their files and act as they do. The programs need only the standard library, and
nothing of racwire: racwire reads these files with its own parsers.

    wanted.py      the configuration of an interface in a file
    keyfile.py  ifcfg.py  networkd.py
                   the files of the three services; no I/O except reading them
    links.py       the interfaces of the node, by `ip`
    boot.py        the steps between the end of all processes and the login prompt
    nmcli.py  ifup.py  networkctl.py  systemctl.py
                   the commands, with the output of the real ones
"""
