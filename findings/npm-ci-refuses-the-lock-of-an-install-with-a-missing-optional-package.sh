#!/usr/bin/env bash
# One would guess: after `npm install` has succeeded, `npm ci` accepts the lock file that it wrote.
# npm 11.19.1: an optional dependency of a dependency that no registry has is skipped in silence, and left out of the lock
# file. `npm ci` then fails with "Missing: NAME@ from lock file" and advises `npm install`, which succeeds again and changes
# nothing. An `overrides` entry that names another package mends both, also if that package is for another system only and
# never installed.
# It matters to foley: `test/mcp-tools` could be installed, but not in the checks, because an optional dependency of a
# dependency (of vite 8) was not in the registry.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir npm dependency
(cd npm && npm init -y >/dev/null && npm install --silent --ignore-scripts npm@11.19.1)
npm="$folder/npm/node_modules/.bin/npm"
cat >dependency/package.json <<'JSON'
{ "name": "dependency", "version": "1.0.0", "optionalDependencies": { "@never-published-8c1f/package": "^1.0.0" } }
JSON
(cd dependency && "$npm" pack --silent)
root() { printf '{ "private": true, "dependencies": { "dependency": "file:dependency/dependency-1.0.0.tgz" }%s }' "$1" >package.json; }
root ''
for attempt in 1 2; do
  "$npm" install --no-audit --no-fund
  sha256sum package-lock.json | tee "lock-$attempt"
  if "$npm" ci --no-audit --no-fund 2>error.txt; then exit 1; fi
  grep 'Missing:' error.txt
  grep -q 'Missing: @never-published-8c1f/package@ from lock file' error.txt
done
cmp lock-1 lock-2
rm package-lock.json
root ', "overrides": { "@never-published-8c1f/package": "npm:fsevents@2.3.3" }'
"$npm" install --no-audit --no-fund
"$npm" ci --no-audit --no-fund
