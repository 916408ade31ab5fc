// Writes what is derived from the contract. `--check` writes nothing and fails when a file is stale.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { generatedControls, generatedEndpoints } from './generated-contract.mjs';
import { loadTypeScript } from './load-typescript.mjs';
import { messagesPage } from './messages.mjs';
import { outputSchemas } from './output-schemas.mjs';
import { root, setUp } from './set-up.mjs';

setUp();

const { conformancePage } = await loadTypeScript('test/contract/conformance-page.ts');
const { withContractTables } = await loadTypeScript('test/contract/api-pages.ts');
// The build describes the command tree: it has loaded every command anyway.
const commandTree = JSON.parse(readFileSync(path.join(root, 'dist/tree.json'), 'utf8'));
const { manPages, referencePage } = await loadTypeScript('src/cli/manual/manual.ts');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const pages = [...manPages(commandTree, manifest.version)].map(([name, page]) => [
  `man/${name}`,
  page,
]);
// npm 10 and 11 link the pages that are listed, and ignore `directories.man`.
manifest.man = pages.map(([name]) => name);

const pagesWithTables = [
  'docs/protocol.md',
  'docs/service.md',
  ...readdirSync(path.join(root, 'docs/api')).map((name) => `docs/api/${name}`),
];

const files = new Map([
  ['src/contract/generated/speech-controls.ts', await generatedControls()],
  ['src/contract/generated/endpoints.ts', await generatedEndpoints()],
  ['src/cli/generated/output-schemas.json', await outputSchemas()],
  ['docs/conformance.md', `${conformancePage()}\n`],
  ...pagesWithTables.map((name) => [
    name,
    withContractTables(readFileSync(path.join(root, name), 'utf8')),
  ]),
  ...pages,
  ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
  ['docs/messages.md', messagesPage()],
  ['docs/reference.md', referencePage(commandTree)],
]);

const stale = [...files].filter(([name, content]) => {
  const file = path.join(root, name);
  return !existsSync(file) || readFileSync(file, 'utf8') !== content;
});

if (process.argv.includes('--check')) {
  for (const [name] of stale) process.stderr.write(`stale: ${name} (run npm run generate)\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [name, content] of stale) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
    process.stderr.write(`wrote ${name}\n`);
  }
}
