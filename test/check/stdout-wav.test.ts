import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { inShell } from '../harness/in-shell.ts';
import { createSandbox } from '../harness/sandbox.ts';

const UNKNOWN = 0xffff_ffff;

const COMMANDS = [
  ['tts', 'foley tts hello --local --format wav'],
  ['tts --pauses', 'foley tts "one [pause 300ms] two" --local --pauses --format wav'],
  ['jobs create', 'foley jobs create hello --local --format wav -o -'],
  ['live', 'echo "Hello there." | foley live --local --format wav -o -'],
] as const;

/** The lengths in the header of a wav file: of the RIFF chunk and of the samples. */
async function lengthsOf(file: string, skip = 0) {
  const wav = (await readFile(file)).subarray(skip);
  const data = wav.indexOf('data');
  return {
    stated: [wav.readUInt32LE(4), wav.readUInt32LE(data + 4)],
    real: [wav.length - 8, wav.length - data - 8],
  };
}

test.each(COMMANDS)('%s states the lengths of wav in a file', async (_name, command) => {
  const sandbox = await createSandbox();
  await inShell(`${command} > talk.wav`, { sandbox });
  const { real, stated } = await lengthsOf(path.join(sandbox.out, 'talk.wav'));
  expect(stated).toEqual(real);
});

// The audio of a job has its lengths already.
const STREAMS = COMMANDS.filter(([name]) => name !== 'jobs create');

test.each(STREAMS)('%s states unknown lengths of wav in a pipe', async (_name, command) => {
  const sandbox = await createSandbox();
  await inShell(`${command} | cat > talk.wav`, { sandbox });
  const { stated } = await lengthsOf(path.join(sandbox.out, 'talk.wav'));
  expect(stated).toEqual([UNKNOWN, UNKNOWN]);
});

test('wav after other bytes of a file has its lengths, and a file that is appended to keeps its bytes', async () => {
  const sandbox = await createSandbox();
  await inShell(`(printf ABCD; ${COMMANDS[0][1]}) > after.wav`, { sandbox });
  const after = await lengthsOf(path.join(sandbox.out, 'after.wav'), 4);
  expect(after.stated).toEqual(after.real);
  await inShell(`printf ABCD > old.wav; ${COMMANDS[0][1]} >> old.wav`, { sandbox });
  const appended = await lengthsOf(path.join(sandbox.out, 'old.wav'), 4);
  expect(appended).toEqual({ stated: [UNKNOWN, UNKNOWN], real: after.real });
});
