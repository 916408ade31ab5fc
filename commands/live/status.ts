import { getRealtimeRequest } from '../../src/api/realtime.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { facts } from '../../src/cli/facts.ts';
import { shown } from './shown.ts';
import type { ProtocolFlag } from './protocol-flag.ts';
import { protocolOption } from './protocol-flag.ts';

/** `foley live status REQUEST_ID` (contract, section 10; spec sections 3.2 and 4.10). */
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
    const { raw, value } = await getRealtimeRequest(client, protocol, { requestId, signal });
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
