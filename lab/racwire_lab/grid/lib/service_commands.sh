# The commands of srvctl for the object service. Sourced by srvctl, after services.sh.

add_service() {
    [ -n "$service" ] && [ -n "$preferred" ] || usage
    if [ -e "$services/$service.conf" ]; then
        echo "PRKO-3117 : Service $service already exists in database $database"
        exit 1
    fi
    for instance in $(echo "$preferred,$available" | tr , ' '); do
        known_instance "$instance"
    done
    mkdir -p "$services"
    : >"$services/$service.on"
    printf 'preferred %s\navailable %s\npolicy %s\npdb %s\n' \
        "$preferred" "$available" "${policy:-AUTOMATIC}" "$pdb" >"$services/$service.conf"
}

need_service() {
    [ -n "$service" ] || usage
    [ -e "$services/$service.conf" ] && return
    echo "PRCR-1001 : Resource $(service_resource "$service") does not exist"
    exit 1
}

chosen_services() { # print the services of -service, or all
    if [ -z "$service" ]; then
        service_names
        return
    fi
    chosen_names=$service
    for service in $(echo "$chosen_names" | tr , ' '); do
        need_service
        echo "$service"
    done
}

config_service() {
    names=$(chosen_services) || { echo "$names"; exit 1; }
    for name in $names; do
        cat <<TEXT
Service name: $name
Server pool: 
Cardinality: $(listed_instances "$name" preferred | wc -w)
Service role: PRIMARY
Management policy: $(service_field "$name" policy)
DTP transaction: false
AQ HA notifications: false
Global: false
Commit Outcome: false
Failover type: 
Failover method: 
Failover retries: 
Failover delay: 
Failover restore: NONE
Connection Load Balancing Goal: LONG
Runtime Load Balancing Goal: NONE
TAF policy specification: NONE
Edition: 
Pluggable database name: $(service_field "$name" pdb)
Hub service: 
Maximum lag time: ANY
SQL Translation Profile: 
Retention: 86400 seconds
Replay Initiation Time: 300 seconds
Drain timeout: 
Stop option: 
Session State Consistency: DYNAMIC
GSM Flags: 0
Service is enabled
Preferred instances: $(service_field "$name" preferred)
Available instances: $(service_field "$name" available)
CSS critical: no
TEXT
    done
}

status_service() {
    names=$(chosen_services) || { echo "$names"; exit 1; }
    for name in $names; do
        found=$(service_instances "$name" | comma_list)
        if [ -n "$found" ]; then
            echo "Service $name is running on instance(s) $found"
        else
            echo "Service $name is not running."
        fi
    done
}

start_service() {
    need_service
    wanted_on=$(asked_instance) || { echo "$wanted_on"; exit 1; }
    # shellcheck disable=SC2046 # the instances
    set -- $(echo "${wanted_on:-$(service_field "$service" preferred)}" | tr , ' ')
    missing=0
    for instance in "$@"; do
        service_instances "$service" | grep -qx -- "$instance" || missing=1
    done
    if [ "$missing" = 0 ]; then
        resource=$(service_resource "$service")
        echo "PRCC-1014 : $service was already running"
        echo "PRCR-1004 : Resource $resource is already running"
        echo "PRCR-1079 : Failed to start resource $resource"
        echo "CRS-5702: Resource '$resource' is already running on '$(node_of "$1")'"
        exit 2
    fi
    for instance in "$@"; do
        # The service needs the instance: Clusterware starts it as well.
        instance_runs "$instance" || start_one "$(node_of "$instance")" || fail_to_start "$(service_resource "$service")"
    done
    # shellcheck disable=SC2046
    place_service "$service" $(service_targets "$service") "$@"
}

fail_to_start() { # RESOURCE
    echo "PRCR-1079 : Failed to start resource $1"
    exit 1
}

stop_service() {
    need_service
    wanted_on=$(asked_instance) || { echo "$wanted_on"; exit 1; }
    if [ -z "$(service_instances "$service")" ]; then
        echo "PRCC-1016 : $service was already stopped"
        echo "PRCR-1005 : Resource $(service_resource "$service") is already stopped"
        exit 2
    fi
    # shellcheck disable=SC2046
    [ -z "$wanted_on" ] && place_service "$service" ||
        place_service "$service" $(service_targets "$service" | grep -vx -- "$wanted_on")
}

relocate_service() {
    need_service
    [ -n "$old" ] && [ -n "$new" ] || usage
    known_instance "$old"
    known_instance "$new"
    resource=$(service_resource "$service")
    if ! service_instances "$service" | grep -qx -- "$old" || service_instances "$service" | grep -qx -- "$new"; then
        echo "PRCR-1090 : Failed to relocate resource $resource from node $(node_of "$old") to node $(node_of "$new")"
        exit 1
    fi
    instance_runs "$new" || start_one "$(node_of "$new")" || fail_to_start "$resource"
    # shellcheck disable=SC2046
    place_service "$service" $(service_targets "$service" | grep -vx -- "$old") "$new"
}

remove_service() {
    need_service
    if [ -n "$(service_instances "$service")" ]; then
        echo "PRCR-1025 : Resource $(service_resource "$service") is still running"
        exit 1
    fi
    rm "$services/$service.conf" "$services/$service.on"
}
