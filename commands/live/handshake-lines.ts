import { redactUrl } from '../../src/api/redact.ts';
import type { Context } from '../../src/cli/context.ts';
import { describeEvent } from '../../src/cli/verbose.ts';
import type { Handshake } from '../../src/live/handshake.ts';

/** One line for each handshake, as for every request (`--verbose`); between two of them lies a conversation. */
export function handshakeLines(
  {
    clock,
    globals,
    io,
  }: Pick<Context, 'clock'> & {
    readonly globals: Pick<Context['globals'], 'verbose'>;
    readonly io: Pick<Context['io'], 'complain'>;
  },
  requestId: string,
): Pick<Handshake, 'onAnswer' | 'onConnect'> {
  let attempt = 0;
  let since = clock.monotonic();
  return {
    onConnect() {
      attempt += 1;
      since = clock.monotonic();
    },
    onAnswer({ url, ...answer }) {
      if (globals.verbose !== true) return;
      const ms = clock.monotonic() - since;
      const seen = { method: 'GET', url: redactUrl(url), ms, requestId, attempt };
      io.complain(
        describeEvent(
          answer.status === undefined
            ? { type: 'no_answer', ...seen, reason: answer.reason }
            : { type: 'answer', ...seen, status: answer.status },
        ),
      );
    },
  };
}
