import { BUILT_IN_ENGINE } from '../../contract/engine.ts';
import type { FamilyId } from '../../contract/families.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import type { Clock } from '../../system/clock.ts';
import type { Random } from '../../system/random.ts';
import type { Variation } from '../engine/hibari/cast.ts';
import { REFERENCE_VOICE, variedVoice } from '../engine/hibari/cast.ts';
import type { EngineRegistry, SpeechEngine } from '../engine/speech-engine.ts';
import { engineMessageOf } from '../engine/speech-engine.ts';
import type { TemporaryFolder, UploadedFile } from '../http/multipart-form.ts';
import { showText } from '../http/validation.ts';
import { invalidRequest } from '../service-error.ts';
import type { HearRecordings } from './listen/listening-thread.ts';
import type { HeardVoice } from './listen/pitch-meter.ts';
import type { PersonalVoice } from './personal-voices.ts';
import type { EngineSource } from './catalogue-voice.ts';
import { BUILT_IN_LANGUAGE } from './catalogue-voice.ts';

/** The fields of a request to create a voice, without the audio files. */
export interface VoiceOptions {
  readonly name: string;
  readonly description: string;
  readonly visibility: VoiceVisibility;
  /** Codes of the requested languages, the preferred one first; if empty, English is used. */
  readonly languages: readonly string[];
  /** Transcript of the first recording. */
  readonly referenceText: string | undefined;
}

/** A custom voice that was made from recordings. */
export interface ClonedVoice {
  readonly voice: PersonalVoice;
  /** How the service made the voice, for the `notices` of the response. */
  readonly notice: string;
}

/** The engine voice for a custom voice, and how the service made it. */
interface MadeVoice {
  readonly engine: EngineSource;
  readonly family: FamilyId;
  readonly languages: readonly string[];
  readonly notice: string;
}

interface VoiceMakerDeps {
  readonly engines: EngineRegistry;
  readonly uploads: TemporaryFolder;
  readonly hearRecordings: HearRecordings;
  readonly clock: Clock;
  readonly random: Random;
}

/** The family of custom voices. Its models support every format and have no pitch control. */
export const CUSTOM_VOICE_FAMILY: FamilyId = 'vendor';
const DEFAULT_LANGUAGE = 'en';

/** Makes custom voices from recordings. Makes only one voice at a time, because decoding needs much memory. */
export class VoiceMaker {
  readonly #deps: VoiceMakerDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: VoiceMakerDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a custom voice but does not store it. Returns the voice with a notice that says how it was made. If an engine can
   * clone voices in a requested language, it clones the first recording. Otherwise, gives the built-in voice the pitch and
   * the brightness of the recordings.
   * @throws ServiceError 400 for an unusable file, recordings without speech, or unsupported languages. On abort, the
   * abort reason of the signal
   */
  clone(
    files: readonly UploadedFile[],
    accountId: string,
    options: VoiceOptions,
    signal: AbortSignal,
  ): Promise<ClonedVoice> {
    const made = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#make(files, accountId, options, signal);
    });
    this.#last = made.catch(() => undefined);
    return made;
  }

  async #make(
    files: readonly UploadedFile[],
    accountId: string,
    options: VoiceOptions,
    signal: AbortSignal,
  ): Promise<ClonedVoice> {
    const { clock, random } = this.#deps;
    const { description, name, visibility } = options;
    const { notice, ...made } =
      (await this.#cloneInEngine(files, options, signal)) ??
      (await this.#simulate(files, options, signal));
    const createdAt = clock.now();
    const [primaryLanguage = BUILT_IN_LANGUAGE] = made.languages;
    const owned = { accountId, description, visibility, createdAt };
    return { voice: { ...made, id: random.uuid(), name, primaryLanguage, made: owned }, notice };
  }

  async #simulate(
    files: readonly UploadedFile[],
    { languages }: VoiceOptions,
    signal: AbortSignal,
  ): Promise<MadeVoice> {
    const spoken = requireSpoken(languages);
    const variation = await this.#vary(await this.#requireVoice(files, signal), signal);
    const notice = `Simulated, not a clone of the speaker: ${describeVariation(variation)}`;
    const engine = variedSource(variation);
    return { engine, family: CUSTOM_VOICE_FAMILY, languages: spoken, notice };
  }

  /** Finds the variation with the pitch and the brightness of a recorded voice, by listening to the built-in engine. */
  async #vary({ meanHz, medianHz }: HeardVoice, signal: AbortSignal): Promise<Variation> {
    const { engines } = this.#deps;
    const speaker = engines.find(BUILT_IN_ENGINE, REFERENCE_VOICE)?.engine;
    if (speaker === undefined) throw new Error('The service has no built-in engine.');
    const pitch = clamp(medianHz / MODEL_HZ, PITCH_FACTORS);
    // A deeper voice has a longer vocal tract, as in the cast.
    const stretch = clamp(pitch ** STRETCH_BY_PITCH, STRETCHES);
    let brightness = 0;
    for (let round = 0; round < LISTENING_ROUNDS; round += 1) {
      const variation = { pitch, stretch, pace: 1, brightness };
      const own = await listenTo(speaker, variedVoice(variation), signal);
      if (own === undefined) break;
      const change = DB_BY_OCTAVE * Math.log2(meanHz / own.meanHz);
      brightness = clamp(brightness + change, BRIGHTNESSES);
    }
    return { pitch, stretch, pace: 1, brightness };
  }

  async #cloneInEngine(
    files: readonly UploadedFile[],
    { languages, referenceText = '' }: VoiceOptions,
    signal: AbortSignal,
  ): Promise<MadeVoice | undefined> {
    const { engines, uploads } = this.#deps;
    const wanted = languages.length === 0 ? [DEFAULT_LANGUAGE] : languages;
    const spokenBy = ({ voices }: SpeechEngine): readonly string[] => {
      const spoken = voices.flatMap((voice) => voice.languages ?? [voice.language]);
      return wanted.filter((one) => spoken.some((other) => isSameLanguage(one, other)));
    };
    const engine = engines
      .all()
      .map((one) => one.engine)
      .find((one) => one.clone !== undefined && spokenBy(one).length > 0);
    const [file] = files;
    if (engine?.clone === undefined || file === undefined) return undefined;
    await this.#requireVoice(files, signal);
    const [, extension = ''] = /\.([a-z0-9]+)$/.exec(file.name.toLowerCase()) ?? [];
    const handle = await uploads.withCopy(file.file, extension, async (audio) => {
      try {
        return await engine.clone?.({ audio, text: referenceText }, signal);
      } catch (error) {
        const reason = engineMessageOf(error);
        if (reason === undefined) throw error;
        throw invalidRequest([{ field: 'audioFiles', message: `audioFiles: ${reason}` }]);
      }
    });
    return {
      engine: { name: engine.name, voice: handle ?? '', pitch: 0, speed: 1 },
      family: engine.models === undefined ? CUSTOM_VOICE_FAMILY : 'local',
      languages: spokenBy(engine),
      notice: `Cloned by ${engine.name}`,
    };
  }

  async #requireVoice(files: readonly UploadedFile[], signal: AbortSignal): Promise<HeardVoice> {
    const opened = files.map(({ file: { fd, size } }) => ({ fd, size }));
    const heard = await this.#deps.hearRecordings(opened, signal);
    if (heard.kind === 'refused') {
      const message = `audioFiles: ${showText(files[heard.index]?.name ?? '')} ${heard.problem}`;
      throw invalidRequest([{ field: 'audioFiles', message }]);
    }
    if (heard.voice !== undefined) return heard.voice;
    const message =
      'audioFiles: the recordings contain no speech; record a person who speaks aloud, without music (tones, noise and whispers are not enough)';
    throw invalidRequest([{ field: 'audioFiles', message }]);
  }
}

