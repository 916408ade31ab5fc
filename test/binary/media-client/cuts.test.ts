import { describe, expect, test } from 'vitest';
import { createFixture } from '../support/fixture.ts';
import {
  CREATES,
  healthy,
  job,
  JOB_ID,
  onCreate,
  onPoll,
  onResult,
  result,
} from './media-fixture.ts';

const lengths = (video: number, audio: number) => ({
  billing_duration_seconds: Math.ceil(Math.min(video, audio)),
  video_duration_seconds: video,
  audio_duration_seconds: audio,
});

describe('an input that the result contains only in part', () => {
  test.each([
    [12, 1.4, 'video', 'the video of 12.0 s is cut to the 1.4 s of the speech; --extend keeps'],
    [4.9, 9, 'audio', 'the speech of 9.0 s is cut to the 4.9 s of the video; --extend keeps'],
  ])('is a warning of `dub create`: %d s and %d s', async (video, audio, part, warning) => {
    const done = job('dub', 'completed', lengths(video, audio));
    const fixture = await createFixture([
      onCreate('dub', job('dub', 'pending', { code: 202 })),
      onPoll('dub', done),
      onResult(result('dub')),
    ]);
    const { code, stderr, stdout } = await fixture.run([...CREATES.dub, '-o', 'a.mp4', '--json']);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(warning);
    const cut = { part, videoSeconds: video, audioSeconds: audio };
    expect(JSON.parse(stdout.toString())).toMatchObject({ cut });
  });

  test.each([
    [12, 1.4, 'shorter_input_rounded_up', 'the video of 12.0 s is cut to the 1.4 s of the audio'],
    [4.9, 9, 'shorter_input_rounded_up', 'is cut to the 4.9 s of the video; --extend repeats'],
    [12, 1.4, 'audio_rounded_up', 'the video of 12.0 s is cut to the 1.4 s of the audio'],
  ])(
    'is known to `lipsync create` at once: %d s, %d s, %s',
    async (video, audio, rule, warning) => {
      const created = { ...lengths(video, audio), billing_rule: rule, code: 202 };
      const fixture = await createFixture([
        onCreate('lipsync', job('lipsync', 'pending', created)),
      ]);
      const { code, stderr } = await fixture.run(CREATES.lipsync);
      expect(code, stderr).toBe(0);
      expect(stderr).toContain(warning);
    },
  );

  test('is a warning of `dub wait`', async () => {
    const done = job('dub', 'completed', lengths(12, 1.4));
    const fixture = await createFixture([onPoll('dub', done)]);
    const { stderr } = await fixture.run(['dub', 'wait', JOB_ID]);
    expect(stderr).toContain('the video of 12.0 s is cut');
  });
});

describe('nothing is said', () => {
  test.each([
    ['about inputs of nearly the same length', lengths(4.9, 4.85)],
    [
      'about audio for which the video repeats',
      { ...lengths(4.9, 9), billing_rule: 'audio_rounded_up' },
    ],
    ['if the service does not report the lengths', {}],
  ])('%s', async (_name, fields) => {
    const created = onCreate('lipsync', job('lipsync', 'pending', { ...fields, code: 202 }));
    const fixture = await createFixture([created, ...healthy('lipsync').slice(1)]);
    const { code, stderr, stdout } = await fixture.run([...CREATES.lipsync, '--wait', '--json']);
    expect(code, stderr).toBe(0);
    expect(stderr).not.toContain('is cut');
    expect(JSON.parse(stdout.toString())).toMatchObject({ cut: null });
  });
});
