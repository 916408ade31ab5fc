import { usageFailure } from '../../src/errors/failure.ts';
import type { Field } from './fields.ts';

type Scalar = string | number | boolean | null;
type Node = Scalar | Branch | Node[];
/** Not an object, since a key may be `__proto__`. */
type Branch = Map<string, Node>;

/** A field whose value was read; without one it is an empty list. */
export interface ReadField {
  readonly field: Field;
  readonly value: Scalar | undefined;
}

/**
 * The JSON object that fields describe: `a[b]=1` is `{"a":{"b":1}}`, `a[]=1` appends, and `a[][b]=1`
 * goes into the last object of the list until it has a `b`.
 * @throws Failure (usage) when two fields cannot both be
 */
export function jsonOfFields(fields: readonly ReadField[]): unknown {
  const root: Branch = new Map();
  for (const { field, value } of fields) insert(root, field, value);
  return toJson(root);
}

function insert(root: Branch, field: Field, value: Scalar | undefined): void {
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
    if (inItem === '') throw usageFailure(`${field.given} is a list in a list`, 'Use --body.');
    branch = itemFor(list, inItem);
    [key, rest] = [inItem, deeper];
  }
}

function setOnce(branch: Branch, key: string, value: Node, field: Field): void {
  if (branch.has(key)) throw clash(field, 'is given twice');
  branch.set(key, value);
}

function branchAt(branch: Branch, key: string, field: Field): Branch {
  const known = branch.get(key);
  if (known instanceof Map) return known;
  if (known !== undefined) throw clash(field, `needs ${key} to be an object, and it is not`);
  const made: Branch = new Map();
  branch.set(key, made);
  return made;
}

function listAt(branch: Branch, key: string, field: Field): Node[] {
  const known = branch.get(key);
  if (Array.isArray(known)) return known;
  if (known !== undefined) throw clash(field, `needs ${key} to be a list, and it is not`);
  const made: Node[] = [];
  branch.set(key, made);
  return made;
}

/** The last object of the list, or a new one when that has the key already. */
function itemFor(list: Node[], key: string): Branch {
  const last = list.at(-1);
  if (last instanceof Map && (!last.has(key) || Array.isArray(last.get(key)))) return last;
  const made: Branch = new Map();
  list.push(made);
  return made;
}

function clash(field: Field, what: string): Error {
  return usageFailure(`${field.given} ${what}`, 'A list is written key[]=value for each item.');
}

function toJson(node: Node): unknown {
  if (Array.isArray(node)) return node.map((item) => toJson(item));
  if (!(node instanceof Map)) return node;
  return Object.fromEntries([...node].map(([key, item]) => [key, toJson(item)]));
}
