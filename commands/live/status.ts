import { getRealtimeRequest } from '../../src/api/resources/realtime.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { facts } from '../../src/cli/render/table.ts';
import { shown, protocolOption } from './flags.ts';
import type { ProtocolFlag } from './flags.ts';

/** `foley live status REQUEST_ID` (docs/api/realtime.md#request-states and docs/api/realtime.md). */
export const liveStatus: CommandDefinition<ProtocolFlag> = {
  configure(command) {
    command
      .description(
        'Shows what became of a realtime request: its state, what it cost, and which segments are stored.',
      )
      .argument('<request-id>', 'id of the request')
      .addOption(protocolOption());
  },
  async run(context, { args: [requestId = ''], options: { protocol = 'v3' } }) {
    const { client } = await context.connect();
    const { signal } = context;
    const { raw, value } = await getRealtimeRequest(client, protocol, requestId, signal);
    const { resultAvailable, retryable, segments, state, units } = value;
    const ids = Array.isArray(segments) ? segments.filter(isStored).map(idOf).join(', ') : '';
    return {
      data: raw,
      human: (look) =>
        facts(
          [
            ['state', shown(state)],
            ['may be run again', shown(retryable)],
            ['units', shown(units)],
            ['stored', ids === '' ? shown(resultAvailable) : ids],
          ],
          look,
        ),
    };
  },
};

/** What is there is stored, unless the service says that it is not yet spoken. */
function isStored(segment: unknown): boolean {
  const isTold = typeof segment === 'object' && segment !== null && 'state' in segment;
  return !isTold || segment.state === 'completed';
}

function idOf(segment: unknown): string {
  const isKnown = typeof segment === 'object' && segment !== null && 'segmentId' in segment;
  return shown(isKnown ? segment.segmentId : segment);
}
