import { REQUEST_FIELDS } from './client-messages.ts';
import { messageRow } from './messages.ts';
import type { Field, Mode, Sender, Version } from './messages.ts';
import { PCM_FIELDS, V2_ERROR_CODES } from './server-messages.ts';
import { allNames, isFields, isMessage, isOwnStyle, wireName } from './wire-names.ts';
import type { Fields } from './wire-names.ts';

export interface Place {
  readonly version: Version;
  readonly sender: Sender;
  /** The mode of the conversation, if it is known. */
  readonly mode?: Mode | undefined;
}

/**
 * Returns the violations of the tables by a received message. A client must not send unknown fields; a server may.
 */
export function checkMessage(place: Place, value: unknown): string[] {
  if (!isMessage(value)) {
    return ['not a map with an event'];
  }
  const row = messageRow(place.sender, value.event);
  if (row === undefined) {
    return [`no message of the ${place.sender}: ${value.event}`];
  }
  const mode = value.event === 'start' ? modeOf(value) : place.mode;
  const found = [
    ...row.fields.flatMap((field) => checkField(field, { ...place, mode }, value)),
    ...(place.sender === 'client' ? checkClient(place.version, row.fields, value) : []),
    ...(place.sender === 'server' ? checkServer(place.version, value) : []),
  ];
  if (mode !== undefined && !row.modes.includes(mode)) {
    found.push(`not a message of the ${mode} mode`);
  }
  return found.map((fault) => `${value.event}: ${fault}`);
}

function modeOf(start: Fields): Mode {
  return start['mode'] === 'reliable' ? 'reliable' : 'simple';
}

function checkClient(version: Version, fields: readonly Field[], value: Fields): string[] {
  const found = unknownNames(version, fields, value);
  const { request } = value;
  if (value['event'] !== 'start' || !isFields(request)) {
    return found;
  }
  const known = REQUEST_FIELDS[version];
  const inside = [
    ...known.flatMap((field) => checkField(field, { version, sender: 'client' }, request)),
    ...unknownNames(version, known, request),
  ];
  return [...found, ...inside.map((fault) => `request.${fault}`)];
}

function unknownNames(version: Version, fields: readonly Field[], value: Fields): string[] {
  const known = new Set(['event', ...fields.map(({ name }) => wireName(version, name))]);
  return Object.keys(value)
    .filter((name) => !known.has(name))
    .map((name) => `${name} is not a field of ${version}`);
}

function checkServer(version: Version, value: Fields): string[] {
  const found = [...new Set(allNames(value))]
    .filter((name) => !isOwnStyle(version, name))
    .map((name) => `${name} is not written as ${version} writes names`);
  const { event, format, code, segments } = value;
  if ((event === 'ready' || event === 'audio') && format === 'pcm') {
    const place: Place = { version, sender: 'server' };
    found.push(...PCM_FIELDS.flatMap((field) => checkField(field, place, value)));
  }
  if (event === 'error' && version === 'v2' && !V2_ERROR_CODES.includes(String(code))) {
    found.push(`code ${String(code)} is not one of v2`);
  }
  const isAvailable = value[wireName(version, 'resultAvailable')] === true;
  if (event === 'request_status' && isAvailable && !Array.isArray(segments)) {
    found.push('a result is available, and segments is missing');
  }
  return found;
}

function checkField(field: Field, place: Place, value: Fields): string[] {
  const name = wireName(place.version, field.name);
  const given = value[name];
  if (given === undefined) {
    return isRequired(field, place) ? [`${name} is missing`] : [];
  }
  if (field.need === 'assumed') {
    return [];
  }
  if (!KINDS[field.kind](given)) {
    return [`${name} is not ${field.kind}: ${shown(given)}`];
  }
  return isWithin(field, given) ? [] : [`${name} is out of bounds: ${shown(given)}`];
}

function isRequired({ need, mode, version }: Field, place: Place): boolean {
  return (
    need === 'required' &&
    (mode === undefined || mode === place.mode) &&
    (version === undefined || version === place.version)
  );
}

function isWithin({ values, range }: Field, given: unknown): boolean {
  if (values !== undefined && !values.includes(String(given))) {
    return false;
  }
  if (range === undefined) {
    return true;
  }
  const size = typeof given === 'string' ? Array.from(given).length : Number(given);
  return size >= range[0] && size <= range[1];
}

/** The kinds of a field's value. `id` is 1–128 characters; `count` is an integer from 0, `positive` from 1. */
const KINDS = {
  any: () => true,
  boolean: (value) => typeof value === 'boolean',
  bytes: (value) => value instanceof Uint8Array,
  count: (value) => isInteger(value, 0),
  filled: (value) => typeof value === 'string' && value !== '',
  id: (value) => typeof value === 'string' && value !== '' && Array.from(value).length <= 128,
  integer: (value) => isInteger(value, -Infinity),
  list: (value) => Array.isArray(value),
  map: isFields,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  positive: (value) => isInteger(value, 1),
  string: (value) => typeof value === 'string',
} satisfies Record<string, (value: unknown) => boolean>;

export type Kind = keyof typeof KINDS;

function isInteger(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}

function shown(value: unknown): string {
  return value instanceof Uint8Array
    ? `${value.byteLength} bytes`
    : JSON.stringify(value).slice(0, 80);
}
