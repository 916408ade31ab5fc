import { PREVIEW_FORMAT } from '../../contract/audio-formats.ts';
import type { FamilyId } from '../../contract/families.ts';
import type { Random } from '../../effects/random.ts';
import { writeSpeech } from '../audio-files/write-speech.ts';
import { shapeSpeech } from '../catalogue/shape-speech.ts';
import type { EngineRegistry } from '../engine/registry.ts';
import type { MeasuredVoice } from '../personal-voices/natural-voices.ts';
import type { VoiceMaker } from '../personal-voices/voice-maker.ts';
import type { EncodeSpeech } from '../synthesis/encode.ts';
import type { Generating } from '../synthesis/speak.ts';
import { generate, requireSettled } from '../synthesis/speak.ts';
import type { CandidateRecord, DesignRecord } from './design-records.ts';
import type { Designs, DesignWriting } from './designs.ts';
import type { VoiceTraits } from './prompt-words.ts';
import { proposeVoices } from './propose-voices.ts';

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
 * Proposes voices and lets each speak into a file; when all are there they are charged for (spec section
 * 4.6).
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
