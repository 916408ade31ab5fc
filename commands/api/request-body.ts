import type { FormPart } from '../../src/api/multipart.ts';
import type { RequestBody, StreamedBody } from '../../src/api/request.ts';
import { jsonBody } from '../../src/api/request.ts';
import type { Context } from '../../src/cli/command.ts';
import { readInput, readTextInput } from '../../src/cli/read-input.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { Field, GivenValue, PlannedCall } from './plan-call.ts';
import { typedValue } from './plan-call.ts';
import path from 'node:path';
import { findRegularFile } from '../../src/durable/regular-file.ts';

/** The path (with the query) and the body of a request. */
export interface Payload {
  readonly target: string;
  readonly body?: RequestBody;
  readonly stream?: StreamedBody;
}

/**
 * Reads the files that an HTTP call names, and builds the query string or the request body.
 * @throws Failure of kind `usage` for an unreadable file, or for fields that contradict each other
 */
export async function readPayload(context: Context, call: PlannedCall): Promise<Payload> {
  const { body, fields, fieldsAs, headers, target } = call;
  const { contentType = 'application/json' } = headers;
  if (body !== undefined) {
    const bytes = await readInput(context, body, `--body ${body}`);
    return { target, body: { contentType, bytes } };
  }
  if (fields.length === 0) return { target };
  if (fieldsAs === 'query') {
    const query = (await pairsOf(context, fields)).toString();
    return { target: `${target}${target.includes('?') ? '&' : '?'}${query}` };
  }
  if (fieldsAs === 'form') return formOf(context, target, fields);
  const json = jsonBody(jsonOfFields(await readFields(context, fields)));
  return { target, body: { ...json, contentType } };
}

async function formOf(
  context: Context,
  target: string,
  fields: readonly Field[],
): Promise<Payload> {
  if (fields.some(({ value }) => value?.kind === 'file')) {
    const { multipartBody } = await import('../../src/api/multipart.ts');
    const boundary = `foley-${context.system.random.uuid()}`;
    return { target, stream: multipartBody(await partsOf(context, fields), boundary) };
  }
  const pairs = await pairsOf(context, fields);
  const contentType = 'application/x-www-form-urlencoded';
  return { target, body: { contentType, bytes: Buffer.from(pairs.toString()) } };
}

async function partsOf(context: Context, fields: readonly Field[]): Promise<FormPart[]> {
  const parts: FormPart[] = [];
  for (const { given, name, value } of fields) {
    if (value?.kind === 'file') {
      parts.push(await filePart(context, name, value.path, `${given}=@${value.path}`));
    } else {
      parts.push({ name, value: value === undefined ? '' : await textOf(context, value, given) });
    }
  }
  return parts;
}

async function pairsOf(context: Context, fields: readonly Field[]): Promise<URLSearchParams> {
  const pairs = new URLSearchParams();
  for (const { given, name, value } of fields) {
    pairs.append(name, value === undefined ? '' : await textOf(context, value, given));
  }
  return pairs;
}

async function textOf(context: Context, value: GivenValue, given: string): Promise<string> {
  if (value.kind === 'file') return readTextInput(context, value.path, `${given}=@${value.path}`);
  return value.kind === 'typed' && value.text === 'null' ? '' : value.text;
}

async function readFields(context: Context, fields: readonly Field[]): Promise<ReadField[]> {
  const read: ReadField[] = [];
  for (const field of fields) {
    read.push({ field, value: await jsonValueOf(context, field) });
  }
  return read;
}

async function jsonValueOf(context: Context, { given, value }: Field): Promise<ReadField['value']> {
  if (value === undefined) return undefined;
  if (value.kind === 'file') return readTextInput(context, value.path, `${given}=@${value.path}`);
  return value.kind === 'raw' ? value.text : typedValue(value.text);
}

type Scalar = string | number | boolean | null;
type Node = Scalar | FieldTree | Node[];
// A Map, because a key may be `__proto__`.
type FieldTree = Map<string, Node>;

