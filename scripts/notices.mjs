// The licences of everything that is bundled into dist/, from the packages themselves.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The letters of the pictures that the service draws; no package has them. */
const FONTS = fileURLToPath(new URL('../assets/fonts', import.meta.url));

/** @param {string[]} modules paths of the bundled files */
export function notices(modules) {
  const packages = new Map(modules.flatMap((file) => describe(file)).map((one) => [one.name, one]));
  const sections = [...packages.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, version, license, text }) => `## ${name} ${version} (${license})\n\n${text}`);
  return [
    '# Third-party notices',
    'foley bundles the packages below. What it installs beside itself (the speech engine, the',
    'encoders, the database) carries its own license in its own package; what that of',
    '@mediabunny/aac-encoder does not say is that its encoder is FFmpeg’s (LGPL-2.1-or-later).\n',
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
