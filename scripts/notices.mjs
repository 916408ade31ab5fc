// The licences of everything that is bundled into dist/, from the packages themselves.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** @param {string[]} modules paths of the bundled files */
export function notices(modules) {
  const packages = new Map(modules.flatMap((file) => describe(file)).map((one) => [one.name, one]));
  const sections = [...packages.values()]
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, version, license, text }) => `## ${name} ${version} (${license})\n\n${text}`);
  return [
    '# Third-party notices',
    'foley bundles the packages below. What it installs beside itself (the speech engine, the',
    'encoders, the database) carries its own license in its own package.\n',
    ...sections,
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
  const name = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  if (name === undefined || !existsSync(path.join(folder, name))) return '(no license file)\n';
  const lines = readFileSync(path.join(folder, name), 'utf8').trim().split(/\r?\n/);
  return `${lines.map((line) => `    ${line}`.trimEnd()).join('\n')}\n`;
}
