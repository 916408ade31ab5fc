#!/usr/bin/env bash
# Can one registry of prom-client serve both formats, as a client's Accept header wants it?
#
# One would guess: yes. The format is a setting of the registry (setContentType), and formatting reads the metrics.
# Seen with prom-client 15.1.3: formatting in OpenMetrics renames the counters for good. After it, the text format of
# Prometheus has the counter `jobs` instead of `jobs_total`: a new series, and the old one ends. So the first scrape of a
# Prometheus that prefers OpenMetrics breaks the dashboards of everything else that reads the same process.
# It matters to foley: `GET /metrics` of `foley serve --metrics` has one format, and ignores Accept.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts prom-client@15.1.3

cat >formats.mjs <<'SCRIPT'
import { Counter, Registry } from 'prom-client';
const registry = new Registry();
new Counter({ name: 'jobs_total', help: 'Jobs.', registers: [registry] }).inc();
const sample = async (type) => {
  registry.setContentType(type);
  return (await registry.metrics()).split('\n').find((line) => line.startsWith('jobs'));
};
const { OPENMETRICS_CONTENT_TYPE, PROMETHEUS_CONTENT_TYPE } = Registry;
for (const type of [PROMETHEUS_CONTENT_TYPE, OPENMETRICS_CONTENT_TYPE, PROMETHEUS_CONTENT_TYPE]) {
  console.log(await sample(type));
}
SCRIPT
node formats.mjs | tee seen.txt
printf 'jobs_total 1\njobs_total 1\njobs 1\n' | cmp - seen.txt
