import type { EngineVoice, SpeechEngine } from './speech-engine.ts';

/** An engine together with one of its voices. */
export interface VoiceOfEngine {
  readonly engine: SpeechEngine;
  readonly voice: EngineVoice;
}

/** The engines that a service has, by name: the built-in one and whatever was added to it. */
export class EngineRegistry {
  readonly #engines: ReadonlyMap<string, SpeechEngine>;

  /** @throws RangeError when two engines have the same name */
  constructor(engines: readonly SpeechEngine[]) {
    this.#engines = new Map(engines.map((engine) => [engine.name, engine]));
    if (this.#engines.size < engines.length) {
      throw new RangeError('Two speech engines have the same name.');
    }
  }

  /** The engine and its voice, or `undefined` where this service has no such engine or voice. */
  find(engineName: string, voiceId: string): VoiceOfEngine | undefined {
    const engine = this.#engines.get(engineName);
    const voice = engine?.voices.find(({ id }) => id === voiceId);
    return engine === undefined || voice === undefined ? undefined : { engine, voice };
  }

  /** Every voice of every engine. */
  all(): readonly VoiceOfEngine[] {
    return [...this.#engines.values()].flatMap((engine) =>
      engine.voices.map((voice) => ({ engine, voice })),
    );
  }

  /** Ends all engines. */
  async close(): Promise<void> {
    await Promise.all([...this.#engines.values()].map((engine) => engine.close()));
  }
}
