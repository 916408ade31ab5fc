// Node 20 cannot import TypeScript; this bundles one file in memory and imports that.
import path from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './set-up.mjs';

export async function loadTypeScript(file) {
  const bundle = await rolldown({
    input: path.join(root, file),
    platform: 'node',
    external: [/^node:/],
    logLevel: 'warn',
  });
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
  await bundle.close();
  return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`);
}
