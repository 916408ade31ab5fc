import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Sandbox } from './sandbox.ts';

/** An environment in which a command notes its largest resident size, in bytes, when it ends. */
export async function withPeak({ harness }: Sandbox) {
  const script = path.join(harness, 'peak.cjs');
  const notes = path.join(harness, 'peak');
  await writeFile(
    script,
    // On Linux a process inherits the peak of its parent, but not that of its own memory.
    `const files = require('node:fs');
    const ownPeak = () =>
      process.platform === 'linux'
        ? /^VmHWM:\\s+(\\d+) kB$/m.exec(files.readFileSync('/proc/self/status', 'utf8'))[1]
        : process.resourceUsage().maxRSS;
    process.on('exit', () => {
      files.writeFileSync(process.env.PEAK_NOTES, String(ownPeak() * 1024));
    });`,
  );
  return {
    env: { NODE_OPTIONS: `--require "${script}"`, PEAK_NOTES: notes },
    peak: async () => Number(await readFile(notes, 'utf8')),
  };
}
