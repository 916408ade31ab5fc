import type { Input } from '../../../contract/realtime/client-messages.ts';
import { SIMPLE_INPUT_MAX_CHARACTERS } from '../../../contract/realtime/limits.ts';
import { countCodePoints } from '../../../text/code-points.ts';
import { reserve } from './speaking.ts';
import type { Move } from './step.ts';
import { changeRequest, fail, run } from './step.ts';

/** What the one segment of a simple request is called in the books. */
export const SIMPLE_SEGMENT_ID = 'input';

/** Inputs are gathered until one commits, and then spoken as one (spec section 4.10). */
export function takeInput({ text, commit = true, eventId }: Input): Move {
  return (state) => {
    const { request } = state;
    if (request === undefined || request.isStopped || state.phase !== 'speaking') {
      const message = request === undefined ? 'There is no request yet' : 'The input is committed';
      return run(state, fail({ code: 'invalid_state', message }, eventId));
    }
    if (state.isDraining) return run(state);
    const characters = request.characters + countCodePoints(text);
    const most = Math.min(SIMPLE_INPUT_MAX_CHARACTERS, request.segmentMaxCharacters);
    if (characters > most) {
      const message = `The input would have ${characters} characters; allowed are ${most}`;
      return run(state, fail({ code: 'segment_too_large', message, path: 'text' }, eventId));
    }
    const gathered = changeRequest({ texts: [...request.texts, text], characters });
    return run(state, gathered, ...(commit ? [commitInput(eventId)] : []));
  };
}

function commitInput(eventId: string | undefined): Move {
  return (state) => {
    const { texts = [], characters = 0 } = state.request ?? {};
    const text = texts.join('');
    const segment = { segmentId: SIMPLE_SEGMENT_ID, sequences: [], text, characters };
    return run(state, changeRequest({ isStopped: true }), reserve(segment, eventId));
  };
}
