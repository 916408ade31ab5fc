import ELSEWHERE from './elsewhere.json' with { type: 'json' };
import type { ServiceUnderTest } from './service-under-test.ts';

/** Something that the spec says of a service. */
export interface Statement {
  /** Unique; what it is about comes first: `tts-v3.speed.refuses`. */
  readonly id: string;
  /** The page of docs/api that says it, with the anchor, such as `speech#v3`; `ours` where none does. */
  readonly section: string;
  /** The endpoint, as `GET /path`, or what it is about where there is no single one. */
  readonly on: string;
  readonly what: string;
  /**
   * Names of the contract that it speaks of: `VoiceList.total` (a field), `ERR_…` (a code),
   * `PAGE_SIZE_MAX` (a limit), `X-Request-Id` (a header).
   */
  readonly covers?: readonly string[];
}

/** A statement with the check that it is so; the check throws when it is not. */
export interface Behaviour extends Statement {
  /** Creates something or uses credits: sent to another service only with its consent flag. */
  readonly spends?: boolean;
  /** Flags of the `foley serve` that it needs; such a row asks no other service. */
  readonly serve?: readonly string[];
  check(service: ServiceUnderTest): Promise<void>;
}

/** A statement that another test checks, since no client can bring it about from outside. */
export interface TestedElsewhere extends Statement {
  /** File, from the repository, and a part of the test's name. */
  readonly test: readonly string[];
}

export const testedElsewhere: readonly TestedElsewhere[] = ELSEWHERE;

/** A statement about something that does not exist yet. */
export interface Pending extends Statement {
  /** The work that brings it. */
  readonly subject: string;
}
