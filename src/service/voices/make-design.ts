import type { FamilyId } from '../../contract/families.ts';
import { PREVIEW_FORMAT } from '../../contract/values.ts';
import type { Random } from '../../effects/random.ts';
import type { EngineRegistry } from '../engine/registry.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import type { Generating } from '../speech/speak.ts';
import { generate, requireSettled } from '../speech/speak.ts';
import type {
  CandidateRecord,
  DesignRecord,
  Designs,
  DesignWriting,
  ProposedVoice,
} from './designs.ts';
import { semitones } from './listen/voice-analyser.ts';
import type { MeasuredVoice } from './natural-voices.ts';
import type { VoiceTraits } from './prompt-words.ts';
import { shapeSpeech } from './shape-speech.ts';
import type { VoiceMaker } from './voice-maker.ts';
import type { EngineSource } from './voices.ts';

/** What a design is made with. */
export interface DesignDeps {
  readonly designs: Designs;
  readonly voiceMaker: VoiceMaker;
  readonly engines: EngineRegistry;
  readonly encode: EncodeSpeech;
  readonly random: Random;
}

/** A design that is asked for. */
export interface DesignOrder {
  readonly accountId: string;
  readonly traits: VoiceTraits;
  /** One that is spoken here. */
  readonly language: string;
  readonly families: readonly FamilyId[];
  readonly previewText: string;
  readonly characters: number;
  readonly credits: number;
}

/** How many voices a design proposes. */
export const CANDIDATES = 3;

/**
 * Proposes voices and lets each speak into a file; when all are there they are charged for (docs/api/voice-design.md).
 * @throws ServiceError 400 for a text that cannot be spoken, 500 for anything else, refunded
 */
export function makeDesign(
  deps: DesignDeps,
  generating: Generating,
  order: DesignOrder,
): Promise<DesignRecord> {
  const { operation } = generating;
  return generate(generating, async (generation) => {
    const { accountId, characters, credits } = order;
    const writing = deps.designs.begin({ id: operation.id, accountId, characters, credits });
    try {
      const { signal } = generation;
      const voices = await deps.voiceMaker.listening(
        (measuring) => deps.voiceMaker.voices.of(order.language, measuring),
        signal,
      );
      const candidates = await speakCandidates(deps, { order, voices, writing, signal });
      const quotaRemaining = requireSettled(operation.commit()).quota;
      let design: DesignRecord | undefined;
      operation.complete((db) => {
        design = writing.ready(db, { quotaRemaining, candidates });
      });
      const settled = requireSettled(design);
      generation.end();
      return settled;
    } catch (error) {
      await writing.discard();
      throw error;
    }
  });
}

interface Speaking {
  readonly order: DesignOrder;
  readonly voices: readonly MeasuredVoice[];
  readonly writing: DesignWriting;
  readonly signal: AbortSignal;
}

async function speakCandidates(
  deps: DesignDeps,
  { order, voices, writing, signal }: Speaking,
): Promise<readonly CandidateRecord[]> {
  const { traits, families, previewText } = order;
  const candidates = proposeVoices(traits, voices, families).map((proposed) => ({
    ...proposed,
    id: deps.random.uuid(),
  }));
  if (candidates.length < CANDIDATES) throw new Error('no voice could be measured for a design');
  for (const candidate of candidates) {
    const output = await writing.create(candidate.id);
    try {
      await speakPreview(deps, { candidate, text: previewText, output, signal });
    } catch (error) {
      await output.abandon();
      throw error;
    }
  }
  return candidates;
}

interface Preview {
  readonly candidate: CandidateRecord;
  readonly text: string;
  readonly output: Awaited<ReturnType<DesignWriting['create']>>;
  readonly signal: AbortSignal;
}

