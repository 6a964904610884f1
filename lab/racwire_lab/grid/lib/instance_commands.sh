# The commands of srvctl for the object instance, of a database with an instance on each node. Sourced by srvctl.

known_instance() { # INSTANCE
    [ -z "$(node_of "$1")" ] || return 0
    echo "PRKO-2006 : Invalid instance name: $1"
    exit 1
}

asked_instance() { # print the instances of -instance or -node, separated by commas; nothing where neither was given
    if [ -n "$at_node" ]; then
        found=$(awk -v node="$at_node" '$1 == node { print $2 }' "$cluster/instances")
        [ -n "$found" ] || { echo "PRKO-2003 : Invalid node name: $at_node"; exit 1; }
        echo "$found"
        return
    fi
    for name in $(echo "$instance_names" | tr , ' '); do known_instance "$name"; done
    echo "$instance_names"
}

instance_command() { # status|start|stop
    names=$(asked_instance) || { echo "$names"; exit 1; }
    [ -n "$names" ] && [ "$type" = RAC ] || usage
    failure=0
    for name in $(echo "$names" | tr , ' '); do
        "${1}_instance" "$name" "$(node_of "$name")" || failure=$?
    done
    exit "$failure"
}

status_instance() { # INSTANCE NODE
    instance_line "$2" "$1"
}

start_instance() { # INSTANCE NODE
    if running instance "$2"; then
        echo "PRCC-1015 : $1 was already running on $2"
        echo "PRCR-1004 : Resource ora.$database.db is already running"
        return 2
    fi
    if ! start_one "$2"; then
        echo "PRCR-1013 : Failed to start resource ora.$database.db"
        echo "PRCR-1064 : Failed to start resource ora.$database.db on node $2"
        return 1
    fi
    with_instance "$1"
}

start_one() { # NODE: start its instance, and no other one
    powered "$1" && running crsd "$1" || return 1
    if [ "$(cat "$wanted")" = OFFLINE ]; then
        for name in $(nodes); do echo OFFLINE >"$lab/nodes/$name/stack/instance"; done
        echo ONLINE >"$wanted"
    fi
    echo ONLINE >"$lab/nodes/$1/stack/instance"
    await running instance "$1"
}

stop_instance() { # INSTANCE NODE
    if ! running instance "$2"; then
        echo "PRCC-1017 : $1 was already stopped on $2"
        echo "PRCR-1005 : Resource ora.$database.db is already stopped"
        return 2
    fi
    if [ "$force" = 0 ] && [ -n "$(services_of "$1")" ]; then
        echo "PRCD-1131 : Failed to stop database $database and its services on nodes $2"
        echo "PRCR-1133 : Failed to stop database $database and its running services"
        echo 'PRCR-1132 : Failed to stop resources using a filter'
        for held in $(services_of "$1"); do
            echo "CRS-2974: unable to act on resource 'ora.$database.db' on server '$2' because that would require stopping or relocating resource '$(service_resource "$held")' but the appropriate force flag was not specified"
        done
        return 1
    fi
    leave_instance "$1"
    echo OFFLINE >"$lab/nodes/$2/stack/instance"
    await eval "! running instance $2" && return
    echo "PRCD-1131 : Failed to stop database $database and its services on nodes $2"
    return 1
}
