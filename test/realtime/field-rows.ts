import type { Field, Kind } from './messages.ts';

type Limits = Pick<Field, 'mode' | 'version' | 'values' | 'range'>;

/** A field that the spec requires, always or in one mode or version. */
export function required(name: string, kind: Kind, limits: Limits = {}): Field {
  return { name, kind, need: 'required', ...limits };
}

/** An optional field. */
export function optional(name: string, kind: Kind, limits: Limits = {}): Field {
  return { name, kind, need: 'optional', ...limits };
}

/** A field that the spec describes without a name; the name is a guess. */
export function assumed(name: string, kind: Kind): Field {
  return { name, kind, need: 'assumed' };
}
