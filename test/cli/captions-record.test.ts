import { expect, test } from 'vitest';
import { parseCaptionsRecord } from '../../commands/shared/speech/captions.ts';

const TARGETS = [{ format: 'srt', path: '/talk.srt' }];
/** The limits that earlier versions recorded. */
const SHAPE = {
  maxChars: 42,
  maxLines: 2,
  maxDurationMs: 7_000,
  minDurationMs: 1_000,
  by: 'phrase',
};

test('captions that an earlier version recorded get the default of each newer limit', () => {
  expect(parseCaptionsRecord({ targets: TARGETS, shape: SHAPE })).toEqual({
    targets: TARGETS,
    edits: [],
    shape: { ...SHAPE, maxCps: 20, gapMs: 84, minPauseMs: 500 },
  });
});

test('captions with an invalid limit are not parsed', () => {
  const shape = { ...SHAPE, maxChars: 'many' };
  expect(parseCaptionsRecord({ targets: TARGETS, shape })).toBeUndefined();
});
