// Bundles the sources into dist/ (rolldown.config.mjs).
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { rolldown } from 'rolldown';
import config from '../rolldown.config.mjs';
import { notices } from './notices.mjs';
import { root } from './set-up.mjs';

const started = new Date();
process.chdir(root);
rmSync('dist', { recursive: true, force: true });
const { output, ...input } = config;
const bundle = await rolldown({ ...input, logLevel: 'warn' });
const { output: chunks } = await bundle.write(output);
await bundle.close();
const modules = chunks.flatMap((chunk) => chunk.moduleIds ?? []);
writeFileSync(path.join('dist', 'THIRD-PARTY-NOTICES.md'), notices(modules));
const { renderAllHelp } = createRequire(import.meta.url)('../dist/all-help.cjs');
writeFileSync(path.join('dist', 'help.json'), JSON.stringify(await renderAllHelp()));
writeFileSync(path.join('dist', '.stamp'), started.toISOString());
