import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Sandbox } from '../../harness/sandbox.ts';

/**
 * An environment in which a command is killed with SIGKILL as soon as it has written its nth record about a purchase: a
 * write to a journal (`.jsonl`).
 */
export async function killedAfter({ harness }: Sandbox, nth: number) {
  const script = path.join(harness, 'killed.cjs');
  const notes = path.join(harness, 'killed-after');
  await writeFile(script, SCRIPT);
  await writeFile(notes, '');
  return {
    env: {
      NODE_OPTIONS: `--require "${script}"`,
      KILLED_AFTER: String(nth),
      KILLED_NOTES: notes,
    },
    /** What the last record said: the state of the purchase. */
    lastState: async () => /.*$/.exec((await readFile(notes, 'utf8')).trimEnd())?.[0] ?? '',
  };
}

const SCRIPT = `
const fs = require('node:fs');
const { open, write, writev } = fs;
const journals = new Set();
let count = 0;
// Node's promisify looks at hidden properties of these functions.
const replace = (name, original, replacement) => {
  fs[name] = Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(original));
};
const afterRecord = (bytes) => {
  const text = String(bytes);
  const states = [...text.matchAll(/"(?:state|event)":"([a-z-]+)"/g)].map(([, state]) => state);
  fs.appendFileSync(process.env.KILLED_NOTES, (states.join(' ') || text.trim().slice(0, 60)) + '\\n');
  count += 1;
  if (count === Number(process.env.KILLED_AFTER)) process.kill(process.pid, 'SIGKILL');
};
replace('open', open, (file, ...rest) => {
  const done = rest.pop();
  return open(file, ...rest, (error, fd) => {
    journals.delete(fd);
    if (fd !== undefined && /\\.jsonl$/.test(String(file))) journals.add(fd);
    done(error, fd);
  });
});
const noting = (original, bytesOf) => (fd, data, ...rest) => {
  const done = rest.pop();
  return original(fd, data, ...rest, (error, ...results) => {
    if (!error && journals.has(fd)) afterRecord(bytesOf(data));
    done(error, ...results);
  });
};
replace('write', write, noting(write, (data) => data));
replace('writev', writev, noting(writev, (data) => Buffer.concat(data)));
`;
