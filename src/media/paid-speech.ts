import path from 'node:path';
import { resolveUrl } from '../api/resources/speech.ts';
import type { ApiClient } from '../api/client.ts';
import { fetchMediaFile } from '../api/resources/media.ts';
import { reviseFailure } from '../api/failures.ts';
import { extensionOf, formatOfMediaType } from '../audio/formats.ts';
import { Failure } from '../errors/failure.ts';
import type { Spool } from '../durable/spool.ts';
import { deliver } from '../paid/deliver.ts';
import type { BilledRequest, SpooledAudio } from '../paid/billed-request.ts';
import { counted } from '../text/display.ts';

export interface PaidSpeechDeps {
  readonly client: ApiClient;
  readonly spool: () => Promise<Spool>;
  readonly signal: AbortSignal;
  /**
   * Returns a shell command that creates a lip-sync job from speech that was already billed.
   * @param audio URL or file of the speech
   */
  readonly continueCommand: (audio: string) => string;
}

/**
 * Handles a dubbing that failed after its speech was billed: saves the speech in the spool (docs/api/errors.md).
 * Returns the failure with a command that uses this speech again. Returns undefined if the failure contains no URL of
 * billed speech.
 */
export async function reportPaidSpeech(
  failure: Failure,
  work: BilledRequest,
  deps: PaidSpeechDeps,
): Promise<Failure | undefined> {
  const url = resolveUrl(deps.client, failure.details?.['tts_audio_url']);
  if (url === undefined) return undefined;
  const credits = failure.details?.['tts_credits_used'];
  const creditsUsed = typeof credits === 'number' ? credits : undefined;
  const kept = await keep(url, failure, work, creditsUsed, deps).catch(
    (error: unknown): undefined => {
      // After an abort the failure is still returned, because it contains the only URL of the speech.
      if (!(error instanceof Failure) && !deps.signal.aborted) throw error;
    },
  );
  await work.failed(failure, kept);
  const cost = creditsUsed === undefined ? '' : ` for ${counted(creditsUsed, 'credit')}`;
  const savedWhere = kept === undefined ? 'stored on the service' : `saved in ${kept.path}`;
  // Use the file for the embedded service, whose URL is different in every command.
  const isThere = deps.client.address.kind === 'hosted' || kept === undefined;
  const line = deps.continueCommand(isThere ? url.href : kept.path);
  return reviseFailure(failure, {
    billed: 'yes',
    message: `${failure.message}; the speech was billed${cost} and is ${savedWhere}`,
    hint: `Run \`${line}\` to continue without paying for the speech again.`,
  });
}

async function keep(
  url: URL,
  failure: Failure,
  work: BilledRequest,
  creditsUsed: number | undefined,
  { client, signal, spool }: PaidSpeechDeps,
): Promise<SpooledAudio> {
  const opened = await spool();
  const answer = await fetchMediaFile(client, url, signal);
  const format = formatOfMediaType(answer.contentType) ?? 'wav';
  const writer = await opened
    .create({
      what: 'speech',
      extension: extensionOf(format),
      output: null,
      requestId: failure.requestId ?? null,
      creditsUsed: creditsUsed ?? null,
      operation: work.id,
      problem: failure.message,
    })
    .catch((error: unknown) => {
      answer.discard();
      throw error;
    });
  let complete = false;
  try {
    await deliver(
      answer,
      format,
      {
        write: (chunk) => writer.write(chunk),
        refuse: (refused) => Promise.reject(refused),
      },
      undefined,
    );
    complete = true;
  } finally {
    await writer.keep({ complete });
  }
  return { id: writer.id, path: path.resolve(writer.path), complete };
}
