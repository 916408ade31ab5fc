import { V2_NAMES } from './messages.ts';
import type { Version } from './messages.ts';

/** A map with the field names of either version. */
export type Fields = Readonly<Record<string, unknown>>;

/** A message with v3 field names, which tests use for both versions. */
export interface Message extends Fields {
  readonly event: string;
}

/** Returns the wire name of a field. @param name in v3 */
export function wireName(version: Version, name: string): string {
  if (version === 'v3') {
    return name;
  }
  return V2_NAMES[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Renames the fields of a map for a version, at every depth. */
export function toWire(version: Version, fields: Fields): Fields {
  return renamed(fields, (name) => wireName(version, name));
}

/** Renames the fields of a received map to v3. */
export function fromWire(version: Version, fields: Fields): Fields {
  return version === 'v3' ? fields : renamed(fields, camelName);
}

/** Whether a name has the case of its version. */
export function isOwnStyle(version: Version, name: string): boolean {
  return version === 'v2' ? /^[a-z0-9_]+$/.test(name) : /^[a-z][A-Za-z0-9]*$/.test(name);
}

/** Returns every name of a map and of nested maps. */
export function allNames(value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => allNames(item));
  }
  return isFields(value)
    ? Object.entries(value).flatMap(([name, inner]) => [name, ...allNames(inner)])
    : [];
}

/** Whether a value is a map, like every message. */
export function isFields(value: unknown): value is Fields {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !ArrayBuffer.isView(value) &&
    Object.getPrototypeOf(value) === Object.prototype
  );
}

export function isMessage(value: unknown): value is Message {
  return isFields(value) && typeof value['event'] === 'string';
}

const V3_NAMES = new Map(Object.entries(V2_NAMES).map(([name, wire]) => [wire, name]));

function camelName(name: string): string {
  return (
    V3_NAMES.get(name) ?? name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  );
}

function renamed(fields: Fields, rename: (name: string) => string): Fields {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [rename(name), renamedInside(value, rename)]),
  );
}

function renamedInside(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => renamedInside(item, rename));
  }
  return isFields(value) ? renamed(value, rename) : value;
}
