import { LoudnessMeter } from '../audio/measure.ts';
import type { EngineCommand, EngineDescription, EngineVoiceRecord } from '../contract/engine.ts';
import type { Clock } from '../system/clock.ts';
import { abortable } from '../system/concurrency.ts';
import type { EngineRequest, WordMark } from '../service/engine/speech-engine.ts';
import { EngineError } from '../service/engine/speech-engine.ts';
import type { Loading, RunningSpeech } from '../service/engine/process/engine-process.ts';
import { EngineProcess } from '../service/engine/process/engine-process.ts';
import type { LaunchEngine } from '../service/engine/process/launch-engine.ts';

export interface TestOptions {
  readonly launch: LaunchEngine;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with a short description of the current step. */
  readonly onProgress: (step: string) => void;
}

/** Thrown by the test of a rule if the engine does not pass, or if the rule does not apply to the engine. */
export class Verdict extends Error {
  override readonly name = 'Verdict';
  readonly status: 'failed' | 'skipped' | 'warning';

  constructor(status: Verdict['status'], found: string) {
    super(found);
    this.status = status;
  }
}

/** The complete speech for one request. */
export interface TestSpeech {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly words: readonly WordMark[];
}

/** The fields of a speech request that the test of a rule may set. */
export type RequestChanges = Pick<EngineRequest, 'controls'> & {
  readonly speed?: number;
  readonly pitch?: number;
};

/** An engine that `foley engine test` tests. Starts a new process if the last one has failed. */
export class TestedEngine {
  readonly #command: EngineCommand;
  readonly #options: TestOptions;
  #process: EngineProcess | undefined;
  #description: EngineDescription | undefined;
  readonly #spoken = new Map<string, TestSpeech | EngineError>();
  loadedMs = 0;

  constructor(command: EngineCommand, options: TestOptions) {
    this.#command = command;
    this.#options = options;
  }

