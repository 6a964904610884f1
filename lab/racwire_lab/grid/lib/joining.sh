# Whether a node may join the running nodes, which ocssd learns from its network heartbeat. Sourced by crsctl.

PATIENCE_S=3
WHOLE=9188 # bytes of ICMP data: with 28 bytes of headers as large as the largest MTU, so that all packets but one are full

may_join() { # fails when a running node does not answer within PATIENCE_S
    command -v ping >/dev/null || return 0
    started=$(date +%s)
    until reaches_all; do
        [ $(($(date +%s) - started)) -lt "$PATIENCE_S" ] || return 1
        sleep 0.2
    done
}

reaches_all() {
    # A node that is switched off has no peers; a node that drops pings shows nothing about the network.
    powered "$node" || return 0
    awk -v node="$node" '
        NR == FNR { answers[$1] = $2 == "answers"; next }
        answers[node] && answers[$1] && $1 != node { print $1, $3, $4 }
    ' "$cluster/private" "$cluster/private" >"$stack/peers"
    while read -r peer addresses; do
        if powered "$peer" && running cssd "$peer"; then
            # shellcheck disable=SC2046,SC2086 # one address on each private network
            reaches $(common "$peer" $addresses) || return 1
        fi
    done <"$stack/peers"
}

common() { # PEER ADDRESS...: print its addresses on the networks that it and this node use
    other=$lab/nodes/$1/stack/in_use
    shift
    if has_haip && [ -s "$other" ]; then
        in_use | awk 'NR == FNR { ours[$1]; next } $1 in ours && $3 != "-" { sub("/.*", "", $3); print $3 }' - "$other"
    else
        echo "$@"
    fi
}

reaches() { # ADDRESS...: whether full packets pass both ways on at least one private network
    # Without DF, and larger than any MTU: each side cuts it into packets of its NIC's MTU, as with Clusterware's
    # own messages. Small pings would pass where these messages are lost.
    [ -n "$(
        for address in "$@"; do
            ping -q -n -M dont -c 1 -W 1 -s "$WHOLE" "$address" 2>&1 | grep ' 0% packet loss' &
        done
        wait
    )" ]
}
