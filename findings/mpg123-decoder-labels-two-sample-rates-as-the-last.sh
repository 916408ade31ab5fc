#!/usr/bin/env bash
# One would guess: a decoder that finds frames of another sample rate in an mp3 returns two sounds, resamples one of them or
# reports an error, as it does for damaged frames.
# mpg123-decoder 1.0.3 (mpg123 in WebAssembly) returns one sound without errors: the samples of all frames, with the sample
# rate of the last ones. A second at 24,000 Hz before a second at 44,100 Hz becomes 1.6 seconds at 44,100 Hz, the first part
# almost an octave too high; in the other order, 3 seconds at 24,000 Hz.
# It matters to foley: services return the parts of a text with different rates for different voices. A joined mp3 has one rate;
# later parts are encoded again.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --ignore-scripts --no-audit --no-fund mpg123-decoder@1.0.3 wasm-media-encoders@0.7.0
cat > decode.cjs <<'CODE'
const { MPEGDecoder } = require('mpg123-decoder');
const { createMp3Encoder } = require('wasm-media-encoders');
async function second(sampleRate) {
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate, channels: 1, bitrate: 128 });
  const sound = Float32Array.from({ length: sampleRate }, (_, at) => 0.4 * Math.sin((at / sampleRate) * 2765));
  return Buffer.concat([Buffer.from(encoder.encode([sound])), encoder.finalize()]);
}
async function decode(...files) {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  const { errors, sampleRate, samplesDecoded } = decoder.decode(Buffer.concat(files));
  decoder.free();
  return `${samplesDecoded} samples at ${sampleRate} Hz, ${errors.length} errors`;
}
(async () => {
  const [slow, fast] = [await second(24_000), await second(44_100)];
  console.log('24,000 alone:', await decode(slow));
  console.log('44,100 alone:', await decode(fast));
  console.log('24,000, 44,100:', await decode(slow, fast));
  console.log('44,100, 24,000:', await decode(fast, slow));
})();
CODE
node decode.cjs | tee found.txt
diff found.txt - <<'EXPECTED'
24,000 alone: 25344 samples at 24000 Hz, 0 errors
44,100 alone: 46080 samples at 44100 Hz, 0 errors
24,000, 44,100: 71424 samples at 44100 Hz, 0 errors
44,100, 24,000: 71424 samples at 24000 Hz, 0 errors
EXPECTED
