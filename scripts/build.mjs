// Bundles the sources into dist/ (rolldown.config.mjs). The old build stays until the new one is whole.
import { existsSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { rolldown } from 'rolldown';
import config from '../rolldown.config.mjs';
import { notices } from './notices.mjs';
import { root } from './set-up.mjs';

const started = new Date();
const next = path.join(root, `dist-${process.pid}`);
process.chdir(root);
try {
  const modules = [];
  for (const { output, ...input } of config) {
    const bundle = await rolldown({ ...input, logLevel: 'warn' });
    const { output: chunks } = await bundle.write(Object.assign({}, output, { dir: next }));
    await bundle.close();
    modules.push(...chunks.flatMap((chunk) => chunk.moduleIds ?? []));
  }
  writeFileSync(path.join(next, 'THIRD-PARTY-NOTICES.md'), notices(modules));
  const require = createRequire(import.meta.url);
  const { describedTree, grammarOf, renderAllHelp } = require(path.join(next, 'describe-tree.cjs'));
  writeFileSync(path.join(next, 'help.json'), JSON.stringify(await renderAllHelp()));
  const described = await describedTree();
  writeFileSync(path.join(next, 'tree.json'), JSON.stringify(described));
  writeFileSync(path.join(next, 'completion.json'), JSON.stringify(grammarOf(described)));
  const stamp = path.join(next, '.stamp');
  writeFileSync(stamp, '');
  // What was changed while the build ran is not in it.
  utimesSync(stamp, started, started);
  const old = `${next}-old`;
  if (existsSync('dist')) renameSync('dist', old);
  renameSync(next, 'dist');
  rmSync(old, { recursive: true, force: true });
} finally {
  rmSync(next, { recursive: true, force: true });
}
