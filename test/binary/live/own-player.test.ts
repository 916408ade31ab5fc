import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { errorLine } from '../../harness/error-line.ts';
import { requirePosix } from '../../harness/posix.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import { spokenAudio } from '../../realtime/segment-audio.ts';
import { live, made } from './spoken.ts';

async function playWith(player: string, firstLine: string) {
  requirePosix('programs that begin with #!');
  const sandbox = await createSandbox();
  await mkdir(path.join(sandbox.out, 'bin'));
  for (const file of ['play.sh', 'bin/play.sh']) {
    const script = `${firstLine}\ncat > heard.mp3\n`;
    await writeFile(path.join(sandbox.out, file), script, { mode: 0o755 });
  }
  const server = await startScriptedServer();
  return { server, result: await live(server, ['Hi.', '--json', '--player', player], { sandbox }) };
}

test.each(['./play.sh', 'bin/play.sh', './bin/../play.sh'])(
  'the player %s of the current folder plays',
  async (player) => {
    const { result } = await playWith(player, '#!/bin/sh');
    expect(result.code).toBe(0);
    expect((await made(result, 'heard.mp3')).equals(spokenAudio(['Hi.']))).toBe(true);
  },
);

test.each([
  ['#!/no/such/shell', '"/no/such/shell", which is missing'],
  ['#!/bin/sh\r', '"/bin/sh\\r", which is missing'],
])(
  'a player that begins with %j is refused before anything is sent',
  async (firstLine, problem) => {
    const { result, server } = await playWith('./play.sh', firstLine);
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 2, billed: 'no' });
    expect(error.message).toContain(problem);
    expect(server.handshakes).toEqual([]);
  },
);
