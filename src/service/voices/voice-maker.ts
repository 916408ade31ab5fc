import type { Clock } from '../../effects/clock.ts';
import type { Random } from '../../effects/random.ts';
import type { EngineRegistry } from '../engine/registry.ts';
import type { UploadedFile } from '../http/multipart-form.ts';
import type { Listener, OpenListener } from './listen/listening-thread.ts';
import type { VoiceWishes } from './clone-voice.ts';
import { cloneVoice } from './clone-voice.ts';
import type { Measuring } from './natural-voices.ts';
import { NaturalVoices } from './natural-voices.ts';
import type { PersonalVoice } from './personal-voices.ts';

/** Makes voices, one at a time, so that what many of them need at once is what one needs. */
export interface VoiceMaker {
  readonly voices: NaturalVoices;
  /** As `cloneVoice`. @throws the signal's reason, once it is aborted */
  clone(
    request: { readonly files: readonly UploadedFile[]; readonly wishes: VoiceWishes },
    signal: AbortSignal,
  ): Promise<PersonalVoice>;
  /**
   * Does something with a listener of its own, when it is its turn.
   * @throws the signal's reason, once it is aborted, and what the work throws
   */
  listening<Result>(
    work: (measuring: Measuring) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result>;
}

interface VoiceMakerDeps {
  readonly engines: EngineRegistry;
  readonly openListener: OpenListener;
  readonly clock: Clock;
  readonly random: Random;
}

export function createVoiceMaker(deps: VoiceMakerDeps): VoiceMaker {
  const turns = createTurns();
  const voices = new NaturalVoices(deps.engines);
  const listening: VoiceMaker['listening'] = (work, signal) =>
    turns.take(async () => {
      const listener = whenNeeded(deps.openListener);
      try {
        return await work({ listener, signal });
      } finally {
        await listener.close();
      }
    }, signal);
  return {
    voices,
    clone: (request, signal) =>
      listening((measuring) => cloneVoice({ ...deps, voices }, request, measuring), signal),
    listening,
  };
}

/** A listener that is opened by the first question: voices that were measured before need none. */
function whenNeeded(open: OpenListener): Listener {
  let opened: Listener | undefined;
  const listener = (): Listener => (opened ??= open());
  return {
    hearFiles: (files, signal) => listener().hearFiles(files, signal),
    hearSamples: (speech, signal) => listener().hearSamples(speech, signal),
    close: async () => opened?.close(),
  };
}

/** Does work in the order in which it comes, one piece at a time. */
interface Turns {
  /**
   * Does the work when it is its turn; nothing of it when the signal is aborted before.
   * @throws the signal's reason, and what the work throws
   */
  take<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
}

function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(work, signal) {
      const done = last.then(() => {
        signal.throwIfAborted();
        return work();
      });
      last = done.catch(() => undefined);
      return done;
    },
  };
}