  /**
   * Returns a running engine process that has sent its greeting; starts one if needed.
   * @throws EngineError if the engine fails
   * @throws Verdict if the engine was started before and ended without a greeting
   */
  async process(): Promise<EngineProcess> {
    const { clock, launch, onProgress, signal } = this.#options;
    if (this.#process?.isUsable === true) return this.#process;
    if (this.#process !== undefined && this.#description === undefined) {
      throw new Verdict('skipped', 'the engine did not say hello');
    }
    const startedAt = clock.monotonic();
    const onLoading = ({ message = 'loading', progress }: Loading): void => {
      const percent = progress === undefined ? '' : ` ${Math.round(progress * 100)} %`;
      onProgress(`${message}${percent}`);
    };
    this.#process = new EngineProcess(this.#command, { launch, clock, onLoading });
    this.#process.keepAlive(true);
    this.#description = await abortable(this.#process.ready, signal);
    this.loadedMs = clock.monotonic() - startedAt;
    return this.#process;
  }

  /** The description of the engine in its greeting. @throws Verdict if the engine has not sent a greeting */
  get description(): EngineDescription {
    if (this.#description === undefined)
      throw new Verdict('skipped', 'the engine did not say hello');
    return this.#description;
  }

  /** Speaks a text and returns the complete speech. @throws EngineError */
  async speak(
    voice: EngineVoiceRecord,
    text: string,
    changes: RequestChanges = {},
  ): Promise<TestSpeech> {
    return this.read((await this.start(voice, text, changes)).chunks, voice.sampleRate);
  }

  /** Starts to speak a text. @throws EngineError when the engine cannot be started */
  async start(
    voice: EngineVoiceRecord,
    text: string,
    changes: RequestChanges = {},
  ): Promise<RunningSpeech> {
    const process = await this.process();
    const request = { text, voice: voice.id, speed: 1, pitch: 0, isTimed: true, ...changes };
    return process.speak(request, voice.sampleRate);
  }

  /** Reads the remaining chunks of a speech and joins their samples. @throws EngineError */
  async read(chunks: RunningSpeech['chunks'], sampleRate: number): Promise<TestSpeech> {
    const parts: Float32Array[] = [];
    const words: WordMark[] = [];
    for (;;) {
      const next = await abortable(chunks.next(), this.#options.signal);
      if (next.done === true) break;
      parts.push(next.value.samples);
      words.push(...(next.value.words ?? []));
    }
    const samples = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      samples.set(part, at);
      at += part.length;
    }
    return { samples, sampleRate, words };
  }

  /**
   * Lets every voice speak a sentence of its language and returns the results by voice id. Each voice speaks only once,
   * even if the method is called again. Stops after three voices have failed.
   */
  async speakAll(): Promise<ReadonlyMap<string, TestSpeech | EngineError>> {
    const { voices } = this.description;
    let failures = 0;
    for (const [index, voice] of voices.entries()) {
      if (this.#spoken.has(voice.id) || failures === MOST_FAILURES) continue;
      this.#options.onProgress(`voice ${voice.id} (${index + 1} of ${voices.length})`);
      try {
        this.#spoken.set(voice.id, await this.speak(voice, sampleText(voice.language)));
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        this.#spoken.set(voice.id, error);
        failures += 1;
      }
    }
    return this.#spoken;
  }

  /** Returns the speech of every voice that could speak. @throws Verdict if no voice could speak */
  async sounds(): Promise<readonly (TestSpeech & { readonly voice: EngineVoiceRecord })[]> {
    const spoken = await this.speakAll();
    const { voices } = this.description;
    const found = voices.flatMap((voice, index) => {
      const isTwin = voices.findIndex(({ id }) => id === voice.id) < index;
      const sound = isTwin ? undefined : spoken.get(voice.id);
      return sound === undefined || sound instanceof EngineError ? [] : [{ ...sound, voice }];
    });
    if (found.length === 0) throw new Verdict('skipped', 'no voice speaks');
    return found;
  }

  /** Closes the stdin of the engine process and waits for the process to exit. */
  async endInput(): ReturnType<EngineProcess['endInput']> {
    const process = await this.process();
    return process.endInput();
  }

  async close(): Promise<void> {
    if (this.#options.signal.aborted) this.#process?.kill();
    await this.#process?.end();
  }
}

const MOST_FAILURES = 3;

/** Returns the loudness of a sound in LUFS; undefined for silence. */
export function loudnessOf({ samples, sampleRate }: TestSpeech): number | undefined {
  const meter = new LoudnessMeter(1, sampleRate);
  meter.write([samples]);
  return meter.integrated;
}

const SAMPLES = new Map(
  Object.entries({
    ar: 'صباح الخير، كيف حالك اليوم؟',
    ca: 'Bon dia, com estàs avui?',
    cs: 'Dobré ráno, jak se dnes máte?',
    da: 'Godmorgen, hvordan har du det i dag?',
    de: 'Guten Morgen, wie geht es Ihnen heute?',
    el: 'Καλημέρα, πώς είσαι σήμερα;',
    en: 'Good morning, how are you today?',
    es: 'Buenos días, ¿cómo está usted hoy?',
    fi: 'Hyvää huomenta, mitä kuuluu tänään?',
    fr: 'Bonjour, comment allez-vous aujourd’hui ?',
    hi: 'नमस्ते, आज आप कैसे हैं?',
    hu: 'Jó reggelt, hogy van ma?',
    it: 'Buongiorno, come sta oggi?',
    ja: 'おはようございます、おげんきですか。',
    ko: '안녕하세요, 오늘 어떠세요?',
    nb: 'God morgen, hvordan har du det i dag?',
    nl: 'Goedemorgen, hoe gaat het vandaag?',
    no: 'God morgen, hvordan har du det i dag?',
    pl: 'Dzień dobry, jak się pan dziś ma?',
    pt: 'Bom dia, como vai você hoje?',
    ro: 'Bună dimineața, ce mai faceți astăzi?',
    ru: 'Доброе утро, как у вас сегодня дела?',
    sk: 'Dobré ráno, ako sa dnes máte?',
    sv: 'God morgon, hur mår du i dag?',
    tr: 'Günaydın, bugün nasılsınız?',
    uk: 'Доброго ранку, як у вас сьогодні справи?',
    vi: 'Chào buổi sáng, hôm nay bạn thế nào?',
    zh: '早上好，你今天好吗？',
  }),
);

/** Returns a sample sentence in a language, or three numbers if foley has no sentence in that language. */
export function sampleText(language: string): string {
  const [subtag = ''] = language.toLowerCase().split('-');
  return SAMPLES.get(subtag) ?? '1, 2, 3.';
}

/** Returns about how long a voice speaks the sample sentence of a language, in seconds; undefined if it is unknown. */
export function usualSeconds(language: string): number | undefined {
  return SECONDS.get(language.toLowerCase().split('-', 1)[0] ?? '');
}

// Means of voices of flite and espeak-ng, without silence around the sentence.
const SECONDS = new Map(
  Object.entries({
    ar: 2.4,
    cs: 1.9,
    de: 2.0,
    en: 1.8,
    es: 2.1,
    fr: 1.8,
    hi: 1.7,
    it: 1.6,
    ja: 2.0,
    ko: 1.9,
    nl: 2.0,
    pl: 2.0,
    pt: 1.7,
    ru: 2.0,
    sv: 1.9,
    tr: 1.9,
    uk: 2.4,
    zh: 2.1,
  }),
);
