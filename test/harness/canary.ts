import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { expect } from 'vitest';
import type { Sandbox } from './sandbox.ts';
import { unlessVanished, walk } from './snapshot.ts';

const PREFIX = 'canary-';

/** The keys of one file of tests, in every disguise; several files may share this process. */
const issued = { in: '', needles: new Array<string>() };

const LONGEST_DISGUISE = 256;

/** Where a key may be at rest: the account store, and only with mode 0600. */
const ACCOUNT_STORE = /^config\/foley\//;

/**
 * A made-up API key that stands out wherever it turns up. From here on every command that the
 * harness runs in this test file is checked: the key is in none of its output and files.
 */
export function canaryKey(): string {
  const key = `${PREFIX}${randomBytes(18).toString('hex')}`;
  needlesOfThisFile().push(...disguises(key));
  return key;
}

/** Files of a sandbox that hold a key already, because the test itself wrote it there. */
export type KnownHolders = ReadonlySet<string>;

/** Looks before a command starts, so that a key file of the test is not taken for a leak. */
export async function knownHolders(sandbox: Sandbox): Promise<KnownHolders> {
  return new Set((await holders(sandbox)).map((holder) => holder.file));
}

export interface CanaryCheck {
  readonly sandbox: Sandbox;
  readonly known: KnownHolders;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** Outputs in which the key is expected, because the test made the service send it as data. */
  readonly expectedIn: readonly ('stdout' | 'stderr')[];
}

/** Throws, naming the places but never the key, when a key issued by `canaryKey` leaked. */
export async function assertNoCanary(check: CanaryCheck): Promise<void> {
  const outputs = [
    { name: 'stdout' as const, bytes: check.stdout },
    { name: 'stderr' as const, bytes: check.stderr },
  ];
  const leaks: string[] = outputs
    .filter(({ name, bytes }) => !check.expectedIn.includes(name) && holdsCanary(bytes))
    .map(({ name }) => name);
  for (const { file, mode } of await holders(check.sandbox)) {
    const isStored = ACCOUNT_STORE.test(file) && mode === 0o600;
    if (!isStored && !check.known.has(file)) {
      leaks.push(`${file} (mode ${mode.toString(8)})`);
    }
  }
  if (leaks.length > 0) {
    throw new Error(`The canary key leaked into ${leaks.join(', ')}.`);
  }
}

async function holders(sandbox: Sandbox): Promise<{ file: string; mode: number }[]> {
  const found: { file: string; mode: number }[] = [];
  if (needlesOfThisFile().length === 0) {
    return found;
  }
  for await (const { name, full, entry } of walk(sandbox.root)) {
    if (entry.isFile() && (await unlessVanished(fileHoldsCanary(full))) === true) {
      const stats = await unlessVanished(stat(full));
      found.push({ file: name, mode: (stats?.mode ?? 0) & 0o777 });
    }
  }
  return found;
}

/** Looks through a file in pieces that overlap by more than a key, whatever the size of the file. */
async function fileHoldsCanary(file: string): Promise<boolean> {
  let overlap = Buffer.alloc(0);
  for await (const bytes of createReadStream(file, { highWaterMark: 1_048_576 })) {
    const piece = Buffer.concat([overlap, Buffer.from(bytes)]);
    if (holdsCanary(piece)) {
      return true;
    }
    overlap = piece.subarray(-LONGEST_DISGUISE);
  }
  return false;
}

function needlesOfThisFile(): string[] {
  const { testPath = '' } = expect.getState();
  if (issued.in !== testPath) Object.assign(issued, { in: testPath, needles: [] });
  return issued.needles;
}

function holdsCanary(bytes: Uint8Array): boolean {
  const haystack = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Where nothing begins like a key there is none of them, and there may be hundreds.
  return (
    PREFIX_DISGUISES.some((beginning) => haystack.includes(beginning)) &&
    needlesOfThisFile().some((needle) => haystack.includes(needle))
  );
}

/** Each disguise of a key begins with one of these. */
const PREFIX_DISGUISES = disguises(PREFIX);

/** The key as it is, in hexadecimal and in base64 at each of the three alignments. */
function disguises(key: string): string[] {
  const inBase64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.from('x'.repeat(offset) + key).toString('base64');
    return encoded.slice(offset === 0 ? 0 : 4, -4);
  });
  return [key, Buffer.from(key).toString('hex'), ...inBase64];
}
