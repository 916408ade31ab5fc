#!/usr/bin/env bash
# One would guess: an mp4 file states which samples of its AAC are sound, as those of Apple and ffmpeg do.
# Mediabunny 1.61.0 with its own AAC encoder (1.59.0) writes no edit list: one second of sound at 24 kHz becomes 25 packets
# of 1024 samples, and the file states 1.067 seconds: the delay of the encoder and the padding count as sound.
# It matters to foley: files would be too long, and captions would not fit. foley writes the edit list and the exact
# durations into m4a and m4b files itself.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --ignore-scripts --no-audit --no-fund --save-exact mediabunny@1.61.0 @mediabunny/aac-encoder@1.59.0
cat >run.mjs <<'SCRIPT'
import * as media from 'mediabunny';
import { registerAacEncoder } from '@mediabunny/aac-encoder';
registerAacEncoder();
const target = new media.BufferTarget();
const output = new media.Output({ format: new media.Mp4OutputFormat({ fastStart: false }), target });
const source = new media.AudioSampleSource({ codec: 'aac', bitrate: 96_000 });
output.addAudioTrack(source);
await output.start();
const layout = { format: 'f32', numberOfChannels: 1, sampleRate: 24_000, timestamp: 0 };
await source.add(new media.AudioSample({ ...layout, data: new Float32Array(24_000) }));
source.close();
await output.finalize();
const file = Buffer.from(target.buffer);
const seconds = (box) => {
  const at = file.indexOf(box);
  return file.readUInt32BE(at + 20) / file.readUInt32BE(at + 16);
};
const facts = {
  hasEditList: file.includes('elst'),
  movie: seconds('mvhd').toFixed(3),
  track: seconds('mdhd').toFixed(3),
};
console.log(facts);
process.exit(!facts.hasEditList && facts.track > 1.04 && facts.movie > 1.04 ? 0 : 1);
SCRIPT
node run.mjs
