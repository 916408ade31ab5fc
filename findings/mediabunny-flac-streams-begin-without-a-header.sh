#!/usr/bin/env bash
# One would guess: a FLAC file that Mediabunny writes to a pipe can be played, perhaps without its length.
# Mediabunny 1.61.0 leaves the first 42 bytes of a FLAC file empty and fills them at the end, which a pipe does not allow:
# after the signature `fLaC`, the stream has zeros, no sample rate and no type of block. Only with `appendOnly: true`, a
# header comes first. In both cases the MD5 of the samples stays zero, so `flac -t` checks nothing.
# It matters to foley: `foley tts --format flac | player`. foley sets `appendOnly`, and writes the number of samples and
# their MD5 into files itself.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --ignore-scripts --no-audit --no-fund --save-exact mediabunny@1.61.0 @mediabunny/flac-encoder@1.58.1
cat >run.mjs <<'SCRIPT'
import * as media from 'mediabunny';
import { registerFlacEncoder } from '@mediabunny/flac-encoder';
registerFlacEncoder();
// Returns the bytes in the order in which they are written, and the file with all corrections.
async function write(options) {
  const stream = [];
  const file = Buffer.alloc(100_000);
  const target = new WritableStream({
    write({ data, position }) {
      if (position === Buffer.concat(stream).length) stream.push(Buffer.from(data));
      file.set(data, position);
    },
  });
  const output = new media.Output({
    format: new media.FlacOutputFormat(options),
    target: new media.StreamTarget(target),
  });
  const source = new media.AudioSampleSource({ codec: 'flac' });
  output.addAudioTrack(source);
  await output.start();
  const layout = { format: 's16', numberOfChannels: 1, sampleRate: 24_000, timestamp: 0 };
  await source.add(new media.AudioSample({ ...layout, data: new Int16Array(24_000) }));
  source.close();
  await output.finalize();
  return { stream: Buffer.concat(stream), file };
}
const SAMPLE_RATE = 18;
const MD5 = 26;
const plain = await write({});
const append = await write({ appendOnly: true });
const rateOf = (bytes) => bytes.readUIntBE(SAMPLE_RATE, 3) >> 4;
const facts = {
  plainStream: rateOf(plain.stream),
  plainFile: rateOf(plain.file),
  appendStream: rateOf(append.stream),
  hasMd5: plain.file.subarray(MD5, MD5 + 16).some((byte) => byte !== 0),
};
console.log(facts);
const expected = { plainStream: 0, plainFile: 24_000, appendStream: 24_000, hasMd5: false };
process.exit(JSON.stringify(facts) === JSON.stringify(expected) ? 0 : 1);
SCRIPT
node run.mjs