function requireSpoken(languages: readonly string[]): readonly string[] {
  if (languages.length === 0) return [BUILT_IN_LANGUAGE];
  const spoken = languages.filter((one) => isSameLanguage(one, BUILT_IN_LANGUAGE));
  if (spoken.length > 0) return spoken;
  const given = languages.map((one) => showText(one)).join(', ');
  const message = `languages has ${given}; this service can make voices for ${BUILT_IN_LANGUAGE}`;
  throw invalidRequest([{ field: 'languages', message }]);
}

/** Median pitch, in hertz, of the model's own voice. */
export const MODEL_HZ = 193;
/** The variations that are understood well. */
export const PITCH_FACTORS = { lowest: 0.38, highest: 1.9 };
export const STRETCHES = { lowest: 0.78, highest: 1.18 };
export const BRIGHTNESSES = { lowest: -3, highest: 3 };

const STRETCH_BY_PITCH = 0.32;
const LISTENING_ROUNDS = 2;
/** Brightness, in decibels for each octave, that moves the mean frequency by an octave. */
const DB_BY_OCTAVE = 3.5;

/** Limits a number to a range. */
export function clamp(
  value: number,
  { highest, lowest }: { readonly lowest: number; readonly highest: number },
): number {
  return Math.min(highest, Math.max(lowest, value));
}

/** Returns the engine voice that speaks with a variation. */
export function variedSource(variation: Variation): EngineSource {
  return { name: BUILT_IN_ENGINE, voice: variedVoice(variation), pitch: 0, speed: 1 };
}

/** Says what a designed or cloned voice is, such as `the built-in voice at about 110 Hz, brighter by 1.5 dB per octave`. */
export function describeVariation({ brightness, pace, pitch, stretch }: Variation): string {
  const decibels = Math.round(Math.abs(brightness) * 10) / 10;
  const parts = [
    `the built-in voice at about ${Math.round(pitch * MODEL_HZ)} Hz`,
    `formants at ${Math.round(stretch * 100)} %`,
    ...(pace === 1 ? [] : [`pace at ${Math.round(pace * 100)} %`]),
    ...(decibels === 0
      ? []
      : [`${brightness > 0 ? 'brighter' : 'darker'} by ${decibels} dB per octave`]),
  ];
  return parts.join(', ');
}

/** Returns whether two language codes mean the same language, ignoring the region. */
export function isSameLanguage(one: string, other: string): boolean {
  return primarySubtag(one) === primarySubtag(other);
}

function primarySubtag(code: string): string {
  return (code.split(/[-_]/)[0] ?? '').toLowerCase();
}

// Statements, because there the pitch falls at the end, as in most speech.
const STATEMENTS =
  'Good morning, everybody. The old man loved the yellow lemon. Nobody would be there before nine. ' +
  'Hello from me. A large dog ran along the road, and I followed it.';

async function listenTo(
  engine: SpeechEngine,
  voice: string,
  signal: AbortSignal,
): Promise<HeardVoice | undefined> {
  const { PitchMeter } = await import('./listen/pitch-meter.ts');
  const meter = new PitchMeter();
  try {
    const speech = engine.synthesize({ text: STATEMENTS, voice, speed: 1, pitch: 0 }, signal);
    for await (const { samples, sampleRate } of speech) await meter.add(samples, sampleRate);
    return meter.voice();
  } finally {
    meter.close();
  }
}
