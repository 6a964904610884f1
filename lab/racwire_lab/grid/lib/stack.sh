# The running parts of a practice node's Clusterware: check, start and end them. Sourced by the tools of a Grid home.
#
# A service is running while its daemon lives: the daemon holds the lock nodes/NODE/stack/SERVICE.lock from its
# start to its end. So every node, and the programs of the database, see the state of every other node, also after a
# kill -9 or a reboot, and no stale file can contradict it.
#
# Sets: grid (the Grid home), home (the node's directory), node, lab, cluster, stack, autostart.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
grid=${0%/*}/..
case $grid in /*) ;; *) grid=$PWD/$grid ;; esac
grid=$(cd -- "$grid" && pwd)
home=${grid%/grid} lab=${grid%/nodes/*}
node=${home##*/} cluster=$lab/cluster stack=$home/stack
# The file itself and not /etc/oracle, where the node sees it: a machine may have an /etc/oracle of its own.
autostart=$home/oracle/scls_scr/$node/root/ohasdstr

case ${0##*/} in
crsctl | olsnodes | oifcfg | srvctl) read -r wait <"$home/tools_wait" && sleep "$wait" ;;
esac 2>/dev/null

running() { # SERVICE [NODE]: whether ohasd, cssd, crsd, evmd or the instance runs, on this node or another one
    [ -e "$lab/nodes/${2:-$node}/stack/$1.lock" ] &&
        ! flock --nonblock --shared 9 9<"$lab/nodes/${2:-$node}/stack/$1.lock"
}

ended() { # SERVICE: wait until it has ended; fail after a timeout
    flock --timeout 5 --shared 9 9<"$stack/$1.lock"
}

powered() { # NODE: whether the node is switched on
    awk -v node="$1" '$1 == node && $4 == "Active" { found = 1 } END { exit !found }' "$cluster/members"
}

database_resource() { # print the resource of the database
    printf 'ora.%s.db\n' "$(tr '[:upper:]' '[:lower:]' <"$cluster/db_unique_name")"
}

nodes() { # print the names of all nodes, in the order of their numbers
    awk '{ print $1 }' "$cluster/members"
}

daemons() { # lower|upper: print the daemons of Oracle High Availability Services, or those that run in a cluster only
    setsid sh "$grid/lib/daemons.sh" "$1"
}

end_daemons() { # [upper]: end all daemons of this Grid home, or only those that run in a cluster
    # Only processes whose program is in this Grid home; a node sees no processes of other nodes.
    ls -l /proc/[0-9]*/exe 2>/dev/null | awk -v bin="$grid/bin/" -v part="${1:-all}" '
        index($NF, bin) != 1 { next }
        { program = substr($NF, length(bin) + 1) }
        part == "upper" && program !~ /^(ocssd.bin|octssd.bin|evmd.bin|crsd.bin|oraagent.bin|asm_pmon_.*)$/ { next }
        { split($(NF - 2), path, "/"); print path[3] }
    ' | while read -r pid; do kill "$pid" 2>/dev/null; done
}

has_haip() { # whether the node uses HAIP; engineered systems do not
    [ -s "$stack/haips" ]
}

add_haips() { # add to each private NIC the link-local address that Clusterware selected
    ip -o -4 address show | awk '
        NR == FNR { haip[$1] = $2; next }
        $4 in haip { print "address replace " haip[$4] " brd + dev " $2 " label " $2 ":1" }
    ' "$stack/haips" - | ip -batch -
}

remove_haips() {
    ip -o -4 address show | awk '
        NR == FNR { haip[$2]; next }
        $4 in haip { print "address delete " $4 " dev " $2 }
    ' "$stack/haips" - | ip -batch -
}
