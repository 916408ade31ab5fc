#!/usr/bin/env bash
# One would guess: TextDecoder decodes windows-1252 as the Encoding Standard says, where the bytes 0x93 and 0x94 are the
# quotation marks “ and ”.
# Node 20 (also 22.20 and 24.9, but not 24.21 and 26.10) decodes windows-1252, and iso-8859-1, which the standard makes
# the same, as Latin-1 if all bytes are given in one call: the quotation marks, dashes and the euro sign become control characters. With `stream: true`, and in all other code
# pages, the result is right. The option `fatal` changes nothing.
# It matters to foley: the quotation marks and dashes of HTML and Rich Text in windows-1252 were lost. foley decodes with
# `stream: true`, and ends the stream with a second call.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --save-exact node@20.19.4
cat >run.mjs <<'SCRIPT'
const bytes = Uint8Array.from([0x93, 0x80, 0x94]);
const decode = (label, options) => new TextDecoder(label, { fatal: true }).decode(bytes, options);
const results = {
  windows1252: decode('windows-1252'),
  latin1: decode('iso-8859-1'),
  streamed: decode('windows-1252', { stream: true }),
  windows1254: decode('windows-1254'),
};
console.log(process.version, JSON.stringify(results));
const isWrong = results.windows1252 === '\u0093\u0080\u0094' && results.latin1 === results.windows1252;
process.exit(isWrong && results.streamed === '“€”' && results.windows1254 === '“€”' ? 0 : 1);
SCRIPT
node_modules/.bin/node run.mjs
