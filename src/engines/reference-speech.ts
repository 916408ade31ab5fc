import { type MeasuredReference, measureReference } from '../alignment/measure-sound.ts';
import type { EngineRegistration } from '../contract/engine.ts';
import type { Clock } from '../effects/clock.ts';
import { usageFailure } from '../errors/failure.ts';
import type { SpeechEngine } from '../service/engine/speech-engine.ts';
import { nearestHint } from '../text/did-you-mean.ts';

interface ReferenceOptions {
  readonly text: string;
  /** Language code (BCP 47). */
  readonly language: string;
  /** The engines that the user added. */
  readonly added: readonly EngineRegistration[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Speaks a text and measures the speech and its word times, using the engines of the service without the service. English
 * is spoken by the built-in engine, and other languages by an engine that the user added and that reports word times.
 * @throws Failure (usage) if no engine speaks the language, or the text has nothing to speak
 */
export async function speakReference(options: ReferenceOptions): Promise<MeasuredReference> {
  const { signal, text } = options;
  const { engine, voice } = await openEngine(options);
  try {
    const request = { text, voice, speed: 1, pitch: 0, isTimed: true };
    return await measureReference(engine.synthesize(request, signal));
  } catch (error) {
    const { EngineError } = await import('../service/engine/speech-engine.ts');
    if (!(error instanceof EngineError)) throw error;
    throw usageFailure(`the text cannot be compared with the recording: ${error.message}`);
  } finally {
    await engine.close();
  }
}

interface OpenEngine {
  readonly engine: SpeechEngine;
  /** Id of the voice within the engine. */
  readonly voice: string;
}

async function openEngine({ added, clock, env, language }: ReferenceOptions): Promise<OpenEngine> {
  const base = baseOf(language);
  if (base === 'en') {
    const [{ createFliteEngine }, { REFERENCE_VOICE }, { FLITE_WORKER_FILE }] = await Promise.all([
      import('../service/engine/flite/engine.ts'),
      import('../service/engine/flite/voices.ts'),
      import('../service/worker-file.ts'),
    ]);
    const engine = createFliteEngine({ workerFile: FLITE_WORKER_FILE, clock });
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
  voices: readonly { readonly voice: { readonly language: string } }[] | undefined,
): Error {
  if (voices === undefined) {
    return usageFailure(
      `words in the language "${language}" need a speech engine that reports word times`,
      'Add one: foley engine add espeak-ng. English needs none.',
    );
  }
  const languages = [...new Set(['en', ...voices.map(({ voice }) => baseOf(voice.language))])];
  return usageFailure(
    `no engine with word times speaks the language "${language}"`,
    nearestHint(language, languages, `Languages: ${languages.toSorted().join(', ')}.`),
  );
}

function baseOf(language: string): string {
  return language.split('-', 1)[0]?.toLowerCase() ?? '';
}
