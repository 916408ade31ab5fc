import { Option } from 'commander';
import { oneOf } from '../../src/cli/choice-flag.ts';
import type { RealtimeProtocol } from '../../src/contract/realtime/protocols.ts';

export const PROTOCOL_NAMES = ['v3', 'v2'] as const satisfies readonly RealtimeProtocol[];

export interface ProtocolFlag {
  readonly protocol?: RealtimeProtocol;
}

/** Which version of realtime speech is spoken. */
export function protocolOption(): Option {
  return new Option(
    '--protocol <version>',
    `version of realtime speech: ${PROTOCOL_NAMES.join(', ')} (default: v3)`,
  ).argParser(oneOf('--protocol', PROTOCOL_NAMES));
}
