import { availableParallelism } from 'node:os';
import type { MeasuredReference } from '../alignment/measure-sound.ts';
import { measureReference } from '../alignment/measure-sound.ts';
import type { EngineRegistration } from '../contract/engine.ts';
import type { Clock } from '../system/clock.ts';
import { usageFailure } from '../errors/failure.ts';
import type { SpeechEngine } from '../service/engine/speech-engine.ts';
import { nearestHint } from '../text/did-you-mean.ts';

interface SpeakerOptions {
  readonly added: readonly EngineRegistration[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

interface ReferenceText {
  readonly text: string;
  readonly language: string;
  readonly speed?: number | undefined;
  readonly textNormalization?: boolean | undefined;
}

/**
 * Speaks texts with a speech engine, to compare the speech with recordings of the same texts. English uses the built-in
 * engine; other languages need an added engine that reports word times. Engines stay open until `close`.
 */
export class ReferenceSpeaker {
  readonly #options: SpeakerOptions;
  readonly #engines = new Map<string, Promise<OpenEngine>>();

  constructor(options: SpeakerOptions) {
    this.#options = options;
  }

  /**
   * Speaks a text, and returns the band energies and word times of the speech.
   * @throws Failure of kind `usage` if no engine speaks the language, or the text contains no words to speak
   */
  async speak(
    { language, speed = 1, text, textNormalization }: ReferenceText,
    signal: AbortSignal,
  ): Promise<MeasuredReference> {
    const opened = this.#engines.get(language) ?? openEngine(language, this.#options);
    this.#engines.set(language, opened);
    const { engine, voice } = await opened;
    const normalized = textNormalization === undefined ? {} : { textNormalization };
    try {
      const request = { text, voice, speed, pitch: 0, isTimed: true, ...normalized };
      return await measureReference(engine.synthesize(request, signal));
    } catch (error) {
      const { EngineError } = await import('../service/engine/speech-engine.ts');
      if (!(error instanceof EngineError)) throw error;
      throw usageFailure(
        `the text cannot be compared with the recording: ${error.message}`,
        'If the text is in another language, name it with --language.',
      );
    }
  }

  /** Stops the engines. Never throws. */
  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#engines.values());
    for (const one of opened) {
      if (one.status === 'fulfilled') await one.value.engine.close().catch(() => undefined);
    }
  }
}

interface OpenEngine {
  readonly engine: SpeechEngine;
  readonly voice: string;
}

async function openEngine(
  language: string,
  { added, clock, env }: SpeakerOptions,
): Promise<OpenEngine> {
  const base = baseOf(language);
  if (base === 'en') {
    const [{ createHibariEngine }, { REFERENCE_VOICE }, { HIBARI_WORKER_FILE }] = await Promise.all(
      [
        import('../service/engine/hibari/engine.ts'),
        import('../service/engine/hibari/cast.ts'),
        import('../service/worker-file.ts'),
      ],
    );
    const engine = createHibariEngine({
      workerFile: HIBARI_WORKER_FILE,
      threads: availableParallelism(),
      clock,
    });
    return { engine, voice: REFERENCE_VOICE };
  }
  const voices = added.flatMap((registration) =>
    registration.voices
      .filter(({ words }) => words === true)
      .map((voice) => ({ registration, voice })),
  );
  const able = voices.filter(({ voice }) => baseOf(voice.language) === base);
  const found = able.find(({ voice }) => voice.language === language) ?? able[0];
  if (found === undefined) throw unknownLanguage(language, voices.length > 0 ? voices : undefined);
  const [{ engineLauncher }, { createProcessEngine }] = await Promise.all([
    import('../service/engine/process/launch-engine.ts'),
    import('../service/engine/process/process-engine.ts'),
  ]);
  const launch = engineLauncher({ env, nodePath: process.execPath });
  const { registration, voice } = found;
  const engine = createProcessEngine({ registration, launch, processes: 1, clock });
  return { engine, voice: voice.id };
}

function unknownLanguage(
  language: string,
  voices:
    | readonly {
        readonly registration: { readonly name: string };
        readonly voice: { readonly language: string };
      }[]
    | undefined,
): Error {
  if (voices === undefined) {
    return usageFailure(
      `the language "${language}" requires a speech engine that reports word times`,
      ESPEAK_NG_LANGUAGES.includes(baseOf(language))
        ? 'Add one: foley engine add espeak-ng. English needs none.'
        : `espeak-ng has only ${ESPEAK_NG_LANGUAGES.join(', ')}. Add an engine of your own: see docs/engines.md.`,
    );
  }
  const languages = [...new Set(['en', ...voices.map(({ voice }) => baseOf(voice.language))])];
  const list = `Languages: ${languages.toSorted().join(', ')}.`;
  const isAdvised =
    ESPEAK_NG_LANGUAGES.includes(baseOf(language)) &&
    voices.every(({ registration }) => registration.name !== 'espeak-ng');
  return usageFailure(
    `no speech engine that reports word times supports the language "${language}"`,
    isAdvised
      ? `${list} More languages: foley engine add espeak-ng.`
      : nearestHint(language, languages, list),
  );
}

/** The languages of the engine espeak-ng (engines/espeak-ng/voices.mjs). */
export const ESPEAK_NG_LANGUAGES = 'ar cs de en es fr hi it ja ko nl pl pt ru sv tr uk zh'.split(
  ' ',
);

// Locales of systems and of Python have an underscore: `en_US.UTF-8`.
function baseOf(language: string): string {
  return language.split(/[-_.]/, 1)[0]?.toLowerCase() ?? '';
}