/** A field of a JSON request body, with its value. If the value comes from a file, the file has been read. */
export interface ReadField {
  readonly field: Field;
  /** The value. It is undefined for `key[]`, which sends an empty list. */
  readonly value: Scalar | undefined;
}

/**
 * Builds a JSON object from fields: `a[b]=1` is `{"a":{"b":1}}`, and `a[]=1` appends to a list. `a[][b]=1` sets `b` in
 * the last object of the list. If that object already has `b`, a new object is appended.
 * @throws Failure of kind `usage` for a nested list, or for fields that contradict each other
 */
export function jsonOfFields(fields: readonly ReadField[]): unknown {
  const root: FieldTree = new Map();
  for (const { field, value } of fields) insert(root, field, value);
  return toJson(root);
}

function insert(root: FieldTree, field: Field, value: Scalar | undefined): void {
  let branch = root;
  let [key, ...rest] = field.path;
  for (;;) {
    const [next, inItem, ...deeper] = rest;
    if (next === undefined) {
      setOnce(branch, key, value ?? null, field);
      return;
    }
    if (next !== '') {
      branch = branchAt(branch, key, field);
      [key, rest] = [next, rest.slice(1)];
      continue;
    }
    const list = listAt(branch, key, field);
    if (inItem === undefined) {
      if (value !== undefined) list.push(value);
      return;
    }
    if (inItem === '')
      throw usageFailure(
        `${field.given} contains a nested list, which -F and -f cannot express`,
        'Send the JSON with --body.',
      );
    branch = itemFor(list, inItem);
    [key, rest] = [inItem, deeper];
  }
}

function setOnce(branch: FieldTree, key: string, value: Node, field: Field): void {
  if (branch.has(key)) throw clash(`${field.given} is given twice`);
  branch.set(key, value);
}

function branchAt(branch: FieldTree, key: string, field: Field): FieldTree {
  const known = branch.get(key);
  if (known instanceof Map) return known;
  if (known !== undefined)
    throw clash(
      `${field.given} requires ${key} to be an object, but another field sets it to a value or a list`,
    );
  const made: FieldTree = new Map();
  branch.set(key, made);
  return made;
}

function listAt(branch: FieldTree, key: string, field: Field): Node[] {
  const known = branch.get(key);
  if (Array.isArray(known)) return known;
  if (known !== undefined)
    throw clash(
      `${field.given} requires ${key} to be a list, but another field sets it to a value or an object`,
    );
  const made: Node[] = [];
  branch.set(key, made);
  return made;
}

function itemFor(list: Node[], key: string): FieldTree {
  const last = list.at(-1);
  if (last instanceof Map && (!last.has(key) || Array.isArray(last.get(key)))) return last;
  const made: FieldTree = new Map();
  list.push(made);
  return made;
}

function clash(message: string): Error {
  return usageFailure(message, 'Write a list as key[]=value for each item.');
}

function toJson(node: Node): unknown {
  if (Array.isArray(node)) return node.map((item) => toJson(item));
  if (!(node instanceof Map)) return node;
  return Object.fromEntries([...node].map(([key, item]) => [key, toJson(item)]));
}

const BYTES = 'application/octet-stream';

/**
 * Returns a file as one part of a multipart form. The content of a regular file is read while it is sent.
 * stdin and pipes are read into memory at once, because a retry cannot read them again.
 * @throws Failure of kind `usage` if the file cannot be read
 */
export async function filePart(
  context: Context,
  name: string,
  file: string,
  shown: string,
): Promise<FormPart> {
  const regular =
    file === '-' ? undefined : await findRegularFile(file, shown, context.system.files);
  const filename = file === '-' ? 'stdin' : path.basename(file);
  const content = regular ?? (await contentInMemory(context, file, shown));
  return { name, filename, contentType: BYTES, ...content };
}

async function contentInMemory(context: Context, file: string, shown: string) {
  const bytes = await readInput(context, file, shown);
  return { byteLength: bytes.length, open: () => once(bytes) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  await Promise.resolve();
  yield bytes;
}
