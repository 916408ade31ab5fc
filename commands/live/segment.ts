import { Option } from 'commander';
import type { AudioResponse } from '../../src/api/resources/speech.ts';
import { fetchRealtimeSegment } from '../../src/api/resources/realtime.ts';
import { extensionOf, foreignOutput, formatOfMediaType } from '../../src/audio/formats.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { checkOutputFlag } from '../../src/cli/flags/values.ts';
import { REALTIME_FORMATS } from '../../src/contract/realtime/protocols.ts';
import { downloadName } from '../../src/durable/names.ts';
import { openOutput } from '../../src/durable/publish.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display } from '../../src/text/display.ts';
import type { ProtocolFlag } from './flags.ts';
import { protocolOption } from './flags.ts';

/** The stored audio of a segment. */
export interface SegmentDocument {
  readonly requestId: string;
  readonly segmentId: string;
  /** Path of the file; null if the audio went to stdout. */
  readonly output: string | null;
  readonly bytes: number;
}

interface SegmentFlags extends ProtocolFlag {
  readonly output?: string;
}

/** Defines the command `foley live segment REQUEST_ID SEGMENT_ID -o F` (docs/api/realtime.md). */
export const definition: CommandDefinition<SegmentFlags, SegmentDocument> = {
  configure(command) {
    command
      .description(
        'Saves the stored audio of one segment unchanged, by default as ' +
          '<request-id>-<segment-id>.<ext>. It costs nothing.',
      )
      .argument('<request-id>', 'id of the request')
      .argument('<segment-id>', 'id of the segment')
      .addOption(new Option('-o, --output <path>', 'write to a file; - is stdout'))
      .addOption(protocolOption());
  },
  async run(context, { args: [requestId = '', segmentId = ''], options }) {
    const { output: path, protocol = 'v3' } = options;
    if (protocol === 'v2') {
      throw usageFailure(
        '--protocol v2 does not work with foley live segment: the service stores no audio of v2 requests',
        'Omit --protocol v2.',
      );
    }
    checkOutputFlag(path, context.globals.json === true);
    const foreign = foreignOutput('--output', path ?? '', REALTIME_FORMATS);
    if (foreign !== undefined) throw foreign;
    if (path === '-') context.io.requireStdout();
    const isFile = path !== undefined && path !== '-';
    let output = isFile
      ? await openOutput(context.system, { signal: context.signal, path, existing: 'replace' })
      : undefined;
    try {
      const { client } = await context.connect();
      const { signal } = context;
      const audio = await fetchRealtimeSegment(client, requestId, segmentId, signal);
      if (path === undefined) {
        const name = segmentName(audio, `${requestId}-${segmentId}`);
        output = await openOutput(context.system, {
          signal: context.signal,
          path: name,
          existing: 'reuse',
        });
      }
      let bytes = 0;
      // Only the first segment has the header of its format, so the audio is not verified.
      for await (const chunk of audio.body) {
        bytes += chunk.length;
        await (output === undefined ? context.io.writeOut(chunk) : output.write(chunk));
      }
      const published = (await output?.publish())?.path ?? null;
      return {
        data: { requestId, segmentId, output: published, bytes },
        ...(published === null ? {} : { human: () => display(published) }),
      };
    } finally {
      // Does nothing after `publish`.
      await output?.abandon();
    }
  },
};

function segmentName({ contentType }: AudioResponse, id: string): string {
  const format = formatOfMediaType(contentType);
  return downloadName(id, format === undefined ? 'audio' : extensionOf(format));
}
