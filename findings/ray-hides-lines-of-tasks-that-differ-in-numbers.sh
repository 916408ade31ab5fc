#!/usr/bin/env bash
# Ray shows only one of several lines that its tasks print, if the lines differ only in numbers.
#
# One would guess: each line that a task prints is shown; or only equal lines are shown once.
# Version: Ray 2.60.0 (PyPI).
# Seen: four tasks print "N done, M failed" with four different pairs of numbers. One line is shown, and later one of the
# others with "[repeated 3x across cluster]". RAY_DEDUP_LOGS=0 shows all four.
# Why it matters to foley: the summary of a shard with failed items disappears behind the summary of one without.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ray==2.60.0
cat > "$folder/tasks.py" <<'PYTHON'
import time

import ray


@ray.remote(num_cpus=1)
def speak(shard):
    time.sleep(3)  # Each task has a worker of its own.
    print(f"{8 - shard} done, {shard} failed", flush=True)


ray.init(num_cpus=4, include_dashboard=False)
ray.get([speak.remote(shard) for shard in range(4)])
PYTHON
export HOME="$folder" RAY_TMPDIR="$folder"
run() { "$folder/venv/bin/python" "$folder/tasks.py" 2>&1 | grep -o '[0-9] done, [0-9] failed.*' | cut -c1-70; }
shown=$(run)
echo "$shown"
grep -q 'repeated 3x' <<<"$shown"
[ "$(grep -c failed <<<"$shown")" = 2 ]
all=$(RAY_DEDUP_LOGS=0 run)
echo "RAY_DEDUP_LOGS=0: $(grep -c failed <<<"$all") lines"
[ "$(grep -c failed <<<"$all")" = 4 ]
