# How crsctl starts and stops the Clusterware of its node, or of several. Sourced by crsctl.
. "$grid/lib/joining.sh"

on_this_node() { # start|stop cluster [-f]
    if [ "$1" = start ]; then
        ! running crsd || failed Start "CRS-4690: Oracle Clusterware is already running on '$node'"
        echo ONLINE >"$stack/target"
        start_cluster loudly || failed Start "CRS-2674: Start of 'ora.cssd' on '$node' failed"
    else
        if ! running crsd && [ "${3-}" != -f ]; then
            failed Stop 'CRS-2796: The command may not proceed when Cluster Ready Services is not running'
        fi
        echo OFFLINE >"$stack/target"
        stop_cluster
    fi
}

started() { # RESOURCE...
    for name in "$@"; do
        echo "CRS-2672: Attempting to start '$name' on '$node'"
        echo "CRS-2676: Start of '$name' on '$node' succeeded"
    done
}

stopped() { # RESOURCE...
    for name in "$@"; do
        echo "CRS-2673: Attempting to stop '$name' on '$node'"
        echo "CRS-2677: Stop of '$name' on '$node' succeeded"
    done
}

start_cluster() { # [loudly]: join the cluster, and start its services
    [ -z "${1-}" ] || started ora.cssdmonitor
    [ -z "${1-}" ] || echo "CRS-2672: Attempting to start 'ora.cssd' on '$node'"
    # Remove the remains of a killed stack.
    if running cssd || running evmd; then end_daemons upper; fi
    # One after the other: when two nodes start at once, the second one must find the first.
    exec 8>>"$cluster/joining.lock"
    flock --timeout 60 8
    # Without an interface on a registered network, ocssd has nothing to send its heartbeat by.
    if { has_haip && [ -z "$(in_use 8>&-)" ]; } || ! may_join 8>&-; then
        exec 8>&-
        return 1
    fi
    write_profiles "$node"
    add_haips
    daemons upper 8>&-
    exec 8>&-
    if [ -n "${1-}" ]; then
        echo "CRS-2676: Start of 'ora.cssd' on '$node' succeeded"
        ! has_haip || started ora.cluster_interconnect.haip
        started ora.ctssd ora.asm ora.evmd ora.crsd
    fi
}

stop_cluster() {
    echo "CRS-2673: Attempting to stop 'ora.crsd' on '$node'"
    echo "CRS-2790: Starting shutdown of Cluster Ready Services-managed resources on server '$node'"
    database=''
    ! running instance || database=$(database_resource)
    # shellcheck disable=SC2086 # empty when there is none
    stopped $database ora.LISTENER.lsnr "ora.$node.vip" ora.net1.network
    end_daemons upper
    for service in crsd evmd cssd instance; do ended "$service"; done
    remove_haips
    echo "CRS-2792: Shutdown of Cluster Ready Services-managed resources on '$node' has completed"
    echo "CRS-2677: Stop of 'ora.crsd' on '$node' succeeded"
    stopped ora.evmd ora.ctssd ora.asm
    ! has_haip || stopped ora.cluster_interconnect.haip
    stopped ora.cssd
}

start_crs() { # [-wait]
    need_root Start
    ! running ohasd || failed Start 'CRS-4640: Oracle High Availability Services is already active'
    daemons lower
    loudly=''
    if [ "${1-}" = -wait ]; then
        loudly=loudly
        echo 'CRS-4123: Starting Oracle High Availability Services-managed resources'
        started ora.mdnsd ora.gpnpd ora.gipcd
    fi
    echo ONLINE >"$stack/target"
    if ! start_cluster $loudly; then
        echo "CRS-2883: Resource 'ora.cssd' failed during Clusterware stack start."
        failed Start 'CRS-4406: Oracle High Availability Services synchronous start failed.'
    fi
    if [ -n "$loudly" ]; then
        echo 'CRS-6023: Starting Oracle Cluster Ready Services-managed resources'
        echo "CRS-6017: Processing resource auto-start for servers: $node"
        echo "CRS-6016: Resource auto-start has completed for server $node"
        echo 'CRS-6024: Completed start of Oracle Cluster Ready Services-managed resources'
    fi
    echo 'CRS-4123: Oracle High Availability Services has been started.'
}

stop_crs() { # [-f]
    need_root Stop
    need_ohasd Stop
    echo "CRS-2791: Starting shutdown of Oracle High Availability Services-managed resources on '$node'"
    if running crsd; then
        : >"$stack/stopping" # the others see that CSS ends in order, before ohasd has ended
        stop_cluster
    elif [ "${1-}" != -f ] && [ "$(cat "$stack/target")" = ONLINE ]; then
        # The stack should run: without -f, a partly running stack is not stopped.
        echo 'CRS-2796: The command may not proceed when Cluster Ready Services is not running'
        echo 'CRS-4687: Shutdown command has completed with errors.'
        echo 'CRS-4000: Command Stop failed, or completed with errors.'
        exit 1
    fi
    end_daemons
    for service in crsd evmd cssd instance ohasd; do ended "$service"; done
    rm -f "$stack/stopping"
    remove_haips
    stopped ora.mdnsd ora.gipcd ora.gpnpd
    echo "CRS-2793: Shutdown of Oracle High Availability Services-managed resources on '$node' has completed"
    echo 'CRS-4133: Oracle High Availability Services has been stopped.'
}

cluster_wide() { # start|stop cluster [-all | -n NODE...] [-f]
    verb=Start
    [ "$1" = start ] || verb=Stop
    order="$1 $2" where=''
    shift 2
    for word in "$@"; do
        case $word in
        -f) order="$order -f" ;;
        *) where="$where $word" ;;
        esac
    done
    need_root "$verb"
    need_ohasd "$verb"
    if [ -z "$where" ]; then
        # shellcheck disable=SC2086 # the arguments of the order
        on_this_node $order
        return
    fi
    # shellcheck disable=SC2086
    chosen=$(choose "$verb" $where) || { echo "$chosen"; exit 1; }
    mkdir -p "$cluster/answers"
    answers=$cluster/answers/$node.$$
    for name in $chosen; do
        # Opened for reading too, so that it does not wait when the listener has gone.
        [ "$name" = "$node" ] || echo "$answers.$name $order" 1<>"$lab/nodes/$name/stack/orders"
    done
    status=0
    for name in $chosen; do
        if [ "$name" = "$node" ]; then
            # shellcheck disable=SC2086
            (on_this_node $order) || status=1
        else
            await "$name" "$answers.$name" || status=1
        fi
    done
    return "$status"
}

await() { # NODE FILE: print a node's answer from a file
    waited=0
    until [ -e "$2" ]; do
        waited=$((waited + 1))
        if [ "$waited" -gt 300 ] || ! running ohasd "$1"; then
            echo "CRS-4404: The following nodes did not reply within the allotted time:"
            echo "$1"
            return 1
        fi
        sleep 0.05
    done
    sed '$d' "$2"
    last=$(tail -n 1 "$2")
    rm -f "$2"
    [ "$last" = 0 ]
}
