import path from 'node:path';
import type { FamilyId } from '../../contract/families.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { EngineRegistry, SpeechEngine, VoiceOfEngine } from '../engine/speech-engine.ts';
import { EngineError, engineMessageOf } from '../engine/speech-engine.ts';
import type { TemporaryFolder, UploadedFile } from '../http/multipart-form.ts';
import { anyOf, showText } from '../http/validation.ts';
import { invalidRequest } from '../service-error.ts';
import type { MeasurePitches } from './listen/listening-thread.ts';
import type { PersonalVoice } from './personal-voices.ts';
import type { EngineSource } from './voices.ts';

/** The fields of a request to create a voice, without the audio files. */
export interface VoiceOptions {
  readonly accountId: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: VoiceVisibility;
  /** Codes of the requested languages, the preferred one first; if empty, English is used. */
  readonly languages: readonly string[];
  /** Transcript of the first recording. */
  readonly referenceText?: string | undefined;
}

/** A custom voice that was made from recordings. */
export interface ClonedVoice {
  readonly voice: PersonalVoice;
  /** How the service made the voice, for the `notices` of the response. */
  readonly notice: string;
}

interface VoiceMakerDeps {
  readonly engines: EngineRegistry;
  readonly uploads: TemporaryFolder;
  readonly measurePitches: MeasurePitches;
  readonly clock: Clock;
  readonly random: Random;
}

/** The family of custom voices. Its models support every format and have no pitch control. */
export const CUSTOM_VOICE_FAMILY: FamilyId = 'vendor';
export const DEFAULT_LANGUAGE = 'en';

/** Makes custom voices from recordings. Makes only one voice at a time, because decoding needs much memory. */
export class VoiceMaker {
  readonly voices: MeasuredVoices;
  readonly #deps: VoiceMakerDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: VoiceMakerDeps) {
    this.#deps = deps;
    this.voices = new MeasuredVoices(deps.engines);
  }

  /**
   * Makes a custom voice but does not store it. Returns the voice with a notice that says how it was made. If an engine can clone voices in a requested language, it clones the
   * first recording. Otherwise, takes the engine voice with the nearest pitch and shifts it to the pitch of the
   * recordings.
   * @throws ServiceError 400 for an unusable file, recordings without speech, or unsupported languages. On abort, the
   * abort reason of the signal
   */
  clone(
    files: readonly UploadedFile[],
    options: VoiceOptions,
    signal: AbortSignal,
  ): Promise<ClonedVoice> {
    const made = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#make(files, options, signal);
    });
    this.#last = made.catch(() => undefined);
    return made;
  }

  async #make(
    files: readonly UploadedFile[],
    options: VoiceOptions,
    signal: AbortSignal,
  ): Promise<ClonedVoice> {
    const { accountId, description, languages, name, visibility } = options;
    const { clock, random } = this.#deps;
    const cloned = await this.#cloneInEngine(files, options, signal);
    if (cloned !== undefined) return cloned;
    const language = requireSpoken(languages, this.voices);
    const medianHz = await this.#requirePitch(files, signal);
    const match = await this.voices.nearest({ medianHz, language }, signal);
    const spoken = languages.filter((one) => isSameLanguage(one, language));
    const voice: PersonalVoice = {
      id: random.uuid(),
      name,
      family: CUSTOM_VOICE_FAMILY,
      primaryLanguage: spoken[0] ?? match.language,
      languages: spoken.length === 0 ? [match.language] : spoken,
      engine: match.engine,
      made: { accountId, description, visibility, createdAt: clock.now() },
    };
    return { voice, notice: describeMatch(match.engine, medianHz) };
  }

  async #cloneInEngine(
    files: readonly UploadedFile[],
    { accountId, description, name, referenceText = '', visibility, ...options }: VoiceOptions,
    signal: AbortSignal,
  ): Promise<ClonedVoice | undefined> {
    const { clock, engines, random, uploads } = this.#deps;
    const wanted = options.languages.length === 0 ? [DEFAULT_LANGUAGE] : options.languages;
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
    await this.#requirePitch(files, signal);
    const extension = path
      .extname(file.name)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '');
    const handle = await uploads.withCopy(file.file, extension, async (audio) => {
      try {
        return await engine.clone?.({ audio, text: referenceText }, signal);
      } catch (error) {
        const reason = engineMessageOf(error);
        if (reason === undefined) throw error;
        throw invalidRequest([{ field: 'audioFiles', message: `audioFiles: ${reason}` }]);
      }
    });
    const languages = spokenBy(engine);
    const voice: PersonalVoice = {
      id: random.uuid(),
      name,
      family: engine.models === undefined ? CUSTOM_VOICE_FAMILY : 'local',
      primaryLanguage: languages[0] ?? DEFAULT_LANGUAGE,
      languages,
      engine: { name: engine.name, voice: handle ?? '', pitch: 0, speed: 1 },
      made: { accountId, description, visibility, createdAt: clock.now() },
    };
    return { voice, notice: `Cloned by ${engine.name}` };
  }

  async #requirePitch(files: readonly UploadedFile[], signal: AbortSignal): Promise<number> {
    const opened = files.map(({ file: { fd, size } }) => ({ fd, size }));
    const heard = await this.#deps.measurePitches(opened, signal);
    if (heard.kind === 'refused') {
      const message = `audioFiles: ${showText(files[heard.index]?.name ?? '')} ${heard.problem}`;
      throw invalidRequest([{ field: 'audioFiles', message }]);
    }
    if (heard.medianHz !== undefined) return heard.medianHz;
    const message =
      'audioFiles: the recordings contain no speech; record a person who speaks aloud, without music (tones, noise and whispers are not enough)';
    throw invalidRequest([{ field: 'audioFiles', message }]);
  }
}

