import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { GlobalOptions } from '../../src/cli/flags/global.ts';
import { createIo } from '../../src/cli/io.ts';

const GLOBALS: GlobalOptions = { color: 'auto', input: true, pager: true, progress: true };

function terminal(): PassThrough & { readonly isTTY: boolean; readonly columns: number } {
  return Object.assign(new PassThrough(), { isTTY: true, columns: 20 });
}

async function ioWith(env: Readonly<Record<string, string>>, globals: Partial<GlobalOptions> = {}) {
  const [stdout, stderr] = [terminal(), terminal()];
  const streams = {
    stdin: () => new PassThrough(),
    stdout,
    stderr,
    stdoutIsClosed: () => false,
    stdoutIsFile: () => false,
    stdoutFile: () => undefined,
  };
  return { io: await createIo({ streams, env, globals: { ...GLOBALS, ...globals } }), stderr };
}

describe('progress and colors on a terminal', () => {
  test.each([
    [{ TERM: 'xterm' }, {}, true, true],
    [{ TERM: 'dumb' }, {}, false, false],
    [{ TERM: 'xterm', CI: 'true' }, {}, false, true],
    [{ TERM: 'xterm', NO_COLOR: '1' }, {}, true, false],
    [{ TERM: 'xterm' }, { progress: false }, false, true],
    [{ TERM: 'xterm' }, { quiet: true }, false, true],
    [{ TERM: 'xterm' }, { json: true }, false, true],
    [{ TERM: 'dumb' }, { color: 'always' }, false, true],
  ] as const)('%j %j', async (env, globals, moves, hasColors) => {
    const { io } = await ioWith(env, globals);
    expect(io.showsProgress).toBe(moves);
    expect(io.err.paint.red('x') !== 'x').toBe(hasColors);
  });
});

/** Everything that was written: from Node 26 on, `read` returns one chunk. */
function written(stream: PassThrough): string {
  const chunks: unknown[] = [];
  for (let chunk: unknown = stream.read(); chunk !== null; chunk = stream.read())
    chunks.push(chunk);
  return chunks.map(String).join('');
}

test('sentences are wrapped at the width of the terminal, lines for programs are not', async () => {
  const { io, stderr } = await ioWith({ TERM: 'xterm' });
  io.explain('These are more than twenty columns.');
  io.complain('{"error":{"code":"usage","message":"..."}}');
  expect(written(stderr)).toBe(
    'These are more than\ntwenty columns.\n{"error":{"code":"usage","message":"..."}}\n',
  );
});

test('a warning is escaped, wrapped, and printed with --quiet', async () => {
  const { io, stderr } = await ioWith({ TERM: 'xterm' }, { quiet: true });
  io.warn('foley: 3 not tried, since \u001b[2JEVIL.');
  io.notice('foley: 3 not tried');
  expect(written(stderr)).toBe('foley: 3 not tried,\nsince \\x1b[2JEVIL.\n');
});
