#!/usr/bin/env bash
# The job log of GNU parallel has exit value 0 for a job that a signal killed.
#
# One would guess: 137, as a shell shows it, or no number; so that `awk '$7 != 0'` lists the jobs that failed.
# Version: GNU parallel 20221122 (Debian bookworm).
# Seen: the row of a killed job is `0` (Exitval) and `9` (Signal). For GNU parallel itself it has failed: the exit code
# counts it, and --resume-failed runs it again. With --halt now,fail=1, the exit code for the same job is 137.
# Why it matters to foley: a worker that the kernel killed for its memory looks as successful as one that delivered.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq parallel=20221122+ds-2
dpkg-deb -x parallel_*.deb .
parallel=usr/bin/parallel
row() { tail -n 1 log | cut -f 7,8; }
code=0; $parallel -n0 --joblog log 'exit 3' ::: failed 2>/dev/null || code=$?
echo "a failed job: exit $code, Exitval and Signal: $(row)"
rm log
code=0; $parallel -n0 --joblog log 'kill -9 $$' ::: killed 2>/dev/null || code=$?
echo "a killed job: exit $code, Exitval and Signal: $(row)"
[ "$code" = 1 ] && [ "$(row)" = $'0\t9' ]
again=$($parallel --joblog log --resume-failed 'echo {}' ::: killed)
echo "--resume-failed runs: $again"
[ "$again" = killed ]
rm log
code=0; $parallel --joblog log --halt now,fail=1 -n0 'kill -9 $$' ::: killed 2>/dev/null || code=$?
echo "--halt now,fail=1: exit $code, Exitval and Signal: $(row)"
[ "$code" = 137 ]
