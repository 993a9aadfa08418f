#!/bin/bash
# A Slurm of its own, for root: `slurm.sh up FOLDER`, and `slurm.sh down FOLDER` takes it down again.
# Nothing outside of the folder changes but a link at /etc/slurm/slurm.conf: the job steps of
# Snakemake's plugin look for the configuration only there.
set -euo pipefail

action=$1 folder=$2
here=$(dirname "$0")
link=/etc/slurm/slurm.conf
host=$(hostname -s)

# Wait at most half a minute until a command succeeds.
wait_for() {
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    echo "not within 30 s: $*" >&2
    return 1
}

is_idle() { [ "$(sinfo --noheader --format=%t)" = idle ]; }
is_empty() { queue=$(timeout 10 squeue --noheader) && [ -z "$queue" ]; }
has_ended() { ! kill -0 "$1" || grep -q '^State:.Z' "/proc/$1/status"; }

up() {
    mkdir -p "$folder"/{munge,state,spool} "${link%/*}"
    chmod 755 "$folder" "$folder/munge"
    touch "$folder/plugstack.conf"
    sed "s|FOLDER|$folder|; s|HOST|$host|" "$here/slurm.conf" >"$folder/slurm.conf"
    ln -s "$folder/slurm.conf" "$link"
    (umask 077 && head --bytes=128 /dev/urandom >"$folder/munge/key")
    munged --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
        --pid-file="$folder/munged.pid" --log-file="$folder/munge/log" \
        --seed-file="$folder/munge/seed"
    slurmctld
    wait_for sinfo
    slurmd
    wait_for is_idle
}

down() {
    if timeout 10 scancel --user=root; then wait_for is_empty || true; fi
    for name in slurmd slurmctld munged; do
        number=$(cat "$folder/$name.pid") || continue
        # A number may belong to another process by now.
        [ "$(cat "/proc/$number/comm")" = "$name" ] || continue
        kill "$number"
        wait_for has_ended "$number" || kill -KILL "$number"
    done
    [ "$(readlink "$link")" != "$folder/slurm.conf" ] || rm "$link"
}

"$action"
