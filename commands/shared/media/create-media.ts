import type { MediaJob, MediaOptions, MediaRequest } from '../../../src/api/resources/media.ts';
import { mediaJobRequest, mediaPace } from '../../../src/api/resources/media.ts';
import type { MediaJobKind } from '../../../src/api/resources/models.ts';
import { abortable } from '../../../src/system/concurrency.ts';
import type { InputAddresses, MediaInput } from '../../../src/media/inputs.ts';
import { orderMedia } from '../../../src/media/order-media.ts';
import type { PerformedJob } from '../../../src/paid/job.ts';
import { requireSharp } from '../../../src/embedded/missing-binary.ts';
import type { Context, ServiceConnection } from '../../../src/cli/command.ts';
import { pollingAt } from '../flags/jobs.ts';
import type { MediaCreateFlags } from '../flags/media.ts';
import type { JobDocument } from '../jobs/format.ts';
import { reportCreated } from '../jobs/format.ts';
import { openSpool, withJournal } from '../journal.ts';
import type { CommandResult, DryRunDocument } from '../../../src/cli/render/result.ts';
import { dryRunResult } from '../../../src/cli/render/result.ts';
import type { MediaPlace } from './format.ts';
import { mediaPlace, billingNotice, mediaPresenter, resumeMedia } from './format.ts';
import { urlsOf, describedUrls } from './input-addresses.ts';

export interface MediaCreation {
  readonly kind: MediaJobKind;
  readonly inputs: readonly MediaInput[];
  /**
   * Builds the request body from the URLs of the input files.
   * @throws Failure of kind `usage` if the service would refuse the request
   */
  readonly order: (urls: readonly string[], connection: ServiceConnection) => Promise<MediaRequest>;
  /**
   * Returns a shell command for a failed dubbing whose speech was already billed. The command creates a lip sync from
   * this speech, so that the user does not pay for it again.
   * @param audio URL or path of the speech
   */
  readonly continueCommand?: (audio: string) => string;
  /** An output that is already open, used instead of `--output`. */
  readonly place?: MediaPlace;
}

/** Returns the request as `--dry-run` prints it, with local files as `file:` URLs. */
export async function describeMedia(
  context: Context,
  { inputs, kind, order }: MediaCreation,
  flags: MediaCreateFlags,
): Promise<CommandResult<DryRunDocument>> {
  const connection = await context.connect();
  const body = await order(describedUrls(inputs), connection);
  const options = optionsOf(context, kind, flags);
  return dryRunResult(connection.client.describe(mediaJobRequest(kind, body, options)));
}

/** Opens the output, creates the job and prints the job id. With `--wait` or `--output`, then waits for the job. */
export async function createMedia(
  context: Context,
  task: MediaCreation,
  flags: MediaCreateFlags,
): Promise<{
  readonly outcome: PerformedJob<MediaJob>;
  readonly result: ReturnType<typeof resultOf>;
}> {
  const { clobber, output } = flags;
  const place =
    task.place ??
    (output === undefined ? undefined : await mediaPlace(context, task.kind, { clobber, output }));
  try {
    const connection = await abortable(context.connect(), context.signal);
    if (connection.target === 'embedded' && NEEDS_SHARP.has(task.kind)) await requireSharp();
    const addresses = await urlsOf(context, task.inputs, connection);
    const opened = { connection, addresses, place };
    const outcome = await perform(context, task, flags, opened).finally(() => addresses.close());
    return { outcome, result: resultOf(context, outcome, connection.target) };
  } finally {
    // Does nothing after the file was published.
    await place?.abandon();
  }
}

const NEEDS_SHARP: ReadonlySet<MediaJobKind> = new Set(['image', 'video']);

interface OpenedMedia {
  readonly connection: ServiceConnection;
  readonly addresses: InputAddresses;
  readonly place: MediaPlace | undefined;
}

async function perform(
  context: Context,
  { continueCommand, kind, order }: MediaCreation,
  flags: MediaCreateFlags,
  { addresses, connection, place }: OpenedMedia,
): Promise<PerformedJob<MediaJob>> {
  const body = await order(addresses.urls, connection);
  const progress = mediaPresenter(kind, connection.target).show(context, 'creating the job');
  return withJournal(
    context,
    () => progress.stop(),
    (tools) =>
      orderMedia({
        ...tools,
        client: connection.client,
        kind,
        continueCommand,
        order: body,
        options: { ...optionsOf(context, kind, flags), onRepeat: () => addresses.renew() },
        placeFor: place?.placeFor,
        file: place?.file,
        spool: () => openSpool(context),
        waits: flags.wait === true || place !== undefined,
        polling: {
          ...pollingAt<MediaJob>(context, mediaPace(flags.pollInterval), flags),
          onState: (job) => progress.state(job),
        },
        async onCreated(job) {
          await addresses.close();
          await reportCreated(context, flags.output, job.id);
          const billing = billingNotice(job);
          if (billing !== undefined) context.io.notice(billing);
          progress.state(job);
        },
        resume: (id) => resumeMedia(context, kind, [id], place?.nextName()),
      }),
  );
}

function optionsOf(
  { system: { random }, signal }: Context,
  kind: MediaJobKind,
  { idempotencyKey, requestId }: MediaCreateFlags,
): MediaOptions & { readonly signal: AbortSignal } {
  const madeByTool = idempotencyKey === undefined;
  // Lip sync does not recognize repeated keys: send only a key that the user gave.
  const isSent = !madeByTool || kind !== 'lipsync';
  const key = isSent ? { value: idempotencyKey ?? random.uuid(), madeByTool } : undefined;
  return { idempotencyKey: key, requestId, signal };
}

function resultOf(
  { io }: Context,
  { failure, job, requestId, saved }: PerformedJob<MediaJob>,
  target: 'embedded' | 'hosted',
): CommandResult<JobDocument> & { readonly data: JobDocument } {
  const words = mediaPresenter(job.kind, target);
  if (failure === undefined) {
    io.notice(words.saved({ job, saved }));
    for (const notice of job.notices ?? []) io.notice(`foley: ${notice}`);
    const cut = words.cut?.(job);
    if (cut !== undefined) io.warn(cut);
  }
  return {
    data: words.document({ job, requestId, saved }),
    ...(failure === undefined ? {} : { failure }),
  };
}
