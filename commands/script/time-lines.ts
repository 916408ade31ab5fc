import path from 'node:path';
import { alignLine } from '../../src/alignment/align-line.ts';
import type { MeasuredReference } from '../../src/alignment/measure-sound.ts';
import { measureRecording } from '../../src/alignment/measure-sound.ts';
import type { TextWord } from '../../src/alignment/text-words.ts';
import { textWords } from '../../src/alignment/text-words.ts';
import { UnusableAudioError } from '../../src/audio/sound.ts';
import type { BatchItem } from '../../src/batch/plan/plan.ts';
import type { Timings } from '../../src/captions/timings.ts';
import { readTimings, timingsDocument } from '../../src/captions/timings.ts';
import { openReferenceSpeaker, timingsOfWords } from '../shared/speech/align-text.ts';
import type { Context } from '../../src/cli/command.ts';
import { isObject } from '../../src/config/json-file.ts';
import { UnsafeFile } from '../../src/durable/file-failures.ts';
import { readOwnText, refuseLink } from '../../src/durable/own-files.ts';
import { openRegularFile } from '../../src/durable/regular-file.ts';
import { replaceFile } from '../../src/durable/publish.ts';
import { mapConcurrent } from '../../src/system/concurrency.ts';
import type { ReferenceSpeaker } from '../../src/engines/reference-speech.ts';
import { Failure } from '../../src/errors/failure.ts';
import { recordingFolder } from '../../src/script/memory.ts';
import { itemsOf } from '../../src/script/plan-lines.ts';
import type { PreparedScript } from './prepare.ts';
import { listVoices } from './prepare.ts';

// Compares one line while the engine speaks the reference of the next line.
const LINES_AT_ONCE = 2;

/**
 * Finds when each word is spoken in the audio of a script's lines. Does not use the word times from the speech
 * responses, because they would be missing after an interrupted request.
 * @param temporaryFolder folder for temporary files, on the same disk as the audio
 * @returns the timings of each line, by the path of its audio file
 */
export async function timeLines(
  context: Context,
  { flags, plan }: PreparedScript,
  temporaryFolder: string,
): Promise<ReadonlyMap<string, Timings>> {
  const folder = recordingFolder(flags.output);
  const timings = new Map<string, Timings>();
  const speaker = await openReferenceSpeaker(context);
  const voices = new VoiceLanguages(context);
  const warned = new Set<string>();
  const onProblem = ({ hint, message }: Failure): void => {
    if (!warned.has(message)) context.io.warn(`foley: ${message}. ${hint ?? ''}`.trim());
    warned.add(message);
  };
  try {
    await mapConcurrent(itemsOf(plan), LINES_AT_ONCE, async (item) => {
      const audio = path.join(folder, item.output);
      const { mtimeMs, size } = await context.system.files.stat(audio);
      const known = new KnownTimings(audio, { bytes: size, mtimeMs }, context);
      const text = item.spoken?.written ?? item.order.text;
      let own = await known.read(text);
      if (own === undefined) {
        const languages = await voices.languagesOf(item);
        own = await timeLine(context, { audio, item, languages, speaker, onProblem });
        await known.write(own, temporaryFolder);
      }
      timings.set(item.output, own);
    });
    return timings;
  } finally {
    await speaker.close();
  }
}

interface LineToTime {
  readonly audio: string;
  readonly item: BatchItem;
  /** The possible languages of the line, most likely first. */
  readonly languages: readonly string[];
  readonly speaker: ReferenceSpeaker;
  readonly onProblem: (problem: Failure) => void;
}

async function timeLine(
  { system: { files }, signal }: Context,
  { audio, item, languages, onProblem, speaker }: LineToTime,
): Promise<Timings> {
  const { speed, text, textNormalization } = item.order;
  const handle = await openRegularFile(audio, files);
  const problems: Failure[] = [];
  const speak = (language: string): Promise<MeasuredReference | undefined> =>
    speaker.speak({ text, language, speed, textNormalization }, signal).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      problems.push(error);
      return undefined;
    });
  const timings = (found: readonly TextWord[], durationMs = 0): Timings =>
    timingsOfWords(text, item.spoken, { durationMs, words: found });
  try {
    const { size } = await handle.stat();
    const measuring = measureRecording({ fd: handle.fd, size }, signal);
    for (const language of languages) {
      const [sound, reference] = await Promise.all([measuring.catch(unusable), speak(language)]);
      if (sound === undefined || reference === undefined) continue;
      const places = await alignLine(sound, reference, signal);
      if (places === undefined) continue;
      return timings(textWords(text, reference.words, places), sound.durationMs);
    }
    for (const problem of problems.slice(0, 1)) onProblem(problem);
    return timings(textWords(text, [], []), (await measuring.catch(unusable))?.durationMs);
  } finally {
    await handle.close();
  }
}

function unusable(error: unknown): undefined {
  // The recording itself reports audio that cannot be decoded.
  if (!(error instanceof UnusableAudioError)) throw error;
}

// Reads and writes the timings of a line, which are stored next to its audio file.
class KnownTimings {
  readonly #file: string;
  readonly #audio: { readonly bytes: number; readonly mtimeMs: number };
  readonly #deps: Context;

  constructor(
    audio: string,
    stats: { readonly bytes: number; readonly mtimeMs: number },
    deps: Context,
  ) {
    this.#file = audio.replace(/\.wav$/, '.json');
    this.#audio = stats;
    this.#deps = deps;
  }

  async read(text: string): Promise<Timings | undefined> {
    // Incomplete timings are not reused: the user may have added an engine for the language of the line since.
    try {
      const value: unknown = JSON.parse(
        await readOwnText(this.#file, MAX_BYTES, this.#deps.system.files),
      );
      if (!isObject(value) || !isObject(value['audio'])) return undefined;
      const { bytes, mtimeMs } = value['audio'];
      if (bytes !== this.#audio.bytes || mtimeMs !== this.#audio.mtimeMs) return undefined;
      const timings = readTimings(value['timings'], this.#file);
      return timings.complete && timings.text === text ? timings : undefined;
    } catch {
      return undefined;
    }
  }

  async write(timings: Timings, temporaryFolder: string): Promise<void> {
    const value = { audio: this.#audio, timings: timingsDocument(timings) };
    const data = Buffer.from(`${JSON.stringify(value)}\n`);
    try {
      await refuseLink(this.#file, this.#deps.system.files);
      await replaceFile(this.#deps.system, {
        path: this.#file,
        temporaryFolder,
        data,
      });
    } catch (error) {
      // The next command finds the times again.
      if (!(error instanceof UnsafeFile)) throw error;
    }
  }
}

const MAX_BYTES = 4 * 1024 * 1024;

class VoiceLanguages {
  readonly #context: Context;
  #voices: Promise<ReadonlyMap<string, readonly string[]>> | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  async languagesOf({ order: { language, voiceId } }: BatchItem): Promise<readonly string[]> {
    if (language !== undefined) return [language];
    this.#voices ??= this.#list();
    return (await this.#voices).get(voiceId) ?? ['en'];
  }

  async #list(): Promise<ReadonlyMap<string, readonly string[]>> {
    const voices = await listVoices(this.#context).catch((error: unknown) => {
      if (error instanceof Failure) return [];
      throw error;
    });
    return new Map(
      voices.flatMap(({ languages, primaryLanguage, voiceId }) => {
        const all = [...new Set([primaryLanguage, ...languages])].filter((one) => one !== '');
        return all.length === 0 ? [] : [[voiceId, all]];
      }),
    );
  }
}
