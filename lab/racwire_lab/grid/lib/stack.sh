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

registered() { # print the networks in the registry: NAME SUBNET SCOPE ROLES, those of the installation first
    sed 's/^/installed /' "$cluster/getif" | cat - "$cluster/registrations" | awk '
        { key = $2 " " $3 }
        $1 == "delete" { delete line[key]; next }
        !(key in line) { order[++last] = key; place[key] = last }
        { line[key] = $2 "  " $3 "  " $4 "  " $5 }
        END { for (i = 1; i <= last; i++) if (order[i] in line && place[order[i]] == i) print line[order[i]] }
    '
}

in_use() { # print the private networks of this node: NUMBER INTERFACE ADDRESS HAIP own|other|moved
    # A registered network is in use when an interface of the node is up with an address in its subnet. The first node
    # that starts decides which networks have a HAIP, and with that the size of their subnets (MOS 1210883.1). Of
    # Oracle's four HAIPs on three networks, the lab leaves out the fourth. The HAIP of a network that this node lacks
    # is on its first one; a network that the first node lacked has none.
    first=1
    for name in $(nodes); do
        [ "$name" = "$node" ] || ! powered "$name" || ! running cssd "$name" || first=0
    done
    {
        sed 's/^/nic /' "$stack/nics"
        [ "$first" = 1 ] || sed 's/^/slot /' "$cluster/haip_slots" 2>/dev/null
        registered | awk '$4 ~ /cluster_interconnect/ { print "network", $1, $2 }'
        ip -o -4 address show up | awk '{ print "address", $2, $4 }'
    } | awk -v first="$first" -v index_of_node="${node#rac}" -v slots_file="$cluster/haip_slots" '
        function subnet_of(cidr,    halves, octet, left, bits, size, i, text) {
            split(cidr, halves, "/")
            split(halves[1], octet, ".")
            left = halves[2]
            for (i = 1; i <= 4; i++) {
                bits = left > 8 ? 8 : (left < 0 ? 0 : left)
                left -= 8
                size = 2 ^ (8 - bits)
                text = text (i > 1 ? "." : "") (octet[i] - octet[i] % size)
            }
            return text
        }
        $1 == "nic" { number[$2] = $3; own[$2] = $4 }
        $1 == "slot" { slot[++slots] = $2 " " $3; slot_nic[slots] = $2 }
        $1 == "network" { key[++networks] = $2 " " $3; name[networks] = $2; subnet[networks] = $3 }
        $1 == "address" { found[++addresses] = $3; device[addresses] = $2; at[addresses] = subnet_of($3) }
        END {
            for (n = 1; n <= networks; n++) {
                for (a = 1; a <= addresses; a++) {
                    if (at[a] != subnet[n]) continue
                    if (!(n in nic) || device[a] == name[n]) { nic[n] = device[a]; address[n] = found[a] }
                }
                if (n in nic) { here[key[n]] = n; if (!some) some = nic[n] }
            }
            if (!some) exit
            if (first) {
                for (n = 1; n <= networks; n++)
                    if (n in nic && slots < 4) { slot[++slots] = key[n]; slot_nic[slots] = name[n] }
                printf "" >slots_file
                for (k = 1; k <= slots; k++) print slot[k] >slots_file
            }
            parts = slots > 2 ? 4 : slots
            length_of = parts == 4 ? 18 : parts == 2 ? 17 : 16
            width = 256 / (parts ? parts : 1)
            # 37 has an inverse modulo 256, so no two nodes get the same address; the last octet is never 0, 254 or 255.
            for (k = 1; k <= slots; k++)
                haip[slot[k]] = "169.254." ((k - 1) * width + (37 * index_of_node + 10) % width) "." \
                    ((91 * index_of_node + 7) % 250 + 1) "/" length_of
            for (n = 1; n <= networks; n++)
                if (n in nic)
                    print number[nic[n]] + 0, nic[n], address[n], (key[n] in haip ? haip[key[n]] : "-"), \
                        (own[nic[n]] == address[n] ? "own" : "other")
            for (k = 1; k <= slots; k++)
                if (!(slot[k] in here)) print number[slot_nic[k]] + 0, some, "-", haip[slot[k]], "moved"
        }
    '
}

add_haips() { # add to each private NIC in use the link-local address that Clusterware selected
    has_haip || return 0
    in_use >"$stack/in_use.new"
    mv "$stack/in_use.new" "$stack/in_use"
    awk '$4 != "-" { print "address replace " $4 " brd + dev " $2 " label " $2 ":" ++labels[$2] }' "$stack/in_use" |
        ip -batch -
}

remove_haips() {
    touch "$stack/in_use"
    ip -o -4 address show | awk '
        FILENAME == "-" { if ($4 in haip) print "address delete " $4 " dev " $2; next }
        NF == 2 { haip[$2]; next }
        { haip[$4] }
    ' "$stack/haips" "$stack/in_use" - | ip -batch -
}

write_profiles() { # NODE...: write the GPnP profiles of these nodes, with the networks of the registry
    for name in "$@"; do
        directory=$lab/nodes/$name/grid/gpnp/$name/profiles/peer
        [ -w "$directory" ] || continue
        registered | awk -v name="$(cat "$cluster/name")" '
            BEGIN {
                printf "<?xml version=\"1.0\" encoding=\"UTF-8\"?><gpnp:GPnP-Profile Version=\"1.0\" "
                printf "xmlns=\"http://www.grid-pnp.org/2005/11/gpnp-profile\" "
                printf "xmlns:gpnp=\"http://www.grid-pnp.org/2005/11/gpnp-profile\" "
                printf "xmlns:orcl=\"http://www.oracle.com/gpnp/2005/11/gpnp-profile\" ProfileSequence=\"6\" "
                printf "ClusterUId=\"c5f6b0b50aa06ff0ffeb5544adf4e873\" ClusterName=\"%s\" PALocation=\"\">", name
                printf "<gpnp:Network-Profile><gpnp:HostNetwork id=\"gen\" HostName=\"*\">"
            }
            {
                use = $4 == "cluster_interconnect,asm" ? "asm,cluster_interconnect" : $4
                printf "<gpnp:Network id=\"net%d\" IP=\"%s\" Adapter=\"%s\" Use=\"%s\"/>", NR, $2, $1, use
            }
            END {
                printf "</gpnp:HostNetwork></gpnp:Network-Profile>"
                printf "<orcl:CSS-Profile id=\"css\" DiscoveryString=\"+asm\" LeaseDuration=\"400\"/>"
                print "</gpnp:GPnP-Profile>"
            }
        ' >"$directory/.profile.xml.new" && mv "$directory/.profile.xml.new" "$directory/profile.xml"
    done
}
