import path from 'node:path';
import type { CaptionTarget } from '../src/captions/caption-files.ts';
import type { CueShape } from '../src/captions/cue-shape.ts';
import type { CaptionPlan } from './tts-captions.ts';

/** The captions of a text that is spoken in parts, as they are written down with its plan. */
export function captionsRecord(captions: CaptionPlan | undefined, cwd: string): unknown {
  if (captions === undefined) return undefined;
  const targets = captions.targets.map((target) => {
    return { ...target, path: path.resolve(cwd, target.path) };
  });
  return { ...captions, targets };
}

/** What {@link captionsRecord} made; undefined for what is none. */
export function parseCaptionsRecord(value: unknown): CaptionPlan | undefined {
  const { shape, targets } = fieldsOf(value);
  if (!Array.isArray(targets) || !targets.every((one) => isTarget(one))) return undefined;
  return isShape(shape) ? { targets, shape } : undefined;
}

function isTarget(value: unknown): value is CaptionTarget {
  const { format, path: file } = fieldsOf(value);
  return typeof file === 'string' && (format === 'srt' || format === 'vtt' || format === 'json');
}

function isShape(value: unknown): value is CueShape {
  const fields = fieldsOf(value);
  const counts = ['maxChars', 'maxLines', 'maxDurationMs', 'minDurationMs'];
  const areCounts = counts.every((name) => typeof fields[name] === 'number');
  const { by } = fields;
  return areCounts && (by === 'phrase' || by === 'sentence' || by === 'word');
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}
