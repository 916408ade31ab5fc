import type { RecordedRequest } from './recorded-request.ts';
import type { TinyAudio } from './tiny-audio.ts';

export interface Speech {
  readonly text: string;
  readonly format: keyof TinyAudio;
}

/** Why a request is refused: 404 for a voice that is not there, else 400. */
export interface Refusal {
  readonly status: 400 | 404;
  readonly reason: string;
}

interface KnownVoice {
  readonly voiceId: string;
  readonly modelIds: readonly string[];
}

interface KnownModel {
  readonly id: string;
  readonly maxTextLength: number;
  readonly outputFormats: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Every control of section 4.1 with the range of a number, the longest text, or a boolean. */
const CONTROLS: Readonly<Record<string, readonly [number, number] | number | 'boolean'>> = {
  speed: [0.5, 2],
  volume: [-20, 20],
  pitch: [-12, 12],
  stability: [0, 1.5],
  similarity: [0, 1.5],
  language: 64,
  emotion: 64,
  instruction: 1600,
  textNormalization: 'boolean',
  filterEmoji: 'boolean',
};

const FIELDS = new Set(['text', 'voiceId', 'modelId', 'format', ...Object.keys(CONTROLS)]);

/**
 * Reads a v3 speech request as strictly as the spec has it (section 4.1), or says why it is
 * refused. Written from the spec alone, so that it can disagree with the program under test.
 */
export function readSpeechRequest(
  request: RecordedRequest,
  voices: readonly KnownVoice[],
  models: readonly KnownModel[],
): Speech | Refusal {
  const fields = parse(request);
  if (fields === undefined) {
    return refused('The body must be a JSON object.');
  }
  const unknown = Object.keys(fields).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) {
    return refused(`There is no property ${unknown}.`);
  }
  const bad = Object.entries(CONTROLS).find(([name, rule]) => !isControl(fields[name], rule));
  if (bad !== undefined) {
    return refused(`The value of ${bad[0]} is not allowed.`);
  }
  return readSpeech(fields, voices, models);
}

function refused(reason: string): Refusal {
  return { status: 400, reason };
}

function parse(request: RecordedRequest): Fields | undefined {
  if (!(request.header('content-type') ?? '').startsWith('application/json')) {
    return undefined;
  }
  try {
    const body: unknown = JSON.parse(request.body.toString());
    return typeof body === 'object' && body !== null ? { ...body } : undefined;
  } catch {
    return undefined;
  }
}

function isControl(value: unknown, rule: readonly [number, number] | number | 'boolean'): boolean {
  if (value === undefined) {
    return true;
  }
  if (rule === 'boolean') {
    return typeof value === 'boolean';
  }
  if (typeof rule === 'number') {
    return typeof value === 'string' && Array.from(value).length <= rule;
  }
  return typeof value === 'number' && value >= rule[0] && value <= rule[1];
}

function readSpeech(
  { text, voiceId, modelId, format = 'mp3' }: Fields,
  voices: readonly KnownVoice[],
  models: readonly KnownModel[],
): Speech | Refusal {
  const voice = voices.find((one) => one.voiceId === voiceId);
  if (voice === undefined) {
    return { status: 404, reason: 'There is no such voice.' };
  }
  const id = modelId ?? voice.modelIds[0];
  const model = models.find((one) => one.id === id && voice.modelIds.includes(one.id));
  if (model === undefined) {
    return refused('The voice does not have this model.');
  }
  if (typeof text !== 'string' || text === '' || Array.from(text).length > model.maxTextLength) {
    return refused('The text is missing, empty or too long.');
  }
  if (!isFormat(format) || !model.outputFormats.includes(format)) {
    return refused('The model does not have this format.');
  }
  return { text, format };
}

function isFormat(value: unknown): value is keyof TinyAudio {
  return value === 'mp3' || value === 'ogg' || value === 'wav';
}
