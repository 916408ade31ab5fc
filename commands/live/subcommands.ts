import { Option } from 'commander';
import type { AudioResponse } from '../../src/api/audio-response.ts';
import {
  createBrowserTicket,
  fetchRealtimeSegment,
  getRealtimeCapabilities,
  getRealtimeRequest,
} from '../../src/api/resources/realtime.ts';
import { extensionOf, formatOfMediaType } from '../../src/audio/formats.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import { downloadName } from '../../src/durable/names.ts';
import { openOutput } from '../../src/durable/publish.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display } from '../../src/text/display.ts';
import { formatValue, protocolOption } from './flags.ts';
import type { ProtocolFlag } from './flags.ts';

/** `foley live capabilities` (docs/api/realtime.md). */
export const liveCapabilities: CommandDefinition<ProtocolFlag> = {
  configure(command) {
    command
      .description('Shows the models, formats, modes and limits of realtime speech.')
      .addOption(protocolOption());
  },
  async run(context, { options: { protocol = 'v3' } }) {
    const { client } = await context.connect();
    const { raw, value } = await getRealtimeCapabilities(client, protocol, context.signal);
    const limits = isRecord(value['limits']) ? Object.entries(value['limits']) : [];
    const fields: (readonly [string, string])[] = [
      ['modes', formatValue(value['modes'])],
      ['formats', formatValue(value['formats'])],
      ['models', availableModels(value['models'])],
      ...limits.map(([name, limit]) => [name, formatValue(limit)] as const),
    ];
    return { data: raw, human: (style) => renderFields(fields, style) };
  },
};

function availableModels(models: unknown): string {
  if (!Array.isArray(models)) return formatValue(models);
  return models
    .filter((model) => !isRecord(model) || model['available'] !== false)
    .map((model: unknown) => formatValue(isRecord(model) ? (model['id'] ?? model) : model))
    .join(', ');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface TicketFlags extends ProtocolFlag {
  readonly origin: string;
}

/** `foley live ticket --origin URL` (docs/api/authentication.md, rule 6). */
export const liveTicket: CommandDefinition<TicketFlags> = {
  configure(command) {
    command
      .description(
        'Prints a ticket with which a web page of one origin opens one conversation. It expires soon and ' +
          'works once; the page never sees the API key.',
      )
      .addOption(
        new Option('--origin <url>', 'origin of the page, such as https://app.example.com')
          .argParser(parseOrigin)
          .makeOptionMandatory(),
      )
      .addOption(protocolOption())
      .addHelpText('after', TICKET_EXAMPLES);
  },
  async run(context, { options: { origin, protocol = 'v3' } }) {
    const { client } = await context.connect();
    const { signal } = context;
    const { raw, value } = await createBrowserTicket(client, protocol, origin, signal);
    return { data: raw, human: () => display(value.ticket) };
  },
};

const TICKET_EXAMPLES = `
Examples:
  $ foley live ticket --origin https://app.example.com
  $ foley live ticket --origin https://app.example.com --protocol v2 --json`;

function parseOrigin(given: string): string {
  const isOrigin = URL.canParse(given) && new URL(given).origin === given.replace(/\/$/, '');
  if (isOrigin && given.startsWith('http')) return new URL(given).origin;
  throw usageFailure(
    `--origin "${given}" is not the origin of a page`,
    'Give scheme, host and port without a path, such as https://app.example.com.',
  );
}

/** `foley live status REQUEST_ID` (docs/api/realtime.md#request-states). */
export const liveStatus: CommandDefinition<ProtocolFlag> = {
  configure(command) {
    command
      .description('Shows the state of a realtime request, its cost, and its stored segments.')
      .argument('<request-id>', 'id of the request')
      .addOption(protocolOption());
  },
  async run(context, { args: [requestId = ''], options: { protocol = 'v3' } }) {
    const { client } = await context.connect();
    const { signal } = context;
    const { raw, value } = await getRealtimeRequest(client, protocol, requestId, signal);
    const { resultAvailable, retryable, segments, state, units } = value;
    const stored = Array.isArray(segments) ? segments.filter(isStored) : [];
    const ids = stored.map((one) => formatValue(isRecord(one) ? (one['segmentId'] ?? one) : one));
    const fields = [
      ['state', formatValue(state)],
      ['retryable', formatValue(retryable)],
      ['units', formatValue(units)],
      ['stored', ids.join(', ') || formatValue(resultAvailable)],
    ] as const;
    return { data: raw, human: (style) => renderFields(fields, style) };
  },
};

/** A listed segment is stored, unless its state says otherwise. */
function isStored(segment: unknown): boolean {
  return !isRecord(segment) || !('state' in segment) || segment['state'] === 'completed';
}

interface SegmentFlags extends ProtocolFlag {
  readonly output?: string;
}

/** `foley live segment REQUEST_ID SEGMENT_ID -o F` (docs/api/realtime.md). */
export const liveSegment: CommandDefinition<SegmentFlags> = {
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
    checkOutput(context, path, protocol);
    const isFile = path !== undefined && path !== '-';
    let output = isFile ? await openOutput({ ...context, path, existing: 'replace' }) : undefined;
    try {
      const { client } = await context.connect();
      const { signal } = context;
      const audio = await fetchRealtimeSegment(client, requestId, segmentId, signal);
      if (path === undefined) {
        const name = segmentName(audio, `${requestId}-${segmentId}`);
        output = await openOutput({ ...context, path: name, existing: 'reuse' });
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

/** @throws Failure (usage) */
function checkOutput({ globals, io }: Context, output: string | undefined, protocol: string): void {
  if (protocol === 'v2') {
    throw usageFailure('--protocol v2 stores no audio', 'Omit --protocol v2.');
  }
  if (output === '') throw usageFailure('--output is empty', 'Give a file name, or - for stdout.');
  if (output === '-') io.requireStdout();
  if (output !== '-' || globals.json !== true) return;
  throw usageFailure(
    '--json and audio cannot both go to stdout',
    'Give a file with -o, or omit --json.',
  );
}
