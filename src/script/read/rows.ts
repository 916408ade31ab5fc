import { inputBytes, linesOf } from '../../batch/plan/inputs.ts';
import {
  controlsIn,
  invalidValue,
  parseJsonObject,
  refuseUnknownKeys,
} from '../../batch/plan/json-line.ts';
import { openTable } from '../../batch/plan/table.ts';
import { jsonFaultOffset } from '../../config/json-file.ts';
import { PAUSE_MAX_MS, RECORDING_MAX_MS } from '../../contract/recording-limits.ts';
import { SPEECH_CONTROLS } from '../../contract/generated/speech-controls.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { display } from '../../text/display.ts';
import { durationMs, durationText } from '../../text/duration.ts';
import { clockMs } from '../../text/formats/clock.ts';
import type { DraftLine, ScriptPosition } from '../script.ts';
import { describePlace, placeFailure } from '../script.ts';
import { lineTexts } from './line-texts.ts';

type PlaceOf = (key: string) => ScriptPosition;

const TEXT_KEYS = ['id', 'speaker', 'voiceId', 'modelId', 'chapter'] as const;
const KEYS = [...TEXT_KEYS, 'text', 'start', 'pauseAfter', ...Object.keys(SPEECH_CONTROLS)];

/**
 * Reads a script in JSON Lines or CSV.
 * @param onNotice called with a sentence that names unused columns of a CSV file
 * @throws Failure of kind `usage` with line and column
 */
export async function readRows(
  file: string,
  format: 'csv' | 'jsonl',
  bytes: Uint8Array,
  onNotice: (sentence: string) => void,
): Promise<readonly DraftLine[]> {
  const input = inputBytes(file, bytes);
  const lines: DraftLine[] = [];
  if (format === 'csv') {
    const { ignored, rows } = await openTable(input, 'text', KEYS);
    if (ignored.length > 0) {
      const names = ignored.map((name) => `"${display(name)}"`).join(', ');
      onNotice(`${display(file)}: columns not used: ${names}`);
    }
    for await (const { fields, line } of rows()) {
      lines.push(lineOf(fields, (column) => ({ file, line, column })));
    }
  } else {
    for await (const { number: line, text: row } of linesOf(input)) {
      const placeOf = (key: string): ScriptPosition => ({ file, line, column: columnOf(key, row) });
      const fault = jsonFaultOffset(row);
      if (fault !== undefined) {
        const column = countCodePoints(row.slice(0, fault)) + 1;
        throw placeFailure({ file, line, column }, 'this line is not valid JSON');
      }
      const fields = parseJsonObject(row, describePlace({ file, line, column: 1 }));
      refuseUnknownKeys(fields.keys(), KEYS, (key) => describePlace(placeOf(key)));
      lines.push(lineOf(fields, placeOf));
    }
  }
  return lines;
}

function columnOf(key: string, row: string): number {
  const index = row.indexOf(JSON.stringify(key));
  return countCodePoints(row.slice(0, Math.max(0, index))) + 1;
}

function lineOf(fields: ReadonlyMap<string, unknown>, placeOf: PlaceOf): DraftLine {
  const texts = TEXT_KEYS.flatMap((key) => {
    const value = textIn(fields, key, placeOf);
    return value === undefined ? [] : [[key, value]];
  });
  const text = textIn(fields, 'text', placeOf);
  if (text === undefined) throw placeFailure(placeOf('text'), 'the text is missing');
  const startMs = timeIn(fields, 'start', RECORDING_MAX_MS, placeOf);
  const pauseAfterMs = timeIn(fields, 'pauseAfter', PAUSE_MAX_MS, placeOf);
  return {
    place: placeOf('text'),
    ...Object.fromEntries(texts),
    ...lineTexts(text.replaceAll(/\s+/g, ' '), placeOf('text')),
    controls: controlsIn(fields, (key) => describePlace(placeOf(key))),
    ...(startMs === undefined ? {} : { startMs }),
    ...(pauseAfterMs === undefined ? {} : { pauseAfterMs }),
  };
}

function textIn(
  fields: ReadonlyMap<string, unknown>,
  key: string,
  placeOf: PlaceOf,
): string | undefined {
  const value = fields.get(key);
  if (value === undefined) return undefined;
  if (typeof value !== 'string') {
    throw invalidValue(describePlace(placeOf(key)), key, value, 'a text');
  }
  if (value.trim() === '') throw placeFailure(placeOf(key), `${key} is empty`);
  return value.trim();
}

function timeIn(
  fields: ReadonlyMap<string, unknown>,
  key: string,
  maximumMs: number,
  placeOf: PlaceOf,
): number | undefined {
  const value = fields.get(key);
  if (value === undefined) return undefined;
  const time = typeof value === 'number' ? `${value}` : typeof value === 'string' ? value : '';
  const ms = durationMs(time) ?? clockMs(time);
  if (ms !== undefined && ms <= maximumMs) return ms;
  const allowed =
    ms === undefined
      ? 'a time such as 1.5 (seconds), 800ms or 00:01:02.500'
      : `at most ${durationText(maximumMs)}`;
  throw invalidValue(describePlace(placeOf(key)), key, value, allowed);
}
