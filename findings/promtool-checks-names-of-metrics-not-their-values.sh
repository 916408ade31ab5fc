#!/usr/bin/env bash
# What does `promtool check metrics` find in metrics that contradict themselves?
#
# One would guess: a series that is there twice, a counter below zero, and a histogram whose buckets fall and lack +Inf.
# Seen with promtool 2.42.0 (Debian 12): none of these, exit code 0. It checks names, types and help: default metrics of
# prom-client 15.1.3 get three remarks and exit code 3, because three of its gauges end in `_total`.
# prometheus_client 0.26.0 (PyPI) reads all three in the text format as well. Its parser for OpenMetrics refuses the counter
# and the histogram, and takes the first of two equal series without a word.
# It matters to foley: the tests of `foley serve --metrics` compare samples, buckets and counts themselves, and foley does not
# serve the default metrics.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p lists/partial
apt=(-o "Dir::State::lists=$folder/lists" -o Dir::Cache::pkgcache= -o Debug::NoLocking=1)
apt-get "${apt[@]}" -qq update
apt-get "${apt[@]}" -qq download 'prometheus=2.42.0+ds-5+deb12u1'
dpkg-deb -x prometheus_*.deb .
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts prom-client@15.1.3
python3 -m venv venv
venv/bin/pip install --quiet prometheus-client==0.26.0

cat >twice.txt <<'METRICS'
# HELP a A.
# TYPE a counter
a_total{x="1"} 5
a_total{x="1"} 6
METRICS
cat >negative.txt <<'METRICS'
# HELP a A.
# TYPE a counter
a_total -5
METRICS
cat >buckets.txt <<'METRICS'
# HELP a_seconds A.
# TYPE a_seconds histogram
a_seconds_bucket{le="1"} 5
a_seconds_bucket{le="2"} 3
a_seconds_sum 4
a_seconds_count 9
METRICS
for name in twice negative buckets; do
  # The linter wants the help under the full name of a counter, the parser of OpenMetrics without _total.
  sed 's/^\(# [A-Z]* a\) /\1_total /' "$name.txt" >"$name-text.txt"
  [ "$(usr/bin/promtool check metrics <"$name-text.txt" 2>&1)" = '' ]
  echo "promtool has no remark: $name"
done

cat >read.py <<'SCRIPT'
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client import parser as text

for name in ("twice", "negative", "buckets"):
    content = open(f"{name}.txt").read()
    samples = sum(len(family.samples) for family in text.text_string_to_metric_families(content))
    try:
        families = openmetrics.text_string_to_metric_families(content + "# EOF\n")
        strict = sum(len(family.samples) for family in families)
    except ValueError as error:
        strict = str(error)
    print(f"{name}: {samples} samples; in OpenMetrics {strict}")
SCRIPT
venv/bin/python read.py | tee seen.txt
cmp - seen.txt <<'SEEN'
twice: 2 samples; in OpenMetrics 1
negative: 1 samples; in OpenMetrics Counter-like samples cannot be negative: a_total -5
buckets: 4 samples; in OpenMetrics Bucket values out of order: a_seconds
SEEN

cat >defaults.mjs <<'SCRIPT'
import { collectDefaultMetrics, Registry } from 'prom-client';
const register = new Registry();
collectDefaultMetrics({ register });
console.log(await register.metrics());
process.exit();
SCRIPT
node defaults.mjs >defaults.txt
code=0
usr/bin/promtool check metrics <defaults.txt >remarks.txt 2>&1 || code=$?
cat remarks.txt
[ "$code" = 3 ]
[ "$(grep -c 'non-counter metrics should not have "_total" suffix' remarks.txt)" = 3 ]
