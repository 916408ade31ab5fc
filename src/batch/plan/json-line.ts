import path from 'node:path';
import type { FileFormat } from '../../contract/values.ts';
import { FILE_FORMATS } from '../../contract/values.ts';
import type { ControlName } from '../../contract/generated/speech-controls.ts';
import { SPEECH_CONTROLS } from '../../contract/generated/speech-controls.ts';
import type { SpeechControls } from '../../contract/speech.ts';
import { usageFailure } from '../../errors/failure.ts';
import { countCodePoints } from '../../text/code-points.ts';
import { closest } from '../../text/did-you-mean.ts';
import { display } from '../../text/display.ts';

/** An item from a line of a JSON list, or from a row of a table. */
export interface JsonItem {
  readonly id?: string;
  readonly text?: string;
  /** Path of the text file, relative to the folder of the list. */
  readonly file?: string;
  readonly voiceId?: string;
  readonly modelId?: string;
  readonly output?: string;
  readonly format?: FileFormat;
  readonly controls: SpeechControls;
}

const OWN_KEYS = ['id', 'text', 'file', 'voiceId', 'modelId', 'output', 'format'] as const;
/** The keys that a JSON item may have. A table may have columns with the same names. */
export const ITEM_KEYS: readonly string[] = [...OWN_KEYS, ...Object.keys(SPEECH_CONTROLS)];

/**
 * Parses and checks one line of a list.
 * @param where the file and line, for messages
 * @throws Failure of kind `usage` naming file, line and key
 */
export function parseJsonLine(line: string, where: string): JsonItem {
  const fields = parseJsonObject(line, where);
  refuseUnknownKeys(fields.keys(), ITEM_KEYS, () => where);
  return itemOf(fields, where);
}

/**
 * Rejects unknown keys of an object.
 * @param keys the allowed keys
 * @param whereOf returns the position of a key (such as the file and line) for the error message
 * @throws Failure of kind `usage`
 */
export function refuseUnknownKeys(
  given: Iterable<string>,
  keys: readonly string[],
  whereOf: (key: string) => string,
): void {
  const unknown = [...given].find((key) => !keys.includes(key));
  if (unknown === undefined) return;
  const [nearest] = closest(unknown, keys, 1);
  throw usageFailure(
    `${whereOf(unknown)}: unknown key "${display(unknown)}"`,
    nearest === undefined ? `The keys are ${keys.join(', ')}.` : `Did you mean ${nearest}?`,
  );
}

/** Checks the fields of one item, and returns the item. @throws Failure of kind `usage` naming file, line and key */
export function itemOf(fields: ReadonlyMap<string, unknown>, where: string): JsonItem {
  const item = {
    ...textsIn(fields, where),
    ...formatIn(fields, where),
    controls: controlsIn(fields, () => where),
  };
  if ((item.text === undefined) === (item.file === undefined)) {
    throw usageFailure(
      item.text === undefined
        ? `${where} has neither text nor file`
        : `${where} has both text and file`,
      'Set either text or file.',
    );
  }
  return item;
}

/**
 * Returns the path of an item's text file. A relative `file` is resolved against the folder of the list. Without a list
 * path, it is relative to the current folder.
 */
export function besideList(file: string, list: string | undefined): string {
  return list === undefined || path.isAbsolute(file) ? file : path.join(path.dirname(list), file);
}

/**
 * Parses a JSON object.
 * @throws Failure of kind `usage`
 */
export function parseJsonObject(line: string, where: string): ReadonlyMap<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageFailure(`${where} is not JSON: ${display(why, { max: 200 })}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw usageFailure(
      `${where} is not a JSON object`,
      'Write one object on each line, such as {"text":"Hello"}.',
    );
  }
  return new Map<string, unknown>(Object.entries(value));
}

function textsIn(fields: ReadonlyMap<string, unknown>, where: string): Omit<JsonItem, 'controls'> {
  const keys = OWN_KEYS.filter((key) => key !== 'format' && fields.has(key));
  return Object.fromEntries(
    keys.map((key) => {
      const value = fields.get(key);
      if (typeof value !== 'string') throw invalidValue(where, key, value, 'a text');
      if (value.trim() === '') throw usageFailure(`${where}: ${key} is empty`);
      return [key, value];
    }),
  );
}

function formatIn(fields: ReadonlyMap<string, unknown>, where: string): Pick<JsonItem, 'format'> {
  if (!fields.has('format')) return {};
  const given = fields.get('format');
  const format = FILE_FORMATS.find((candidate) => candidate === given);
  if (format === undefined) throw invalidValue(where, 'format', given, FILE_FORMATS.join(', '));
  return { format };
}

/**
 * Returns the fields that are speech controls, such as `speed`, and checks their values.
 * @param whereOf returns the position of a key (such as the file and line) for the error message
 * @throws Failure of kind `usage` naming the control and the allowed values
 */
export function controlsIn(
  fields: ReadonlyMap<string, unknown>,
  whereOf: (key: string) => string,
): SpeechControls {
  const names = Object.keys(SPEECH_CONTROLS).filter((name): name is ControlName =>
    fields.has(name),
  );
  return Object.fromEntries(
    names.map((name) => [name, controlIn(name, fields.get(name), whereOf(name))]),
  );
}

function controlIn(name: ControlName, value: unknown, where: string): number | string | boolean {
  const control = SPEECH_CONTROLS[name];
  switch (control.type) {
    case 'number': {
      const { minimum, maximum } = control;
      if (typeof value === 'number' && value >= minimum && value <= maximum) return value;
      throw invalidValue(where, name, value, `a number from ${minimum} to ${maximum}`);
    }
    case 'string': {
      const fits =
        typeof value === 'string' &&
        value.trim() !== '' &&
        countCodePoints(value) <= control.maxLength;
      if (fits) return value;
      throw invalidValue(where, name, value, `a text of 1 to ${control.maxLength} characters`);
    }
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw invalidValue(where, name, value, 'true or false');
  }
}

/** Creates the Failure for a key whose value is not allowed. */
export function invalidValue(where: string, key: string, value: unknown, allowed: string): Error {
  const shown = display(JSON.stringify(value), { max: 60 });
  return usageFailure(`${where}: ${key} is ${shown}; it takes ${allowed}`);
}
