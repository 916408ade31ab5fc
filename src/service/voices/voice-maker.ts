import type { FamilyId } from '../../contract/families.ts';
import type { VoiceVisibility } from '../../contract/reference-audio.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { EngineRegistry } from '../engine/registry.ts';
import type { UploadedFile } from '../http/multipart-form.ts';
import { anyOf, showText } from '../http/wording.ts';
import { invalidRequest } from '../service-error.ts';
import type { HearFiles } from './listen/listening-thread.ts';
import { isSameLanguage, MeasuredVoices } from './measured-voices.ts';
import type { PersonalVoice } from './personal-voices.ts';
import type { EngineSource } from './voices.ts';

/** What a voice is to be, besides what it is made of. */
export interface VoiceWishes {
  readonly accountId: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: VoiceVisibility;
  /** The first that can be spoken here counts; none: English. */
  readonly languages: readonly string[];
}

interface CloneOrder {
  readonly files: readonly UploadedFile[];
  readonly wishes: VoiceWishes;
}

interface VoiceMakerDeps {
  readonly engines: EngineRegistry;
  readonly hearFiles: HearFiles;
  readonly clock: Clock;
  readonly random: Random;
}

/** The family of voices that accounts make: its models take every format, and ask for no pitch control. */
export const MADE_FAMILY: FamilyId = 'vendor';
export const DEFAULT_LANGUAGE = 'en';

/** Makes voices of reference audio, one at a time, to bound the memory for decoding. */
export class VoiceMaker {
  readonly voices: MeasuredVoices;
  readonly #deps: VoiceMakerDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: VoiceMakerDeps) {
    this.#deps = deps;
    this.voices = new MeasuredVoices(deps.engines);
  }

  /**
   * Makes a voice: the engine voice that is nearest in pitch, set to the pitch of the reference. It is not stored yet.
   * @throws ServiceError 400 when a file cannot be used, no voice is heard in them, or none of the
   * languages is spoken here; the signal's reason once it is aborted
   */
  clone(order: CloneOrder, signal: AbortSignal): Promise<PersonalVoice> {
    const made = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#make(order, signal);
    });
    this.#last = made.catch(() => undefined);
    return made;
  }

  async #make({ files, wishes }: CloneOrder, signal: AbortSignal): Promise<PersonalVoice> {
    const { clock, random } = this.#deps;
    const { accountId, description, languages, name, visibility } = wishes;
    const language = requireSpoken(languages, this.voices);
    const medianHz = await this.#requirePitch(files, signal);
    const match = await this.voices.nearest({ medianHz, language }, signal);
    const spoken = languages.filter((one) => isSameLanguage(one, language));
    return {
      id: random.uuid(),
      name,
      family: MADE_FAMILY,
      primaryLanguage: spoken[0] ?? match.language,
      languages: spoken.length === 0 ? [match.language] : spoken,
      engine: match.engine,
      made: {
        accountId,
        description: describeClone(description, match.engine, medianHz),
        visibility,
        createdAt: clock.now(),
      },
    };
  }

  async #requirePitch(files: readonly UploadedFile[], signal: AbortSignal): Promise<number> {
    const opened = files.map(({ file: { fd, size } }) => ({ fd, size }));
    const heard = await this.#deps.hearFiles(opened, signal);
    if (heard.kind === 'refused') {
      const message = `audioFiles: ${showText(files[heard.index]?.name ?? '')} ${heard.problem}`;
      throw invalidRequest([{ field: 'audioFiles', message }]);
    }
    if (heard.medianHz !== undefined) return heard.medianHz;
    const message = 'audioFiles: no voice is heard in it; its pitch cannot be told';
    throw invalidRequest([{ field: 'audioFiles', message }]);
  }
}

/** @throws ServiceError 400 when there are languages, and none of them has a voice whose pitch can be changed */
function requireSpoken(languages: readonly string[], voices: MeasuredVoices): string {
  const language = languages.find((one) => voices.speak(one));
  if (language !== undefined) return language;
  if (languages.length === 0) return DEFAULT_LANGUAGE;
  const here = anyOf(voices.languages);
  const message = `languages are ${languages.map((one) => showText(one)).join(', ')}; spoken here is ${here}`;
  throw invalidRequest([{ field: 'languages', message }]);
}

/** What a cloned voice is, in plain words, behind what its owner says of it. */
function describeClone(description: string, engine: EngineSource, medianHz: number): string {
  const own = description === '' || /[.!?]$/.test(description) ? description : `${description}.`;
  const match = `Simulated, not a clone of the speaker: the nearest engine voice (${engine.voice} of ${engine.name}) with its pitch changed to about ${Math.round(medianHz)} Hz`;
  return `${own} ${match}`.trimStart();
}
