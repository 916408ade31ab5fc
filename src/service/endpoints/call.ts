import type { Static, TObject } from 'typebox';
import type { DEFINITIONS } from '../../contract/endpoints.ts';
import type { EndpointId } from '../../contract/generated/endpoints.ts';
import type { RequestKey } from '../operations/operations.ts';
import type { ServiceContext } from '../service-context.ts';

export interface Call {
  readonly request: Request;
  readonly requestId: string;
}

/** A request with a valid API key. */
export interface AccountCall extends Call {
  readonly account: string;
}

/** A request to a billed endpoint. */
export interface ChargedCall extends AccountCall {
  readonly key: RequestKey;
}

/** A request to an endpoint, with validated query, body and path parameters. */
export type CallTo<Id extends EndpointId> = Calls[Id];

type Calls = {
  readonly [Definition in (typeof DEFINITIONS)[number] as Definition['id']]: Call &
    InputOf<Definition>;
};

type InputOf<Definition> = (Definition extends { readonly public: true } ? unknown : AccountCall) &
  (Definition extends { readonly charges: string } ? ChargedCall : unknown) &
  (Definition extends { readonly path: infer Path }
    ? { readonly parameters: Readonly<Record<ParameterIn<Path>, string>> }
    : unknown) &
  (Definition extends { readonly query: infer Query extends TObject }
    ? { readonly query: Static<Query> }
    : unknown) &
  (Definition extends { readonly bodyType: string }
    ? unknown
    : Definition extends { readonly body: infer Body extends TObject }
      ? { readonly body: Static<Body> }
      : unknown);

type ParameterIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterIn<Rest>
  : never;

/** Maps each endpoint id to the handler of the endpoint. */
export type Handlers = {
  readonly [Id in EndpointId]: (
    call: CallTo<Id>,
    context: ServiceContext,
  ) => Response | Promise<Response>;
};

export type Handler<Id extends EndpointId> = Handlers[Id];
