import { getRealtimeRequest } from '../../src/api/resources/realtime.ts';
import { isRecord } from '../../src/api/response.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import type { ProtocolFlag } from './flags.ts';
import { formatValue, protocolOption } from './flags.ts';

/** Defines the command `foley live status REQUEST_ID` (docs/api/realtime.md#request-states). */
export const definition: CommandDefinition<ProtocolFlag> = {
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

function isStored(segment: unknown): boolean {
  return !isRecord(segment) || !('state' in segment) || segment['state'] === 'completed';
}