async function speakPreview(
  { engines, encode }: DesignDeps,
  { candidate: { engine }, text, output, signal }: Preview,
): Promise<void> {
  const found = engines.find(engine.name, engine.voice);
  if (found === undefined) throw new Error(`the voice ${engine.voice} is not here any more`);
  const { voice, pitch, speed } = engine;
  const chunks = shapeSpeech(found.engine, engine).synthesize(
    { text, voice, pitch, speed },
    signal,
  );
  await writeSpeech({ output, encode, format: PREVIEW_FORMAT, gainDb: 0 }, chunks);
  signal.throwIfAborted();
}

/** How each candidate differs from what was asked for; all differ from each other whatever that is. */
const VARIATIONS = [
  { pitch: 1, speed: 1, formants: 1, prefers: 0 },
  { pitch: 0.92, speed: 0.95, formants: 0.97, prefers: 1 },
  { pitch: 1.08, speed: 1.05, formants: 1.03, prefers: 0 },
] as const;

/** How many semitones from its own pitch an engine's voice is worth its right accent, and its clear sound. */
const WORTH_OF_ACCENT = 4;
const WORTH_OF_CLARITY = 3;
const CLEAR = 0.3;
/** A second voice that is further from its own pitch than this is not worth being another one. */
const FURTHEST_SEMITONES = 8;

/**
 * Three different voices for what a prompt asks for, each of an engine voice that is near in pitch.
 * @param voices of the language; at least one
 * @param families of which they are to be, in turn; at least one
 */
function proposeVoices(
  traits: VoiceTraits,
  voices: readonly MeasuredVoice[],
  families: readonly FamilyId[],
): readonly ProposedVoice[] {
  return VARIATIONS.flatMap(({ pitch, speed, formants, prefers }, index) => {
    const medianHz = traits.medianHz * pitch;
    const [nearest, second] = byDistance(voices, { ...traits, medianHz });
    const isOther = prefers === 1 && suits(second, traits, medianHz);
    const found = isOther ? second : nearest;
    const family = families[index % families.length];
    if (found === undefined || family === undefined) return [];
    const engine = {
      name: found.engine.name,
      voice: found.voice.id,
      pitch: rounded(semitones(medianHz, found.natural.medianHz)),
      speed: rounded(traits.speed * speed),
      melody: rounded(traits.melody),
      formants: rounded(traits.formants * formants),
    };
    const description = describe(traits, engine, medianHz);
    return [{ family, language: found.voice.language, engine, description }];
  });
}

function byDistance(
  voices: readonly MeasuredVoice[],
  { medianHz, language }: Pick<VoiceTraits, 'medianHz' | 'language'>,
): readonly MeasuredVoice[] {
  const distance = (one: MeasuredVoice): number => {
    const isOther = language !== undefined && one.voice.language !== language;
    const accent = isOther ? WORTH_OF_ACCENT : 0;
    return shift(one, medianHz) + accent + (one.natural.clearShare < CLEAR ? WORTH_OF_CLARITY : 0);
  };
  return voices.toSorted((one, other) => distance(one) - distance(other));
}

/** Whether it is near enough, and has the accent where one is named. */
function suits(
  voice: MeasuredVoice | undefined,
  { language = '' }: Pick<VoiceTraits, 'language'>,
  medianHz: number,
): boolean {
  if (voice === undefined || shift(voice, medianHz) > FURTHEST_SEMITONES) return false;
  return !language.includes('-') || voice.voice.language === language;
}

function shift({ natural }: MeasuredVoice, medianHz: number): number {
  return Math.abs(semitones(medianHz, natural.medianHz));
}

function describe({ words }: VoiceTraits, engine: EngineSource, medianHz: number): string {
  const pace = engine.speed === 1 ? [] : [`${Math.round(engine.speed * 100)} % of its pace`];
  const made = [`about ${Math.round(medianHz)} Hz`, ...pace].join(', ');
  const reason =
    words.length === 0
      ? 'no word of the prompt is known here'
      : `from the words ${words.join(', ')}`;
  return `A designed voice: ${engine.voice} of ${engine.name}, ${made}; ${reason}`;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
