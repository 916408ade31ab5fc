import { basename } from 'node:path';
import type { ApiClient } from '../api/client.ts';
import { reviseFailure } from '../api/failures.ts';
import type { RequestSpec } from '../api/request.ts';
import { sendSpeech } from '../api/resources/speech.ts';
import type { UnknownRecord } from '../api/response.ts';
import { extensionOf, formatNamed } from '../audio/formats.ts';
import type { FileDeps } from '../durable/files.ts';
import { isTemporaryName, removeQuietly } from '../durable/files.ts';
import type { IntentJournal, OpenIntent } from '../durable/intents.ts';
import { downloadName } from '../durable/names.ts';
import { openOutput } from '../durable/publish.ts';
import type { Spool } from '../durable/spool.ts';
import { Failure } from '../errors/failure.ts';
import type { Recovered } from './recover.ts';
import { NOWHERE, speak } from './speak.ts';

export interface SpeechRecoveryDeps extends FileDeps {
  readonly client: ApiClient;
  readonly journal: IntentJournal;
  readonly spool: Spool;
  readonly signal: AbortSignal;
  /** Tells the person something that is no failure. */
  readonly notice: (line: string) => void;
}

/** A synchronous speech request whose response was interrupted, and its stored body. */
interface InterruptedSpeech {
  readonly intent: OpenIntent;
  readonly request: RequestSpec;
  readonly body: UnknownRecord;
}

/**
 * Sends a speech request again, under its key, and saves the audio under the name that it was meant to have, or
 * one like it where that is taken (docs/billing.md). A request that was refunded goes out once more under a new
 * key, unless the person chose the key.
 * @throws Failure; the operation stays open where it does not tell what became of the request. Or the reason of
 *   the signal
 */
export async function recoverSpeech(
  { body, intent, request }: InterruptedSpeech,
  deps: SpeechRecoveryDeps,
): Promise<Recovered> {
  const { client, journal, notice, signal, spool } = deps;
  const { about, id } = intent;
  const { format: name, text } = body;
  const format = (typeof name === 'string' ? formatNamed(name) : undefined) ?? 'mp3';
  const wanted = about?.output ?? downloadName(id, extensionOf(format));
  const output = await openOutput({ ...deps, path: wanted, existing: 'number' });
  let key = about?.idempotencyKey ?? null;
  try {
    const { answer, path } = await speak({
      client,
      // What is sent is in the request; of the text the longest audio follows.
      body: { text: typeof text === 'string' ? text : '', voiceId: '' },
      speech: { idempotencyKey: request.key, requestId: request.requestId, signal },
      transport: {
        request,
        async ask(renewed) {
          const onNewKey = (next: string): Promise<void> => renewed((key = next));
          return sendSpeech(client, { ...request, onNewKey }, body['cache'] === true).catch(
            undecided,
          );
        },
      },
      plan: { kind: 'stdout', format },
      output,
      stream: NOWHERE,
      journal,
      resumes: journal.resume(intent),
      spool: () => Promise.resolve(spool),
      notice,
    });
    const temporary = about?.temporary ?? '';
    if (isTemporaryName(basename(temporary))) await removeQuietly(temporary, deps);
    return {
      id,
      outcome: 'recovered',
      output: path ?? wanted,
      creditsUsed: answer.creditsUsed ?? null,
      requestId: answer.requestId,
      jobId: null,
      idempotencyKey: key,
      problem: null,
    };
  } finally {
    // After it was published or kept this does nothing.
    await output.abandon();
  }
}

/** What refuses this request only says nothing about the interrupted one, which may have been billed. */
function undecided(error: unknown): never {
  if (!(error instanceof Failure) || error.billed !== 'no' || isDecided(error)) throw error;
  throw reviseFailure(error, { billed: 'unknown' });
}

/** Whether a refusal under the key tells that the interrupted request was not taken, or was refunded. */
export function isDecided({ code, status }: Failure): boolean {
  if (status === 409) return DECIDED.has(code);
  // A body that is not valid was not valid before; what is no error of the service tells nothing.
  return code.startsWith('ERR_') && [400, 413, 415, 422].includes(status ?? 0);
}

const DECIDED: ReadonlySet<string> = new Set([
  'ERR_REQUEST_ID_CONFLICT',
  'ERR_REQUEST_PREVIOUSLY_REFUNDED',
]);
