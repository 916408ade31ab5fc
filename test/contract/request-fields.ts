import assert from 'node:assert/strict';
import type { Behaviour } from './behaviour.ts';
import { claimNames, claimRefused, claimStatus } from './claims.ts';
import type { Answer, ServiceUnderTest } from './service-under-test.ts';

/** A field of a request body. */
export interface RequestField {
  /** `prosody.speed` is `speed` within `prosody`. */
  readonly name: string;
  readonly what: string;
  readonly isRequired?: boolean;
  /** Values that are good, the ends of a range among them. */
  readonly takes?: readonly unknown[];
  /** Values that are 400. */
  readonly refuses?: readonly unknown[];
  /** Limits of the contract that the ends are. */
  readonly limits?: readonly string[];
}

export interface RequestBody {
  /** Begins the ids of the rows. */
  readonly id: string;
  /** The name of its schema in the contract. */
  readonly of: string;
  readonly section: string;
  readonly on: string;
  /** Headers that every request needs, new ones for each. */
  headers?(): Readonly<Record<string, string>>;
  /** The endpoint with its path parameters filled in, where it has some. */
  path?(service: ServiceUnderTest): Promise<string>;
  /** A body that is good. */
  plain(service: ServiceUnderTest): Promise<Record<string, unknown>>;
  /** What an answer to a good body is. */
  claimTaken(answer: Answer): void;
}

/** Rows for each field: what is taken, what is refused, and that it may not be missing. */
export function requestFields(
  body: RequestBody,
  fields: readonly RequestField[],
): readonly Behaviour[] {
  return fields.flatMap((field) => [
    ...(field.isRequired === true ? [required(body, field)] : []),
    ...(field.refuses === undefined ? [] : [refuses(body, field, field.refuses)]),
    ...(field.takes === undefined ? [] : [takes(body, field, field.takes)]),
  ]);
}

function statement(
  { id, of, section, on }: RequestBody,
  { name, limits = [] }: RequestField,
  verb: string,
) {
  return { id: `${id}.${name}.${verb}`, section, on, covers: [`${of}.${name}`, ...limits] };
}

function required(body: RequestBody, field: RequestField): Behaviour {
  return {
    ...statement(body, field, 'required'),
    what: `\`${field.name}\` may not be missing: 400`,
    async check(service) {
      const answer = await send(service, body, field.name, undefined);
      claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
      claimNames(answer, field.name, service);
    },
  };
}

function refuses(body: RequestBody, field: RequestField, values: readonly unknown[]): Behaviour {
  return {
    ...statement(body, field, 'refuses'),
    what: `\`${field.name}\`: ${field.what}. 400 for ${values.map((value) => shown(value)).join(', ')}`,
    async check(service) {
      for (const value of values) {
        const answer = await send(service, body, field.name, value);
        assert.equal(answer.status, 400, `${shown(value)} gives ${answer.status}`);
        claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
        claimNames(answer, field.name, service);
      }
    },
  };
}

function takes(body: RequestBody, field: RequestField, values: readonly unknown[]): Behaviour {
  return {
    ...statement(body, field, 'takes'),
    what: `\`${field.name}\`: ${field.what}. Good are ${values.map((value) => shown(value)).join(', ')}`,
    spends: true,
    async check(service) {
      for (const value of values) {
        const answer = await send(service, body, field.name, value);
        const good = answer.status < 300;
        assert.ok(
          good,
          `${shown(value)} gives ${answer.status}: ${good ? '' : answer.bytes.toString()}`,
        );
        body.claimTaken(answer);
      }
    },
  };
}

async function send(
  service: ServiceUnderTest,
  { on, plain, headers = () => ({}), path }: RequestBody,
  name: string,
  value: unknown,
): Promise<Answer> {
  const body = withField(await plain(service), name.split('.'), value);
  const endpoint = path === undefined ? on : await path(service);
  const answer = await service.ask(endpoint, { body, headers: headers() });
  claimStatus(answer, 200, 202, 400);
  return answer;
}

function withField(
  body: Readonly<Record<string, unknown>>,
  [name = '', ...inner]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  return { ...body, [name]: inner.length === 0 ? value : withField({}, inner, value) };
}

const LONG = 24;

/** A value as the page shows it. */
function shown(value: unknown): string {
  const json = JSON.stringify(value);
  if (typeof value !== 'string' || value.length <= LONG) return `\`${json}\``;
  return `${Array.from(value).length} characters`;
}
