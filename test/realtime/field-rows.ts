import type { Field, Kind } from './messages.ts';

type Limits = Pick<Field, 'mode' | 'version' | 'values' | 'range'>;

/** A field that the spec requires, everywhere or in one mode or version. */
export function required(name: string, kind: Kind, limits: Limits = {}): Field {
  return { name, kind, need: 'required', ...limits };
}

/** A field that may be left out. */
export function optional(name: string, kind: Kind, limits: Limits = {}): Field {
  return { name, kind, need: 'optional', ...limits };
}

/** A field that the spec tells of and does not name; the name is our guess. */
export function assumed(name: string, kind: Kind): Field {
  return { name, kind, need: 'assumed' };
}
