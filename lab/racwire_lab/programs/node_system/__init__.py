"""The boot of a practice node from its own files, and the commands of its network services.

A node's network is managed by NetworkManager with keyfiles, by the service `network` with ifcfg files, or by
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
