# The output of `crsctl stat res`: in full for one resource of the lower stack, as tables for all. Sourced by crsctl.

rule='--------------------------------------------------------------------------------'
lower='ora.asm ora.cluster_interconnect.haip ora.crsd ora.cssd ora.cssdmonitor ora.ctssd ora.evmd ora.gipcd ora.gpnpd ora.mdnsd'

status_of() { # [NAME] [-init] [-t], in any order
    name='' init=0 table=0
    for word in "$@"; do
        case $word in
        -init) init=1 ;;
        -t) table=1 ;;
        -*) usage ;;
        *) name=$word ;;
        esac
    done
    need_ohasd Status
    if [ "$init" = 0 ]; then
        running crsd || failed Status 'CRS-4535: Cannot communicate with Cluster Ready Services'
    fi
    if [ "$table" = 1 ] && [ "$init" = 1 ]; then
        lower_table
    elif [ "$table" = 1 ]; then
        upper_table
    elif [ "$name" = ora.cluster_interconnect.haip ] && [ "$init" = 1 ]; then
        if has_haip; then
            printf 'NAME=%s\nTYPE=ora.haip.type\nTARGET=%s\nSTATE=%s\n\n' "$name" "$(target)" "$(state 'ONLINE on ')"
        else
            printf 'NAME=%s\nTYPE=ora.haip.type\nTARGET=OFFLINE\nSTATE=OFFLINE\n\n' "$name"
        fi
    else
        failed Status "CRS-2613: Could not find resource '$name'."
    fi
}

target() { # print the target state of the cluster stack on this node
    cat "$stack/target"
}

state() { # PREFIX: print the state of a resource in this node's cluster stack
    if running cssd; then echo "$1$node"; else echo OFFLINE; fi
}

head_of_table() {
    echo "$rule"
    echo 'Name           Target  State        Server                   State details       '
    echo "$rule"
}

row() { # NUMBER TARGET STATE SERVER DETAILS
    printf '      %-8s %-7s %-12s %-24s %-20s\n' "$@"
}

lower_table() {
    head_of_table
    echo 'Cluster Resources'
    echo "$rule"
    for resource in $lower; do
        echo "$resource"
        case $resource in
        ora.cssdmonitor | ora.gipcd | ora.gpnpd | ora.mdnsd) row 1 ONLINE ONLINE "$node" STABLE ;;
        *)
            if [ "$resource" = ora.cluster_interconnect.haip ] && ! has_haip; then
                row 1 OFFLINE OFFLINE '' STABLE
            elif running cssd; then
                row 1 ONLINE ONLINE "$node" STABLE
            elif [ "$resource" = ora.cssd ] && [ "$(target)" = ONLINE ]; then
                row 1 ONLINE OFFLINE "$node" STARTING
            else
                row 1 "$(target)" OFFLINE '' STABLE
            fi
            ;;
        esac
    done
    echo "$rule"
}

upper_table() {
    members=$(for name in $(nodes); do if powered "$name" && running crsd "$name"; then echo "$name"; fi; done)
    head_of_table
    echo 'Local Resources'
    echo "$rule"
    for resource in ora.LISTENER.lsnr ora.net1.network; do
        echo "$resource"
        for name in $members; do row '' ONLINE ONLINE "$name" STABLE; done
    done
    echo "$rule"
    echo 'Cluster Resources'
    echo "$rule"
    if [ -e "$cluster/database" ]; then
        database_resource
        number=0
        for name in $(nodes); do
            number=$((number + 1))
            wanted=$(cat "$cluster/database")
            [ "$wanted" = OFFLINE ] || wanted=$(cat "$lab/nodes/$name/stack/instance")
            if running instance "$name"; then
                row "$number" "$wanted" ONLINE "$name" Open,STABLE
            else
                row "$number" "$wanted" OFFLINE '' 'Instance Shutdown,ST'
            fi
        done
    fi
    . "$grid/lib/services.sh"
    for service in $(service_names); do
        service_resource "$service"
        number=0
        for place in $(service_targets "$service"); do
            number=$((number + 1))
            if instance_runs "$place"; then
                row "$number" ONLINE ONLINE "$(node_of "$place")" STABLE
            else
                row "$number" ONLINE OFFLINE '' STABLE
            fi
        done
        [ "$number" != 0 ] || row 1 OFFLINE OFFLINE '' STABLE
    done
    for name in $members; do
        echo "ora.$name.vip"
        row 1 ONLINE ONLINE "$name" STABLE
    done
    echo "$rule"
}
