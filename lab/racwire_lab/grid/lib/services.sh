# The services that srvctl manages, of the practice database only. Sourced by srvctl and crsctl.
#
# cluster/services/NAME.conf has the preferred and the available instances, the management policy and the pluggable
# database, one a line; cluster/services/NAME.on has the instances on which the service is to run, one a line. A service
# runs there while the instance does, so it follows its instances also when crsctl stops and starts them. Missing here:
# when an instance fails, no service moves to an available one.
services=$cluster/services

service_names() { # print the names, in their order
    for file in "$services"/*.conf; do
        [ ! -e "$file" ] || basename "$file" .conf
    done | sort
}

service_field() { # NAME FIELD: print preferred, available, policy or pdb
    awk -v key="$2" '$1 == key { print $2 }' "$services/$1.conf"
}

service_targets() { # NAME: print the instances on which it is to run, in the order of the nodes
    awk 'NR == FNR { on[$1]; next } $2 in on { print $2 }' "$services/$1.on" "$cluster/instances"
}

node_of() { # INSTANCE: print its node
    awk -v name="$1" '$2 == name { print $1 }' "$cluster/instances"
}

instance_runs() { # INSTANCE
    running instance "$(node_of "$1")"
}

service_instances() { # NAME: print the instances on which it runs
    for instance in $(service_targets "$1"); do
        ! instance_runs "$instance" || echo "$instance"
    done
}

services_of() { # INSTANCE: print the services that it offers
    for name in $(service_names); do
        ! service_instances "$name" | grep -qx -- "$1" || echo "$name"
    done
}

service_resource() { # NAME: print the name of its resource
    printf 'ora.%s.%s.svc\n' "$(tr '[:upper:]' '[:lower:]' <"$cluster/db_unique_name")" "$(printf %s "$1" | tr '[:upper:]' '[:lower:]')"
}

place_service() { # NAME [INSTANCE...]: let it run on exactly these instances
    name=$1
    shift
    printf '%s\n' "$@" >"$services/$name.on.new"
    mv "$services/$name.on.new" "$services/$name.on"
}

listed_instances() { # NAME FIELD: print the preferred or available instances, separated by spaces
    service_field "$1" "$2" | tr , ' '
}

with_database() { # start|stop: what becomes of the services when srvctl starts or stops the database
    for name in $(service_names); do
        # shellcheck disable=SC2046 # the instances
        case $1$(service_field "$name" policy) in
        startAUTOMATIC) place_service "$name" $(listed_instances "$name" preferred) ;;
        stop*) place_service "$name" ;;
        esac
    done
}

with_instance() { # INSTANCE: start the automatic services that prefer an instance which srvctl has started
    for name in $(service_names); do
        [ "$(service_field "$name" policy)" = AUTOMATIC ] || continue
        preferred=$(listed_instances "$name" preferred)
        case " $preferred " in
        *" $1 "*)
            # shellcheck disable=SC2046,SC2086
            [ "$(service_instances "$name" | wc -l)" -ge "$(echo $preferred | wc -w)" ] ||
                place_service "$name" $(service_targets "$name") "$1"
            ;;
        esac
    done
}

leave_instance() { # INSTANCE: move its services to available instances, before srvctl stops it with -force
    for name in $(services_of "$1"); do
        others=$(service_targets "$name" | grep -vx -- "$1")
        next=''
        for instance in $(listed_instances "$name" preferred) $(listed_instances "$name" available); do
            [ "$instance" != "$1" ] && instance_runs "$instance" || continue
            echo "$others" | grep -qx -- "$instance" || { next=$instance && break; }
        done
        # shellcheck disable=SC2086
        place_service "$name" $others $next
    done
}
