#!/usr/bin/env bash
# One would guess: a decoder returns the sound of every AAC frame, and changes nothing else in the process.
# audio-file-decoder 2.3.0 (FFmpeg as WebAssembly) leaves out the sound of the first frame of an ADTS file: of N frames,
# it returns (N - 1) * 1024 samples, where ffmpeg returns N * 1024. Loading it also adds listeners for uncaughtException
# and unhandledRejection that throw.
# It matters to foley: it decodes long files in blocks, so each block would lose a frame, and all later sound would be
# early. foley repeats the first frame of a block, and its build removes the listeners.
set -euo pipefail
input="$(cd "$(dirname "$0")/.." && pwd)/test/fixtures/media/beeps.aac"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --ignore-scripts --no-audit --no-fund --save-exact audio-file-decoder@2.3.0
{
  # The package is an ES module without a type, and expects variables of CommonJS.
  echo "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); const __dirname = '.';"
  cat node_modules/audio-file-decoder/dist/audio-file-decoder.js
} >decoder.mjs
cat >run.mjs <<'SCRIPT'
import { readFileSync } from 'node:fs';
const { getAudioDecoder } = await import('./decoder.mjs');
const bytes = new Uint8Array(readFileSync(process.argv[2]));
let frames = 0;
for (let at = 0; at < bytes.length; frames += 1) {
  at += ((bytes[at + 3] & 3) << 11) | (bytes[at + 4] << 3) | (bytes[at + 5] >> 5);
}
const code = readFileSync('node_modules/audio-file-decoder/decode-audio.wasm').toString('base64');
const decoder = await getAudioDecoder(`data:application/wasm;base64,${code}`, bytes.buffer);
const samples = decoder.decodeAudioData(0, -1).length;
const listeners = process.listenerCount('unhandledRejection');
console.log({ frames, samples, missing: frames * 1024 - samples, listeners });
process.exit(frames * 1024 - samples === 1024 && listeners === 1 ? 0 : 1);
SCRIPT
node run.mjs "$input"
