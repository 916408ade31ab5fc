#!/usr/bin/env bash
# One would guess: in digital silence the output of a filter decays until it is exactly 0, so that silence is the cheapest input.
# A high-pass filter of fili 2.0.3 at 1000 Hz never gets there: after ten minutes of zeros, every sample of the output is still the
# smallest number there is (5e-324), because the rounding of subnormal numbers feeds it back. At lower frequencies it depends on
# the sound before. The low-pass filter at the same frequency returns to 0.
# It matters to foley: the filters that weight loudness (ITU-R BS.1770) have such a high-pass, and many processors calculate with
# subnormal numbers slowly. Speech with silent pauses took foley's meter seven times as long as noise, before it added 1e-30 to
# each sample.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --ignore-scripts --no-audit --no-fund fili@2.0.3
cat > filter.cjs <<'CODE'
const { CalcCascades, IirFilter } = require('fili');
const RATE = 48_000;
const SMALLEST_NORMAL = 2 ** -1022;
const design = new CalcCascades();
const noise = Float64Array.from({ length: RATE }, (_, at) => Math.sin(at * at) / 2);
const silence = new Float64Array(RATE);
for (const [kind, frequency] of [['highpass', 1000], ['lowpass', 1000]]) {
  const filter = new IirFilter(design[kind]({ order: 2, characteristic: 'butterworth', Fs: RATE, Fc: frequency }));
  for (let second = 0; second < 20; second += 1) filter.multiStep(noise);
  let output = [];
  for (let second = 0; second < 600; second += 1) output = filter.multiStep(silence);
  const small = output.filter((one) => one !== 0 && Math.abs(one) < SMALLEST_NORMAL).length;
  console.log(`${kind} ${frequency}: ${small} of ${RATE} samples are subnormal, the last is ${Math.abs(output.at(-1))}`);
}
CODE
node filter.cjs | tee found.txt
diff found.txt - <<'EXPECTED'
highpass 1000: 48000 of 48000 samples are subnormal, the last is 5e-324
lowpass 1000: 0 of 48000 samples are subnormal, the last is 0
EXPECTED
