// Bundles the sources into dist/ (rolldown.config.mjs).
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import config from '../rolldown.config.mjs';
import { root } from './set-up.mjs';

const started = new Date();
process.chdir(root);
rmSync('dist', { recursive: true, force: true });
const { output, ...input } = config;
const bundle = await rolldown({ ...input, logLevel: 'warn' });
await bundle.write(output);
await bundle.close();
mkdirSync('dist', { recursive: true });
writeFileSync(path.join('dist', '.stamp'), started.toISOString());
