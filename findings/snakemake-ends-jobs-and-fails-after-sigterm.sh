#!/usr/bin/env bash
# After SIGTERM, Snakemake lets a running job finish, keeps its output, and exits with 1 as if the job had failed.
#
# One would guess: SIGTERM stops the jobs; or, if Snakemake waits for them and every job succeeds, the exit code is 0.
# Version: Snakemake 9.27.1 (PyPI).
# Seen: no signal reaches the job. The job ends with 0 and its output stays, with no rule left to run. Snakemake prints
# "At least one job did not complete successfully" and exits with 1. The next run has nothing to do and exits with 0.
# Why it matters to foley: a shard finishes and is delivered after the stop, and the exit code of Snakemake says nothing
# about it. Only another run does.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet snakemake==9.27.1
cd "$folder"
cat > Snakefile <<'RULES'
rule speak:
    output: "spoken"
    shell: "trap 'echo stopped > signal' TERM INT HUP; touch started; for i in 1 2 3 4; do sleep 1; done; echo whole > {output}"
RULES
venv/bin/snakemake --cores 1 > log 2>&1 &
until [ -e started ]; do sleep 0.1; done
kill -TERM $!
code=0; wait $! || code=$?
echo "after SIGTERM: exit $code, output: $(cat spoken), signal of the job: $(cat signal 2>/dev/null || echo none)"
grep 'did not complete successfully' log
[ "$code" = 1 ] && [ "$(cat spoken)" = whole ] && [ ! -e signal ]
venv/bin/snakemake --cores 1 2>&1 | grep 'Nothing to be done'
