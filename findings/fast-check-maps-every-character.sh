#!/usr/bin/env bash
# One would guess: a property over `fc.string({ unit: 'binary' })` costs as much as one over `fc.string()`.
# fast-check 4.10.2 asks the unit whether it can make strings such as `__proto__`. To answer, the unit `binary` builds a
# map with an entry for each of the 1,112,064 characters, and keeps it: the first property takes a second of processor
# time, and the process has 80 MB more to collect from then on.
# It matters to foley: each process of the tests paid for this. Its tests make the unit from a number, with the same choices.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --ignore-scripts --no-audit --no-fund --save-exact fast-check@4.10.2
cat >run.mjs <<'SCRIPT'
import fc from 'fast-check';
const grown = (unit) => {
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  fc.assert(fc.property(fc.string({ unit, maxLength: 12 }), () => {}));
  globalThis.gc();
  return Math.round((process.memoryUsage().heapUsed - before) / 1e6);
};
const [plain, binary] = [grown('grapheme-ascii'), grown('binary')];
console.log(`kept after a property, in MB: ${plain} with grapheme-ascii, ${binary} with binary`);
process.exitCode = plain < 10 && binary > 50 ? 0 : 1;
SCRIPT
node --expose-gc run.mjs
