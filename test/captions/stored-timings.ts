import { readFileSync } from 'node:fs';
import { DEFAULT_GAPS } from '../../src/captions/cue-shape.ts';
import type { CueShape } from '../../src/captions/cue-shape.ts';
import { readTimings } from '../../src/captions/timings.ts';
import type { Timings } from '../../src/captions/timings.ts';

/** Speech with word times of the embedded service's own voice, else of espeak-ng; the Japanese ones by phrase. */
export const STORED = ['flite', 'en', 'de', 'zh', 'ja'] as const;

export type StoredName = (typeof STORED)[number];

export const FOLDER = new URL('../fixtures/captions/', import.meta.url);

export function storedTimings(name: StoredName): Timings {
  const file = new URL(`${name}.timings.json`, FOLDER);
  return readTimings(JSON.parse(readFileSync(file, 'utf8')), file.pathname);
}

export const DEFAULT_SHAPE: CueShape = {
  maxChars: 42,
  maxLines: 2,
  maxDurationMs: 7_000,
  minDurationMs: 1_000,
  maxCps: 20,
  ...DEFAULT_GAPS,
  by: 'phrase',
};
