// The licences of everything that is bundled into dist/, from the packages themselves.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The letters of the pictures that the service draws; no package has them. */
const FONTS = fileURLToPath(new URL('../assets/fonts', import.meta.url));

/** Libraries inside files of dist/packages whose npm packages do not state their licenses. */
const COMPILED = [
  ['mp3.wasm', 'LAME', 'LGPL-2.0-or-later', 'https://lame.sourceforge.io'],
  ['mpg123-decoder.mjs', 'libmpg123', 'LGPL-2.1-only', 'https://www.mpg123.de'],
  ['aac-encoder.mjs', 'FFmpeg (its AAC encoder)', 'LGPL-2.1-or-later', 'https://ffmpeg.org'],
  ['aac-decoder.wasm.br', 'FFmpeg (its audio decoders)', 'LGPL-2.1-or-later', 'https://ffmpeg.org'],
  ['h264-mp4-encoder.mjs', 'mp4v2', 'MPL-1.1', 'https://github.com/enzo1982/mp4v2'],
  ['h264-mp4-encoder.mjs', 'minih264', 'CC0-1.0', 'https://github.com/lieff/minih264'],
  ['ogg.wasm', 'libvorbis and libogg', 'BSD-3-Clause', 'https://xiph.org/vorbis'],
  ['ogg-vorbis-decoder.mjs', 'libvorbis and libogg', 'BSD-3-Clause', 'https://xiph.org/vorbis'],
  ['flac-encoder.mjs', 'libFLAC', 'BSD-3-Clause', 'https://xiph.org/flac'],
  ['flac-decoder.mjs', 'libFLAC', 'BSD-3-Clause', 'https://xiph.org/flac'],
  ['opusscript_native_wasm.wasm', 'libopus', 'BSD-3-Clause', 'https://opus-codec.org'],
  ['ogg-opus-decoder.mjs', 'libopus', 'BSD-3-Clause', 'https://opus-codec.org'],
  ['sonic.wasm', 'sonic', 'Apache-2.0', 'https://github.com/waywardgeek/sonic'],
  ['jq.wasm.br', 'jq', 'MIT', 'https://github.com/jqlang/jq'],
  ['jq.wasm.br', 'Oniguruma', 'BSD-2-Clause', 'https://github.com/kkos/oniguruma'],
  ['jq.wasm.br', 'decNumber', 'ICU', 'https://speleotrove.com/decimal'],
  ['speex-resampler-simd.wasm', 'libspeexdsp', 'BSD-3-Clause', 'https://speex.org'],
];

/** @param {string[]} modules paths of the bundled files */
export function notices(modules) {
  const packages = new Map(modules.flatMap((file) => describe(file)).map((one) => [one.name, one]));
  const sections = [...packages.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, version, license, text }) => `## ${name} ${version} (${license})\n\n${text}`);
  return [
    '# Third-party notices',
    'foley bundles the packages below. The packages that npm installs beside foley carry their own licenses: the database',
    'libsql (MIT), and sharp (Apache-2.0), whose library libvips is under the LGPL-3.0-or-later (source:',
    'https://github.com/libvips/libvips).\n',
    'The data in assets/voice is under the Apache-2.0 and MIT licenses: assets/voice/LICENSE and assets/voice/NOTICE.\n',
    '## Libraries in dist/packages\n',
    'A user may replace each of these files by another build of the same library. The texts of the LGPL and of the MPL 1.1',
    'are in assets/licenses.\n',
    '| file | library | license | source |',
    '| --- | --- | --- | --- |',
    ...COMPILED.map((row) => `| ${row.join(' | ')} |`),
    '',
    ...sections,
    `## Foley Sans, a subset of Inter SemiBold (OFL-1.1)\n\n${licenseText(FONTS)}`,
  ].join('\n');
}

function describe(file) {
  const match = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/.exec(file);
  if (match === null) return [];
  const [, folder] = match;
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return [
    {
      name: manifest.name,
      version: manifest.version,
      license: manifest.license ?? 'see below',
      text: licenseText(folder),
    },
  ];
}

function licenseText(folder) {
  const name = readdirSync(folder).find((entry) => /^(licen[cs]e|copying|ofl)/i.test(entry));
  if (name === undefined || !existsSync(path.join(folder, name))) return '(no license file)\n';
  const lines = readFileSync(path.join(folder, name), 'utf8').trim().split(/\r?\n/);
  return `${lines.map((line) => `    ${line}`.trimEnd()).join('\n')}\n`;
}
