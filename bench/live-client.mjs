// The client of realtime speech as a module of its own, for the bench that drives it.
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const here = path.dirname(fileURLToPath(import.meta.url));

/** The client's own modules, compiled as the build compiles them. */
export async function clientOf(scratch) {
  const sources = ['conversation', 'state', 'websocket'].map(
    (name) => `export * from ${JSON.stringify(path.join(here, '../src/live', `${name}.ts`))};`,
  );
  const input = path.join(here, 'live-modules.ts');
  const together = {
    name: 'together',
    resolveId: (id) => (id === input ? id : null),
    load: (id) => (id === input ? sources.join('\n') : null),
  };
  const build = await rolldown({ input, platform: 'node', plugins: [together] });
  const file = path.join(scratch, 'client.cjs');
  await build.write({ file, format: 'cjs', codeSplitting: false });
  return createRequire(import.meta.url)(file);
}
