import { LoudnessMeter } from '../../../audio/measure.ts';
import type {
  EngineCommand,
  EngineDescription,
  EngineVoiceRecord,
} from '../../../contract/engine.ts';
import type { Clock } from '../../../effects/clock.ts';
import { abortable } from '../../../effects/concurrency.ts';
import { EngineError, type EngineRequest, type WordMark } from '../speech-engine.ts';
import { EngineProcess, type Loading, type Speech } from './engine-process.ts';
import type { LaunchEngine } from './launch-engine.ts';

export interface TestOptions {
  readonly launch: LaunchEngine;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with a short description of the current step. */
  readonly onProgress: (step: string) => void;
}

/** Ends the check of a rule that did not pass. */
export class Verdict extends Error {
  override readonly name = 'Verdict';
  readonly status: 'failed' | 'skipped' | 'warning';

  constructor(status: Verdict['status'], found: string) {
    super(found);
    this.status = status;
  }
}

/** The complete speech of a request. */
export interface Sound {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly words: readonly WordMark[];
}

/** What a rule may change in a request. */
export type Wishes = Pick<EngineRequest, 'controls'> & {
  readonly speed?: number;
  readonly pitch?: number;
};

/** Runs an engine for the rules. Starts a new process if the last one has failed. */
export class Bench {
  readonly #command: EngineCommand;
  readonly #options: TestOptions;
  #engine: EngineProcess | undefined;
  #description: EngineDescription | undefined;
  /** The first speech of each voice, or the error. */
  readonly #spoken = new Map<string, Sound | EngineError>();
  loadedMs = 0;

  constructor(command: EngineCommand, options: TestOptions) {
    this.#command = command;
    this.#options = options;
  }

  /** Returns a process that is ready. @throws EngineError; Verdict if an earlier process did not say hello */
  async engine(): Promise<EngineProcess> {
    const { clock, launch, onProgress, signal } = this.#options;
    if (this.#engine?.isUsable === true) return this.#engine;
    if (this.#engine !== undefined && this.#description === undefined) {
      throw new Verdict('skipped', 'the engine did not say hello');
    }
    const startedAt = clock.monotonic();
    const onLoading = ({ message = 'loading', progress }: Loading): void => {
      const percent = progress === undefined ? '' : ` ${Math.round(progress * 100)} %`;
      onProgress(`${message}${percent}`);
    };
    this.#engine = new EngineProcess(this.#command, { launch, clock, onLoading });
    this.#engine.keepAlive(true);
    this.#description = await abortable(this.#engine.ready, signal);
    this.loadedMs = clock.monotonic() - startedAt;
    return this.#engine;
  }

  /** The greeting of the engine. */
  get description(): EngineDescription {
    if (this.#description === undefined)
      throw new Verdict('skipped', 'the engine did not say hello');
    return this.#description;
  }

  /** Speaks a text. @throws EngineError */
  async speak(voice: EngineVoiceRecord, text: string, wishes: Wishes = {}): Promise<Sound> {
    return this.read((await this.start(voice, text, wishes)).chunks, voice.sampleRate);
  }

  /** Starts to speak a text. @throws EngineError when the engine cannot be started */
  async start(voice: EngineVoiceRecord, text: string, wishes: Wishes = {}): Promise<Speech> {
    const engine = await this.engine();
    const request = { text, voice: voice.id, speed: 1, pitch: 0, isTimed: true, ...wishes };
    return engine.speak(request, voice.sampleRate);
  }

  /** Returns the rest of a speech. @throws EngineError */
  async read(chunks: Speech['chunks'], sampleRate: number): Promise<Sound> {
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

  /** Lets every voice speak a sentence of its language, once. Gives up after three voices that fail. */
  async speakAll(): Promise<ReadonlyMap<string, Sound | EngineError>> {
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

  /** Returns the speech of the voices that can speak. @throws Verdict if there are none */
  async sounds(): Promise<readonly (Sound & { readonly voice: EngineVoiceRecord })[]> {
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

  /** Ends the process by the end of its stdin. */
  async endInput(): ReturnType<EngineProcess['endInput']> {
    const engine = await this.engine();
    return engine.endInput();
  }

  async close(): Promise<void> {
    if (this.#options.signal.aborted) this.#engine?.kill();
    await this.#engine?.end();
  }
}

const MOST_FAILURES = 3;

/** Returns the loudness of a sound in LUFS; undefined for silence. */
export function loudnessOf({ samples, sampleRate }: Sound): number | undefined {
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

/** Returns a sentence of a language; three numbers for a language without one. */
export function sampleText(language: string): string {
  const [subtag = ''] = language.toLowerCase().split('-');
  return SAMPLES.get(subtag) ?? '1, 2, 3.';
}
