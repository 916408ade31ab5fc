#!/usr/bin/env bash
# The Speex resampler takes several times as long from 24 to 44.1 kHz as from 24 to 48 kHz, which gives more samples.
#
# One would guess: at the same quality, the time follows the number of samples that come out, so 44.1 kHz is 8 % cheaper.
# Version: @echogarden/speex-resampler-wasm 0.3.0 (npm), Node 20 and 24.
# Seen: 24 to 44.1 kHz takes 4 to 5 times the processor time of 24 to 48 kHz, at the qualities 3 to 8.
# Cause: a ratio of small numbers (1:2) has a table of its own for each position of the filter. That of 80:147 would need 147,
# more than the resampler has places of the filter at these qualities: it interpolates between four of them for each sample.
# Why it matters to foley: mp3 has 44.1 kHz, and the built-in voice 24 kHz. Resampling takes a seventh of the time of a
# long text, which is why the quality is 4, not 5 (src/audio/resample.ts): each step costs a quarter more there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --ignore-scripts @echogarden/speex-resampler-wasm@0.3.0
cat > compare.mjs <<'JS'
import load from '@echogarden/speex-resampler-wasm/simd';

const speex = await load();
const LENGTH = 4096;
const input = speex._malloc(LENGTH * 4);
const output = speex._malloc(LENGTH * 4 * 3);
const lengths = speex._malloc(8);
for (let at = 0; at < LENGTH; at += 1) speex.HEAPF32[input / 4 + at] = Math.sin(at / 7);

function millisecondsTo(rate, quality) {
  const state = speex._speex_resampler_init(1, 24000, rate, quality, 0);
  const before = process.cpuUsage();
  for (let round = 0; round < 300; round += 1) {
    speex.HEAPU32.set([LENGTH, LENGTH * 3], lengths / 4);
    speex._speex_resampler_process_float(state, 0, input, lengths, output, lengths + 4);
  }
  const { system, user } = process.cpuUsage(before);
  speex._speex_resampler_destroy(state);
  return (system + user) / 1000;
}

for (const quality of [3, 4, 5, 8]) {
  const pairs = Array.from({ length: 5 }, () => [millisecondsTo(44100, quality), millisecondsTo(48000, quality)]);
  const ratio = Math.min(...pairs.map(([uneven]) => uneven)) / Math.min(...pairs.map(([, even]) => even));
  console.log(`quality ${quality}: 44.1 kHz takes ${ratio.toFixed(1)} times as long as 48 kHz`);
  if (ratio < 1.4) throw new Error('The time follows the number of samples now.');
}
JS
node compare.mjs
