"""How a practice node boots from its own files, and the commands of the programs that keep its network.

A node's network is kept by NetworkManager with keyfiles, by the network service with ifcfg files, or by
systemd-networkd. What these write down and what they do with it is done here by small programs that need nothing but
the standard library, and nothing of racwire: what racwire reads in those files, it reads by its own parsers.

    wanted.py      what a file wants of an interface
    keyfile.py  ifcfg.py  networkd.py
                   the files of the three, without I/O but for reading them
    links.py       the interfaces of the node, by `ip`
    boot.py        what happens between the end of all processes and the login prompt
    nmcli.py  ifup.py  networkctl.py  systemctl.py
                   the commands, in the words of the real ones
"""
