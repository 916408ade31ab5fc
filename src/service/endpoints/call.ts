import type { AccountEndpointId, PublicEndpointId } from '../../contract/generated/endpoints.ts';
import type { ServiceContext } from '../service-context.ts';

/** A request on its way through the service. */
interface Call {
  readonly request: Request;
  readonly requestId: string;
  /** Path parameters by name. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A request with a valid key. */
export interface AccountCall extends Call {
  readonly account: string;
}

export type Handler<Kind extends Call = Call> = (
  call: Kind,
  context: ServiceContext,
) => Response | Promise<Response>;

/** One handler for each endpoint of the contract. */
export type PublicHandlers = Readonly<Record<PublicEndpointId, Handler>>;
export type AccountHandlers = Readonly<Record<AccountEndpointId, Handler<AccountCall>>>;
