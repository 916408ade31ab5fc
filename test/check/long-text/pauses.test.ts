import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { pause } from '../../fault-server/steps.ts';
import type { Step } from '../../fault-server/steps.ts';
import { outputOf, scene, VOICE } from '../../binary/support/scene.ts';
import { join } from '../../audio/join/parts.ts';
import { MODEL, PART_TEXTS, partsService, soundsOf } from './parts-service.ts';

/** The parts, with pauses before, between and after them. */
const SILENCES = [250, 800, 1_500, 60, 333, 2_000];
const TEXT = PART_TEXTS.map((part, index) => `[pause ${SILENCES[index]}ms] ${part}`)
  .concat('[pause 1.5s] … [pause 500ms]')
  .join('\n\n');

async function pausedScene(
  format: 'mp3' | 'wav' | 'ogg',
  onCreate?: (part: number) => readonly Step[] | undefined,
) {
  const sounds = await soundsOf(format, 'file');
  const service = partsService({ format, sounds, ...(onCreate && { onCreate }) });
  const stage = await scene(service.rules);
  await writeFile(path.join(stage.box.out, 'book.txt'), TEXT);
  const files = ['-f', 'book.txt', '--pauses', '-v', VOICE, '-m', MODEL, '-o', `book.${format}`];
  return {
    ...stage,
    ...service,
    args: ['tts', ...files, '--max-retries', '0'],
    whole: join(format, [...sounds.values()], { silences: SILENCES }),
  };
}

describe.each(['mp3', 'wav', 'ogg'] as const)('a text with pauses as %s', (format) => {
  test('has the silences between its parts', async () => {
    const stage = await pausedScene(format);
    const result = await stage.run([...stage.args, '--json']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(stage.box, `book.${format}`)).toEqual(stage.whole);
    expect(JSON.parse(result.stdout.toString())).toMatchObject({ parts: PART_TEXTS.length });
    expect(stage.charged.size).toBe(PART_TEXTS.length);
  });

  test('keeps the silences when it is killed and recovered', async () => {
    let isHeld = true;
    const stage = await pausedScene(format, (part) =>
      part === 3 && isHeld ? [pause()] : undefined,
    );
    const args = [...stage.args, '--idempotency-key', 'mine'];
    const running = await stage.start(args);
    await stage.server.paused();
    running.signal('SIGKILL');
    await running.done;
    isHeld = false;
    const result = await stage.run(['recover']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(stage.box, `book.${format}`)).toEqual(stage.whole);
    expect(stage.charged.size).toBe(PART_TEXTS.length);
    // The keys of the parts derive from the key of the command.
    expect((await stage.run(args)).code).toBe(0);
    expect(stage.charged.size).toBe(PART_TEXTS.length);
  });
});
