# What has become of a job of Slurm, in the words that profiles/generic asks for.

state=$(squeue --noheader --states=all --format=%T --jobs="$1" 2>&1)
case $state in
    COMPLETED) echo success ;;
    # A controller that restarts answers later.
    PENDING | RUNNING | COMPLETING | CONFIGURING | SUSPENDED | *"Unable to contact"*) echo running ;;
    *) echo failed ;;
esac