function requireSpoken(languages: readonly string[], voices: MeasuredVoices): string {
  const language = languages.find((one) => voices.speak(one));
  if (language !== undefined) return language;
  if (languages.length === 0) return DEFAULT_LANGUAGE;
  const here = anyOf(voices.languages);
  const given = languages.map((one) => showText(one)).join(', ');
  const message = `languages has ${given}; this service has voices for ${here}`;
  throw invalidRequest([{ field: 'languages', message }]);
}

function describeMatch(engine: EngineSource, medianHz: number): string {
  return `Simulated, not a clone of the speaker: the nearest engine voice (${engine.voice} of ${engine.name}) with its pitch changed to about ${Math.round(medianHz)} Hz`;
}

interface MeasuredVoice extends VoiceOfEngine {
  readonly medianHz: number;
}

// Maximum number of measured voices of a language, because measuring takes long.
const MOST_VOICES = 6;
// Added to the pitch difference of a voice that has another accent.
const ACCENT_SEMITONES = 4;

/**
 * Finds engine voices by pitch, among the voices with an adjustable pitch. Keeps the measured pitch of each voice for
 * later calls.
 */
export class MeasuredVoices {
  readonly #engines: EngineRegistry;
  readonly #medians = new Map<string, number | undefined>();

  constructor(engines: EngineRegistry) {
    this.#engines = engines;
  }

  get languages(): readonly string[] {
    return [...new Set(this.#movable().map(({ voice }) => voice.language))];
  }

  /** Returns whether any engine voice with an adjustable pitch speaks a language, ignoring the region. */
  speak(language: string): boolean {
    return this.languages.some((one) => isSameLanguage(one, language));
  }

  /**
   * Finds the engine voice of a language whose pitch is nearest to `medianHz`, and shifts it to that pitch.
   * @throws EngineError if an engine fails; Error if no voice of the language can be measured
   */
  async nearest(
    { medianHz, language }: { readonly medianHz: number; readonly language: string },
    signal: AbortSignal,
  ) {
    const distance = (one: MeasuredVoice): number =>
      Math.abs(semitones(medianHz, one.medianHz)) +
      (one.voice.language === language ? 0 : ACCENT_SEMITONES);
    const [nearest] = (await this.#of(language, signal)).toSorted(
      (one, other) => distance(one) - distance(other),
    );
    if (nearest === undefined)
      throw new Error(`No voice for ${language} has a pitch that can be measured`);
    const { engine, voice } = nearest;
    const pitch = rounded(semitones(medianHz, nearest.medianHz));
    return {
      speaker: engine,
      language: voice.language,
      engine: { name: engine.name, voice: voice.id, pitch, speed: 1 },
    };
  }

  async #of(language: string, signal: AbortSignal): Promise<readonly MeasuredVoice[]> {
    const voices = this.#movable().filter(({ voice }) => isSameLanguage(voice.language, language));
    const found: MeasuredVoice[] = [];
    for (const one of voices.slice(0, MOST_VOICES)) {
      const name = `${one.engine.name}\0${one.voice.id}`;
      if (!this.#medians.has(name)) this.#medians.set(name, await measure(one, signal));
      const medianHz = this.#medians.get(name);
      if (medianHz !== undefined) found.push({ ...one, medianHz });
    }
    return found;
  }

  #movable(): readonly VoiceOfEngine[] {
    return this.#engines.all().filter(({ voice }) => voice.pitch);
  }
}

/** Rounds a pitch or a speed to three decimals. Smaller differences are inaudible. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

function semitones(hz: number, from: number): number {
  return 12 * Math.log2(hz / from);
}

/** Returns whether two language codes mean the same language, ignoring the region. */
export function isSameLanguage(one: string, other: string): boolean {
  return primarySubtag(one) === primarySubtag(other);
}

function primarySubtag(code: string): string {
  return (code.split(/[-_]/)[0] ?? '').toLowerCase();
}

// Statements, because there the pitch falls at the end, as in most speech.
const ENGLISH =
  'Good morning, everybody. The old man loved the yellow lemon. Nobody would be there before nine. ' +
  'Hello from me. A large dog ran along the road, and I followed it.';
// Text for languages other than English: every voice can say numbers.
const NUMBERS = '12, 34, 56, 78, 90, 21, 43, 65, 87, 109, 11, 22, 33, 44.';

// Returns hertz; undefined if the voice cannot speak the text.
async function measure(
  { engine, voice }: VoiceOfEngine,
  signal: AbortSignal,
): Promise<number | undefined> {
  const text = /^en\b/i.test(voice.language) ? ENGLISH : NUMBERS;
  const { PitchMeter } = await import('./listen/pitch-meter.ts');
  const meter = new PitchMeter();
  try {
    const speech = engine.synthesize({ text, voice: voice.id, speed: 1, pitch: 0 }, signal);
    for await (const { samples, sampleRate } of speech) await meter.add(samples, sampleRate);
    return meter.median();
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'unspeakable') return undefined;
    throw error;
  } finally {
    meter.close();
  }
}
