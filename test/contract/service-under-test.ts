import type { Version } from '../realtime/messages.ts';
import type { ClientOptions, RawRealtimeClient, Refusal } from '../realtime/raw-client.ts';

/** A service that the rows ask, whichever it is. */
export interface ServiceUnderTest {
  /** The embedded service: what is a choice of ours is checked too. */
  readonly isOurs: boolean;
  /** Opens a realtime connection, with the key of the account unless the options say otherwise. */
  connect(version: Version, options?: LiveOptions): Promise<RawRealtimeClient>;
  /** The answer to a handshake that is refused. */
  refused(version: Version, options?: LiveOptions): Promise<Refusal>;
  /** Asks with the key of the account, unless the headers say otherwise. */
  ask(endpoint: string, options?: AskOptions): Promise<Answer>;
  /** The key of another account, where there is one. */
  readonly otherKey: string | undefined;
  /** The length of audio that is whole, in milliseconds; throws when it cannot be played. */
  listen(bytes: Uint8Array): Promise<number>;
  /** What has to be found out only once. */
  once<Found>(name: string, find: () => Promise<Found>): Promise<Found>;
}

/** How to connect; `key: undefined` leaves the key out, as a page has to. */
export type LiveOptions = Omit<Partial<ClientOptions>, 'key' | 'version' | 'baseUrl'> & {
  readonly key?: string | undefined;
};

export interface AskOptions {
  /** `Authorization: undefined` leaves the key out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, as JSON unless the headers say otherwise. */
  readonly bytes?: string | Uint8Array;
  /** Hangs up when the first bytes are there. */
  readonly firstBytesOnly?: boolean;
}

export interface Answer {
  readonly status: number;
  /** A header, or null. */
  header(name: string): string | null;
  readonly bytes: Buffer;
  /** The body as JSON; throws when it is none. */
  json(): unknown;
}

/** Thrown by a row that a service gives no occasion for, such as a model that it does not have. */
export class NotApplicable extends Error {}
