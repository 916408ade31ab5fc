import { Failure } from '../errors/failure.ts';
import type { Answer } from './answer.ts';
import type { CreateAnswer } from './create-answer.ts';
import { firstText, namesNothing, readCreateAnswer } from './create-answer.ts';
import { reviseFailure } from './revise-failure.ts';

/** What a person may have made one of too many of. */
const NO_ROOM =
  '`foley profile` shows what is left. An account may also have only so many voices: ' +
  '`foley voices list --type personal` shows them, `foley voices delete ID` makes room.';

/** A voice that was made, by either description of it (spec section 2.1). */
export interface MadeVoice extends Omit<CreateAnswer, 'made'> {
  /** What speech is asked for with. */
  readonly voiceId: string;
  /** As the service has it, where it says so. */
  readonly name: string | undefined;
  /** ISO 8601, where the service says so. */
  readonly createdAt: string | undefined;
}

/** The same error; a 402 for a new voice may be about credits or about room (spec section 7.3). */
export function refusedVoice(error: unknown): unknown {
  const isFull = error instanceof Failure && error.status === 402;
  return isFull ? reviseFailure(error, { hint: NO_ROOM }) : error;
}

/**
 * The voice in the answer to its create: `voiceId` and `title`, or `id` and `name`.
 * @throws Failure (bad_answer) when it names none; the voice may be there all the same
 */
export async function readMadeVoice(answer: Answer): Promise<MadeVoice> {
  const { made, ...told } = await readCreateAnswer(answer, ['voice', 'data']);
  const voiceId = firstText(made['voiceId'], made['id']);
  if (voiceId === undefined) throw namesNothing('voice', answer);
  return {
    ...told,
    voiceId,
    name: firstText(made['title'], made['name']),
    createdAt: firstText(made['createdAt'], made['created_at']),
  };
}
