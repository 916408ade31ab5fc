import type { FamilyId } from '../../contract/families.ts';
import { PREVIEW_FORMAT } from '../../contract/values.ts';
import type { Random } from '../../effects/random.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { EncodeSpeech } from '../speech/encode.ts';
import type { Generating } from '../speech/speak.ts';
import { generate, requireSettled } from '../speech/speak.ts';
import type { CandidateRecord, DesignRecord, Designs, DesignWriting } from './designs.ts';
import { rounded } from './measured-voices.ts';
import type { MeasuredVoices } from './measured-voices.ts';
import type { VoiceTraits } from './prompt-words.ts';
import { MADE_FAMILY } from './voice-maker.ts';
import type { EngineSource } from './voices.ts';

/** What a design is made with. */
export interface DesignDeps {
  readonly designs: Designs;
  readonly voices: MeasuredVoices;
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
      const candidates = await speakCandidates(deps, { order, writing, signal: generation.signal });
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

/** How each candidate differs from what was asked for. */
const VARIATIONS = [
  { pitch: 1, speed: 1 },
  { pitch: 0.92, speed: 0.95 },
  { pitch: 1.08, speed: 1.05 },
] as const;

/** How many voices a design proposes. */
export const CANDIDATES = VARIATIONS.length;

interface Speaking {
  readonly order: DesignOrder;
  readonly writing: DesignWriting;
  readonly signal: AbortSignal;
}

/** Sets the engine voices that are nearest in pitch to what the words ask for, and stores their previews. */
async function speakCandidates(
  { voices, encode, random }: DesignDeps,
  { order, writing, signal }: Speaking,
): Promise<readonly CandidateRecord[]> {
  const { traits, language, families, previewText: text } = order;
  const candidates: CandidateRecord[] = [];
  for (const [index, variation] of VARIATIONS.entries()) {
    const medianHz = traits.medianHz * variation.pitch;
    const nearest = await voices.nearest({ medianHz, language }, signal);
    const engine = { ...nearest.engine, speed: rounded(traits.speed * variation.speed) };
    const { voice, pitch, speed } = engine;
    const id = random.uuid();
    const output = await writing.create(id);
    try {
      const chunks = nearest.speaker.synthesize({ text, voice, pitch, speed }, signal);
      await writeSpeech({ output, encode, format: PREVIEW_FORMAT, gainDb: 0 }, chunks);
      signal.throwIfAborted();
    } catch (error) {
      await output.abandon();
      throw error;
    }
    const family = families[index % families.length] ?? MADE_FAMILY;
    const description = describe(traits, engine, medianHz);
    candidates.push({ id, family, language: nearest.language, engine, description });
  }
  return candidates;
}

function describe({ words }: VoiceTraits, engine: EngineSource, medianHz: number): string {
  const source = `the nearest engine voice (${engine.voice} of ${engine.name})`;
  const changed = `its pitch and speed changed to about ${Math.round(medianHz)} Hz and ${Math.round(engine.speed * 100)} %`;
  const reason =
    words.length === 0
      ? 'no word of the prompt is known here'
      : `from the words ${words.join(', ')}`;
  return `Simulated: ${source} with ${changed}; ${reason}`;
}
