import type { FormPart } from '../../src/api/multipart.ts';
import type { RequestBody, StreamedBody } from '../../src/api/request.ts';
import { jsonBody } from '../../src/api/request.ts';
import type { Context } from '../../src/cli/context.ts';
import type { Field, GivenValue } from './fields.ts';
import { typedValue } from './fields.ts';
import type { ReadField } from './json-fields.ts';
import { jsonOfFields } from './json-fields.ts';
import type { Call } from './plan-call.ts';
import { readInput, readTextInput } from '../../src/cli/read-input.ts';

/** What a call sends: its path with the whole query, and its body. */
export interface Payload {
  readonly target: string;
  readonly body?: RequestBody;
  readonly stream?: StreamedBody;
}

/**
 * Reads what the call's flags name and puts it together.
 * @throws Failure (usage) for files that cannot be read, and fields that contradict each other
 */
export async function readPayload(context: Context, call: Call): Promise<Payload> {
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
  if (fieldsAs === 'form') return { target, ...(await formOf(context, fields)) };
  const json = jsonBody(jsonOfFields(await readFields(context, fields)));
  return { target, body: { ...json, contentType } };
}

/** Multipart when there are files in it. */
async function formOf(
  context: Context,
  fields: readonly Field[],
): Promise<Pick<Payload, 'body' | 'stream'>> {
  if (fields.some(({ value }) => value?.kind === 'file')) {
    const { multipartBody } = await import('../../src/api/multipart.ts');
    const boundary = `foley-${context.random.uuid()}`;
    return { stream: multipartBody(await partsOf(context, fields), boundary) };
  }
  const pairs = await pairsOf(context, fields);
  const contentType = 'application/x-www-form-urlencoded';
  return { body: { contentType, bytes: Buffer.from(pairs.toString()) } };
}

async function partsOf(context: Context, fields: readonly Field[]): Promise<FormPart[]> {
  const { filePart } = await import('./form.ts');
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

/** Names as they were written, and values as text: there are no types in a query or a form. */
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
