import { reviseFailure } from '../api/revise-failure.ts';
import { Failure } from '../errors/failure.ts';
import type { Ending } from './events.ts';

/** A failure over HTTP, as the machine takes it. */
export function failureEnding(failure: Failure): Ending {
  const { billed, code, exit, message } = failure;
  return { exit, code, message, billed, cause: failure };
}

/**
 * What the person is told of a conversation that did not end well (contract, sections 4 and 10).
 * @param requestId under which the service knows it
 */
export function endingFailure(ending: Ending, requestId: string): Failure {
  const { billed, cause, code, exit, lostSegments, message } = ending;
  const details = lostSegments === undefined ? {} : { details: { segments: lostSegments } };
  const hint = hintOf(ending);
  if (cause !== undefined) {
    return reviseFailure(cause, { billed, code, exit, ...(cause.exit === exit ? {} : { hint }) });
  }
  return new Failure(message, { billed, code, exit, hint, requestId, ...details });
}

function hintOf({ code, exit }: Ending): string | undefined {
  return BY_CODE.get(code) ?? BY_EXIT.get(exit);
}

const BY_EXIT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    auth: 'Check FOLEY_API_KEY or --api-key-file, or run `foley auth login`.',
    credits: '`foley profile` shows what is left.',
    rateLimited: 'Wait a little, or begin another conversation.',
    service: 'Try again later.',
    network: 'Check the network, and try again.',
    badAnswer: 'If it happens again, ask the service, with the request id.',
    unknownOutcome: '`foley live status` tells what became of it.',
  }),
);

const BY_CODE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    voice_not_found: '`foley voices list` shows the voices.',
    model_not_found: '`foley live capabilities` shows the models.',
    unsupported_parameter: '`foley live capabilities` shows what the model takes.',
    idempotency_conflict: 'Use another --request-id, or say exactly what was said then.',
  }),
);
