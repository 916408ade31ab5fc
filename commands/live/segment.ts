import { Option } from 'commander';
import type { AudioAnswer } from '../../src/api/audio-response.ts';
import { fetchRealtimeSegment } from '../../src/api/resources/realtime.ts';
import { extensionOf, formatOfMediaType } from '../../src/audio/formats.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { downloadName } from '../../src/durable/names.ts';
import type { Output } from '../../src/durable/output.ts';
import { openOutput } from '../../src/durable/publish.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display } from '../../src/text/display.ts';
import type { ProtocolFlag } from './flags.ts';
import { protocolOption } from './flags.ts';

interface SegmentFlags extends ProtocolFlag {
  readonly output?: string;
}

/** `foley live segment REQUEST_ID SEGMENT_ID -o F` (docs/api/realtime.md). */
export const liveSegment: CommandDefinition<SegmentFlags> = {
  configure(command) {
    command
      .description(
        'Saves the stored audio of one segment as it was sent, as <request-id>-<segment-id>.<ext> ' +
          'unless -o says otherwise. It costs nothing.',
      )
      .argument('<request-id>', 'id of the request')
      .argument('<segment-id>', 'id of the segment')
      .addOption(new Option('-o, --output <path>', 'write to a file; - is stdout'))
      .addOption(protocolOption());
  },
  async run(context, { args: [requestId = '', segmentId = ''], options }) {
    const { output: wanted, protocol = 'v3' } = options;
    refuse(context, wanted, protocol);
    const opened = isFile(wanted) ? await open(context, wanted, 'replace') : undefined;
    let output = opened;
    try {
      const { client } = await context.connect();
      const { signal } = context;
      const audio = await fetchRealtimeSegment(client, requestId, segmentId, signal);
      if (wanted === undefined)
        output = await openAutomatic(context, audio, [requestId, segmentId]);
      const bytes = await save(context, audio, output);
      const path = (await output?.publish())?.path ?? null;
      return {
        data: { requestId, segmentId, output: path, bytes },
        ...(path === null ? {} : { human: () => display(path) }),
      };
    } finally {
      // After it was published this does nothing.
      await output?.abandon();
    }
  },
};

/** @throws Failure (usage) */
function refuse({ globals, io }: Context, output: string | undefined, protocol: string): void {
  if (protocol === 'v2') {
    throw usageFailure('v2 of realtime speech stores no audio', 'Leave --protocol v2 out.');
  }
  if (output === '') throw usageFailure('--output is empty', 'Give a file name, or - for stdout.');
  if (output === '-') io.requireStdout();
  if (output !== '-' || globals.json !== true) return;
  throw usageFailure(
    '--json and audio cannot both go to stdout',
    'Give a file with -o, or leave --json out.',
  );
}

function isFile(output: string | undefined): output is string {
  return output !== undefined && output !== '-';
}

function open(context: Context, path: string, existing: 'replace' | 'reuse'): Promise<Output> {
  return openOutput({ ...context, path, existing });
}

function openAutomatic(
  context: Context,
  { contentType }: AudioAnswer,
  ids: readonly string[],
): Promise<Output> {
  const format = formatOfMediaType(contentType);
  const extension = format === undefined ? 'audio' : extensionOf(format);
  return open(context, downloadName(ids.join('-'), extension), 'reuse');
}

/** Only the first segment has the head of a file of its format, so that its bytes cannot be judged alone. */
async function save(
  context: Context,
  audio: AudioAnswer,
  output: Output | undefined,
): Promise<number> {
  let bytes = 0;
  for await (const chunk of audio.body) {
    bytes += chunk.length;
    await (output === undefined ? context.io.writeOut(chunk) : output.write(chunk));
  }
  return bytes;
}
