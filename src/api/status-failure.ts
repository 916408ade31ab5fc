import type { ExitName } from '../contract/exit-codes.ts';
import type { Billed } from '../errors/failure.ts';
import { Failure } from '../errors/failure.ts';
import { LONGEST_RETRY_AFTER_MS } from './retry.ts';
import type { ServiceError } from './service-error.ts';

/** An answer that is an error, and what was asked. */
export interface StatusFacts {
  readonly status: number;
  readonly error: ServiceError;
  /** The service's own id, else the one that was sent. */
  readonly requestId: string;
  readonly retryAfterMs: number | undefined;
  readonly billed: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Meaning {
  readonly exit: ExitName;
  readonly what: string;
  readonly hint: string;
}

/** What a status of the spec's section 7 means to the person who asked. */
export function statusFailure(facts: StatusFacts): Failure {
  const { status, error, retryAfterMs } = facts;
  const meaning = meaningOf(status, error.code);
  const said = error.message === undefined ? '' : `: ${error.message}`;
  return new Failure(`${meaning.what} (${status})${said}`, {
    // An error that is not in the service's own words comes from something in between.
    code: error.code ?? (status === 401 ? 'no_key' : 'bad_answer'),
    exit: meaning.exit,
    hint: meaning.hint + waitHint(facts),
    billed: billedBy(facts),
    status,
    requestId: error.requestId ?? facts.requestId,
    retryAfter: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000),
    details: error.details,
  });
}

/**
 * What the status of a store means that the service redirected to: the key was not sent there, so that nothing
 * about key, credits or request follows from it.
 */
export function storeFailure(
  host: string,
  { requestId, retryAfterMs, status }: Pick<StatusFacts, 'requestId' | 'retryAfterMs' | 'status'>,
): Failure {
  const isRefused = isRefusal(status);
  const exit = status === 429 ? 'rateLimited' : isRefused ? 'badAnswer' : 'service';
  const what = isRefused ? 'refused it' : 'failed';
  return new Failure(`the store of the file at ${host} ${what} (${status})`, {
    code: 'bad_answer',
    exit,
    hint: isRefused
      ? 'A link to a file is good for a while only, and a new one was refused too: try again later.'
      : 'Try again later.',
    billed: 'no',
    status,
    requestId,
    retryAfter: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000),
    details: { store: host },
  });
}

/** Whether a store refused a link, so that a fresh one may help. */
export function isRefusedByStore({ details, status }: Failure): boolean {
  return details?.['store'] !== undefined && status !== undefined && isRefusal(status);
}

/** Whether the service itself says that something is not there. */
export function isNotFound(error: unknown): error is Failure {
  if (!(error instanceof Failure) || error.details?.['store'] !== undefined) return false;
  return error.status === 404 || error.status === 410;
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status);
}

function meaningOf(status: number, code: string | undefined): Meaning {
  const known = BY_CODE.get(code ?? '') ?? BY_STATUS.get(String(status));
  if (known !== undefined) return known;
  if (status >= 500) return SERVICE_TROUBLE;
  if (status >= 400) return REJECTED;
  return {
    exit: 'badAnswer',
    what: 'the answer has a status that no answer of the service has',
    hint: 'Check --base-url: is it really the service?',
  };
}

const REJECTED: Meaning = {
  exit: 'rejected',
  what: 'the service rejected the request',
  hint: 'Change the request; the same one will be refused again.',
};

const SERVICE_TROUBLE: Meaning = {
  exit: 'service',
  what: 'the service failed',
  hint: 'Try again later; keep the request id for a question to the service.',
};

const BY_STATUS = new Map(
  Object.entries<Meaning>({
    401: {
      exit: 'auth',
      what: 'the service does not accept the API key',
      hint: 'Check FOLEY_API_KEY or --api-key-file, or run `foley auth login`.',
    },
    402: {
      exit: 'credits',
      what: 'not enough credits or quota',
      hint: '`foley profile` shows what is left.',
    },
    403: {
      exit: 'auth',
      what: 'this API key may not do that',
      hint: 'Use a key or account with the permission.',
    },
    404: {
      exit: 'rejected',
      what: 'not found, or not yours',
      hint: 'Check the id, and that it belongs to the same account.',
    },
    413: {
      exit: 'rejected',
      what: 'the request is too large',
      hint: 'Send less at once.',
    },
    429: {
      exit: 'rateLimited',
      what: 'too many requests',
      hint: 'Wait a little, and send fewer requests at a time.',
    },
    503: {
      exit: 'service',
      what: 'the service or the model is not available now',
      hint: 'Try again later; `foley models` shows what is available.',
    },
    507: {
      exit: 'service',
      what: 'the disk of the service is full',
      hint: 'Make room where the service keeps its data, or give it another folder (`foley serve --data-dir`; XDG_STATE_HOME for the embedded service); then run it again.',
    },
  }),
);

const BY_CODE = new Map(
  Object.entries<Meaning>({
    ERR_REQUEST_ID_CONFLICT: {
      exit: 'rejected',
      what: 'the same key or request id was used for a different request',
      hint: 'Use another --idempotency-key or --request-id, or send exactly what was sent then.',
    },
    ERR_REQUEST_IN_PROGRESS: {
      exit: 'unknownOutcome',
      what: 'the same request is still in progress',
      hint: 'Wait until it is done.',
    },
    ERR_REQUEST_ALREADY_COMPLETED: {
      exit: 'lost',
      what: 'this request was completed and billed before, and its audio is not sent a second time',
      hint: 'Look for the earlier output; a new key buys it again.',
    },
    ERR_REQUEST_PREVIOUSLY_REFUNDED: {
      exit: 'rejected',
      what: 'this request failed before and was refunded; its key cannot be used again',
      hint: 'Use another --idempotency-key or --request-id.',
    },
  }),
);

const BILLED_BY_CODE = new Map(
  Object.entries<Billed>({
    ERR_REQUEST_ALREADY_COMPLETED: 'yes',
    ERR_REQUEST_IN_PROGRESS: 'unknown',
    ERR_MODEL_UNAVAILABLE: 'no',
    ERR_NOT_IMPLEMENTED: 'no',
    ERR_STORAGE_FULL: 'no',
  }),
);

/** A refusal costs nothing; after a failure within the service only its settlement tells. */
function billedBy({ billed, error, status }: StatusFacts): Billed {
  if (!billed) return 'no';
  // A dub whose lip sync could not start has paid for its speech (spec section 7.3).
  if (error.details?.['tts_audio_url'] !== undefined) return 'yes';
  const known = BILLED_BY_CODE.get(error.code ?? '');
  return known ?? (status >= 400 && status < 500 ? 'no' : 'unknown');
}

function waitHint({ now, retryAfterMs }: StatusFacts): string {
  if (retryAfterMs === undefined || retryAfterMs <= LONGEST_RETRY_AFTER_MS) return '';
  return ` It asks to be left alone until ${new Date(now + retryAfterMs).toISOString()}.`;
}
