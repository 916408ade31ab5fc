#!/usr/bin/env bash
# One would guess: an mp3 encoder that is configured with a sample rate and a constant bit rate writes both, or refuses what the
# format does not have.
# wasm-media-encoders 0.7.0 (LAME in WebAssembly) accepts every bit rate and writes others: speech at 24,000 Hz with 320 kbit/s
# becomes 160 kbit/s, the most that MPEG 2 has; with 32 kbit/s it is resampled to 22,050 Hz, with 16 to 16,000 Hz, with 8 to
# 8,000 Hz (MPEG 2.5). At 44,100 Hz, 32 kbit/s have 22,050 Hz, too. No error, no warning, and nothing returns what was chosen.
# It matters to foley: its mp3 of speech has 24,000 Hz, and parts of one text must agree. foley sets the output rate itself.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --ignore-scripts --no-audit --no-fund mpg123-decoder@1.0.3 wasm-media-encoders@0.7.0
cat > encode.cjs <<'CODE'
const { MPEGDecoder } = require('mpg123-decoder');
const { createMp3Encoder } = require('wasm-media-encoders');
async function found(sampleRate, bitrate, more = {}) {
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate, channels: 1, bitrate, ...more });
  const sound = Float32Array.from({ length: 10 * sampleRate }, (_, at) => 0.4 * Math.sin((at / sampleRate) * 2765));
  const file = Buffer.concat([Buffer.from(encoder.encode([sound])), encoder.finalize()]);
  const decoder = new MPEGDecoder();
  await decoder.ready;
  const decoded = decoder.decode(file);
  decoder.free();
  const seconds = decoded.samplesDecoded / decoded.sampleRate;
  return `${Math.round((file.length * 8) / seconds / 1000)} kbit/s at ${decoded.sampleRate} Hz`;
}
(async () => {
  for (const [rate, bits] of [[24_000, 320], [24_000, 128], [24_000, 32], [24_000, 16], [24_000, 8], [44_100, 32]]) {
    console.log(`${bits} kbit/s at ${rate} Hz: ${await found(rate, bits)}`);
  }
  console.log(`32 kbit/s, output at 24000 Hz: ${await found(24_000, 32, { outputSampleRate: 24_000 })}`);
})();
CODE
node encode.cjs | tee found.txt
diff found.txt - <<'EXPECTED'
320 kbit/s at 24000 Hz: 160 kbit/s at 24000 Hz
128 kbit/s at 24000 Hz: 128 kbit/s at 24000 Hz
32 kbit/s at 24000 Hz: 32 kbit/s at 22050 Hz
16 kbit/s at 24000 Hz: 16 kbit/s at 16000 Hz
8 kbit/s at 24000 Hz: 8 kbit/s at 8000 Hz
32 kbit/s at 44100 Hz: 32 kbit/s at 22050 Hz
32 kbit/s, output at 24000 Hz: 32 kbit/s at 24000 Hz
EXPECTED
