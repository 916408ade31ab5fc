import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { decodeAudio, isSilent } from '../../harness/decode-audio.ts';
import type { DecodedAudio } from '../../harness/decode-audio.ts';
import type { Sandbox } from '../../harness/sandbox.ts';

/** Decodes audio and checks that there is something to be heard in it. */
export async function expectSound(bytes: Uint8Array): Promise<DecodedAudio> {
  const audio = await decodeAudio(bytes);
  expect(isSilent(audio), 'the audio is silent').toBe(false);
  return audio;
}

/** The same for a file in the folder where commands run. */
export async function expectSoundIn(sandbox: Sandbox, name: string): Promise<DecodedAudio> {
  return expectSound(await readFile(path.join(sandbox.out, name)));
}

/**
 * A wav that left through a pipe with the lengths in its header set right: who writes into a pipe
 * cannot know them when it writes the header. In a file they must be right already.
 */
export function withTrueLengths(wav: Uint8Array): Buffer {
  const mended = Buffer.from(wav);
  expect(mended.toString('latin1', 36, 40)).toBe('data');
  mended.writeUInt32LE(mended.length - 8, 4);
  mended.writeUInt32LE(mended.length - 44, 40);
  return mended;
}

const SENTENCES = [
  'The ferry left the harbor before sunrise.',
  'Nobody on the quiet pier had heard the bell.',
  'A gull followed the boat for eleven miles.',
  'Its shadow moved over the gray water like a thought.',
];

/** Plain English sentences of at least so many characters. */
export function longText(characters: number): string {
  const paragraph = `${SENTENCES.join(' ')} `;
  return paragraph.repeat(Math.ceil(characters / paragraph.length)).trim();
}
