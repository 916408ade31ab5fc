import { EngineError } from '../../engine/speech-engine.ts';
import type { ServiceContext } from '../../service-context.ts';
import type { SpokenStream } from '../speak.ts';
import { generate, requireSettled, type Speaking } from '../speak.ts';
import type { SpokenEvent } from './aligned-events.ts';
import { alignedEvents } from './aligned-events.ts';
import type { StartedEvents } from './aligned-body.ts';
import { alignedBody } from './aligned-body.ts';

/** A request for an aligned stream that was planned and paid for. */
export interface SpeakingAligned extends Speaking {
  readonly context: Speaking['context'] & Pick<ServiceContext, 'clock'>;
}

/**
 * Speaks with times, as far as the first of the audio; the charge stands from there on (spec sections
 * 6.1 and 7.2). The body settles the rest.
 * @throws ServiceError as `speakStream` does
 */
export function speakAligned(speaking: SpeakingAligned): Promise<SpokenStream> {
  const { context, operation, plan, requestId } = speaking;
  const { clock } = context;
  return generate(speaking, async (generation) => {
    const events = await start(alignedEvents(speaking, generation.signal));
    const { quota } = requireSettled(operation.commit());
    const bill = { quotaRemaining: quota, creditsUsed: plan.charge.credits };
    const onFailure = (error: unknown): void =>
      context.report({ type: 'failure', requestId, error });
    const body = alignedBody({ events, generation, operation, clock, requestId, bill, onFailure });
    return { body, quotaRemaining: quota };
  });
}

/** Reads events until there is audio. */
async function start(rest: StartedEvents['rest']): Promise<StartedEvents> {
  const head: SpokenEvent[] = [];
  for (;;) {
    const next = await rest.next();
    if (next.done === true) {
      throw new EngineError('unspeakable', 'The text has nothing that this voice can say');
    }
    head.push(next.value);
    if (next.value.name === 'audio') return { head, rest };
  }
}
