import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { pause } from '../../fault-server/steps.ts';
import type { Step } from '../../fault-server/steps.ts';
import { outputOf, createFixture, VOICE } from '../../binary/support/fixture.ts';
import { joinAs } from '../../audio/join/parts.ts';
import { MODEL, PART_TEXTS, partsService, soundsOf } from './parts-service.ts';

/** The parts, with pauses before, between and after them. */
const SILENCES = [250, 800, 1_500, 60, 333, 2_000];
const TEXT = PART_TEXTS.map((part, index) => `[pause ${SILENCES[index]}ms] ${part}`)
  .concat('[pause 1.5s] … [pause 500ms]')
  .join('\n\n');

async function pausedFixture(
  format: 'mp3' | 'wav' | 'ogg',
  onCreate?: (part: number) => readonly Step[] | undefined,
) {
  const sounds = await soundsOf(format, 'file');
  const service = partsService({ format, sounds, ...(onCreate && { onCreate }) });
  const fixture = await createFixture(service.rules);
  await writeFile(path.join(fixture.sandbox.out, 'book.txt'), TEXT);
  const files = ['-f', 'book.txt', '--pauses', '-v', VOICE, '-m', MODEL, '-o', `book.${format}`];
  return {
    ...fixture,
    ...service,
    args: ['tts', ...files, '--max-retries', '0'],
    whole: (await joinAs(format, [...sounds.values()], { silences: SILENCES })).whole,
  };
}

describe.each(['mp3', 'wav', 'ogg'] as const)('a text with pauses as %s', (format) => {
  test('has the silences between its parts', async () => {
    const fixture = await pausedFixture(format);
    const result = await fixture.run([...fixture.args, '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, `book.${format}`)).toEqual(fixture.whole);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({ parts: PART_TEXTS.length });
    expect(fixture.charged.size).toBe(PART_TEXTS.length);
  });

  test('keeps the silences when it is killed and recovered', async () => {
    let isHeld = true;
    const fixture = await pausedFixture(format, (part) =>
      part === 3 && isHeld ? [pause()] : undefined,
    );
    const args = [...fixture.args, '--idempotency-key', 'mine'];
    const running = await fixture.start(args);
    await fixture.server.paused();
    running.signal('SIGKILL');
    await running.done;
    isHeld = false;
    const result = await fixture.run(['recover']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox, `book.${format}`)).toEqual(fixture.whole);
    expect(fixture.charged.size).toBe(PART_TEXTS.length);
    // The keys of the parts derive from the key of the command.
    expect((await fixture.run(args)).code).toBe(0);
    expect(fixture.charged.size).toBe(PART_TEXTS.length);
  });
});
