import type { ExitName } from '../contract/exit-codes.ts';
import type { Failure } from '../errors/failure.ts';
import type { SeenNames } from './known-names.ts';
import type { Look } from './look.ts';

/**
 * What a command gives back. One renderer turns it into text for a person or into JSON; a command
 * never prints.
 */
export interface CommandResult {
  /** The document of `--json`. `undefined` when stdout already carried the result (audio). */
  readonly data?: unknown;
  /** The text for stdout without `--json`; without it stdout stays empty. */
  readonly human?: (look: Look) => string;
  /** A sentence for stderr, told after it; `--quiet` silences it. */
  readonly notice?: string;
  /** How the process ends when not with 0, such as `partial`. */
  readonly exit?: ExitName;
  /** What went wrong although there is a result; it is told after it, and decides how the process ends. */
  readonly failure?: Failure;
  /** Names that the service told, kept for the completion of shells. */
  readonly seen?: SeenNames;
}
