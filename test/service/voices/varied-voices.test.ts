import { describe, expect, it } from 'vitest';
import { findVariation, variedVoice } from '../../../src/service/engine/hibari/cast.ts';

describe('the id of a variation', () => {
  it('has its numbers; other ids are none', () => {
    const variation = { pitch: 0.58, stretch: 0.84, pace: 1.1, brightness: -1.5 };
    expect(findVariation(variedVoice(variation))).toEqual(variation);
    for (const id of ['varied:', 'varied:1/1/1', 'varied:a/1/1/1', 'nobody']) {
      expect(findVariation(id), id).toBeUndefined();
    }
  });
});
