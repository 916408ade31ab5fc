import { realtimeV1, upgradeRequired } from '../realtime/live-paths.ts';
import type { AccountCall, Handler } from './call.ts';
import type * as routes from './realtime.ts';

type Routes = typeof routes;

/** A handler of realtime speech; what it needs is loaded with the first request, as few processes have one. */
export function realtimeHandler(
  pick: (routes: Routes) => Handler<AccountCall>,
): Handler<AccountCall> {
  return async (call, context) => pick(await import('./realtime.ts'))(call, context);
}

/** The address of the WebSocket, asked for as a document (spec section 4.10). */
export const refuseRealtime: Handler<AccountCall> = () => {
  throw upgradeRequired();
};

/** Version 1 of realtime speech is not described (spec section 9). */
export const refuseRealtimeV1: Handler = () => {
  throw realtimeV1();
};
