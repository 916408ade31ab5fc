#!/usr/bin/env bash
# scancel gives a program KillWait (30 seconds) to end, but not a program that the batch script starts without `exec`.
#
# One would guess: every process of a job gets SIGTERM, and SIGKILL 30 seconds later.
# Version: Slurm 22.05.8 (Debian bookworm: slurmctld, slurmd, slurm-client, munge), as root, on loopback.
# Seen: SIGTERM reaches the program and the shell of the script. The shell ends, so that the job has ended, and Slurm
# kills the program long before it is ready, which needs 3 seconds. With `exec`, the program has its 3 seconds.
# A job whose only process died from its own `kill -9` is FAILED with the reason JobLaunchFailure and ExitCode 0:9, and
# `sbatch --wait` exits with 1 for it, not with 137.
# Why it matters to foley: after SIGTERM, foley saves the items that it has paid for.
set -euo pipefail
folder=$(mktemp -d)
cd "$folder"
trap 'kill $(jobs -p) 2> /dev/null; wait; rm -rf "$folder"' EXIT
mkdir root state spool socket
apt-get download -qq slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libmunge2 libhwloc15 liblua5.1-0 2> /dev/null
for package in *.deb; do dpkg-deb -x "$package" root; done
libraries="$folder/root/usr/lib/x86_64-linux-gnu"
export LD_LIBRARY_PATH="$libraries:$libraries/slurm-wlm" SLURM_CONF="$folder/slurm.conf"
export PATH="$folder/root/usr/bin:$folder/root/usr/sbin:$PATH"
head -c 32 /dev/urandom > key
chmod 400 key
cat > slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
AuthInfo=socket=$folder/socket/munge
PluginDir=$libraries/slurm-wlm
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/controller.pid
SlurmdPidFile=$folder/node.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=1
PartitionName=main Nodes=ALL Default=YES
CONF
munged --foreground --force --socket=socket/munge --key-file=key --log-file=log --pid-file=pid --seed-file=seed 2> /dev/null &
slurmctld-wlm -D 2> controller.log &
slurmd-wlm -D -d "$folder/root/usr/sbin/slurmstepd-wlm" 2> node.log &
for _ in $(seq 60); do [ "$(sinfo -h -o %T 2> /dev/null)" = idle ] && break; sleep 0.5; done
cat > program <<'PROGRAM'
#!/bin/bash
trap 'echo SIGTERM; sleep 3; echo saved; exit' TERM
echo started
while :; do sleep 0.1; done
PROGRAM
chmod +x program
cancelled() { # the line of the batch script; prints what the program printed
  local job
  printf '#!/bin/sh\n%s\n' "$1" > script
  job=$(sbatch --parsable --output=output script)
  until grep -q started output 2> /dev/null; do sleep 0.2; done
  scancel "$job"
  while [ -n "$(squeue -h)" ]; do sleep 0.5; done
  grep -oxE 'started|SIGTERM|saved' output | paste -sd ' '
  rm output
}
plain=$(cancelled ./program)
echo "without exec: $plain"
replaced=$(cancelled 'exec ./program')
echo "with exec: $replaced"
case $plain in *saved*) exit 1 ;; esac
[ "$replaced" = 'started SIGTERM saved' ]
code=0
job=$(sbatch --parsable --wait --output=/dev/null --wrap 'kill -9 $$') || code=$?
state=$(scontrol show job "$job" -o | grep -oE '(JobState|Reason|ExitCode)=\S+' | paste -sd ' ')
echo "killed: exit $code, $state"
[ "$code" = 1 ]
grep -q 'JobState=FAILED Reason=JobLaunchFailure.*ExitCode=0:9' <<< "$state"
