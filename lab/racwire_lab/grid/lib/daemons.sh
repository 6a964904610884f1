# Starts the daemons of a practice node's Clusterware, in a session of their own: daemons.sh lower|upper.
# They only run, with the names and from the directory of the real ones.
set -u
. "${0%/*}/stack.sh"
cd "$stack" || exit 1

# All are copies of one program: each waits for input from a pipe that no program writes to, or for a program to
# open the pipe "reboot".
idly() { # PROGRAM [ARGUMENT]
    "$@" <>idle >/dev/null 2>&1 &
}

holding() { # SERVICE PROGRAM [ARGUMENT]: with the lock that shows that it runs
    exec 9>>"$1.lock"
    flock --timeout 5 9 || exit 1
    shift
    idly "$@"
    exec 9>&-
}

# The Grid owner runs the daemons that root does not run, where the cluster has such a user.
as_grid=
if [ -e "$cluster/grid_owner" ]; then
    read -r owner group <"$cluster/grid_owner"
    as_grid="setpriv --reuid=$owner --regid=$group --init-groups --"
fi

PATH=$grid/bin:$PATH
# shellcheck disable=SC2086 # the words of a command
if [ "$1" = lower ]; then
    holding ohasd "$grid/bin/ohasd.bin" reboot
    # This one carries out the orders from other nodes.
    idly "$grid/bin/orarootagent.bin" "$grid/lib/agent.sh"
    for program in mdnsd.bin gpnpd.bin gipcd.bin; do
        idly $as_grid "$grid/bin/$program"
    done
    idly "$grid/bin/cssdmonitor"
    idly "$grid/bin/cssdagent"
else
    holding cssd $as_grid "$grid/bin/ocssd.bin"
    idly "$grid/bin/octssd.bin" reboot
    holding evmd $as_grid "$grid/bin/evmd.bin"
    idly $as_grid "asm_pmon_+ASM$(awk -v node="$node" '$1 == node { print $2 }' "$cluster/members")"
    idly $as_grid "$grid/bin/oraagent.bin"
    holding crsd "$grid/bin/crsd.bin" reboot
fi
