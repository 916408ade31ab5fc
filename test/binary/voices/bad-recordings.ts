import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import path from 'node:path';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { putLargeWav, putRecording, TEN_MEGABYTES, tone } from './recordings.ts';
import { makeFifo, requirePosix } from '../../harness/posix.ts';

const { mp3, ogg } = await tinyAudio();
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const ZIP = Buffer.from('504b0304140000000800', 'hex');

type Prepare = (sandbox: Sandbox) => Promise<unknown>;

/** A file with that content under that name, and what is wrong with it. */
function bad(name: string, content: Uint8Array | string, reason: string) {
  return [[name], reason, (sandbox: Sandbox) => putRecording(sandbox, name, content)] as const;
}

/** Recordings that no voice is made of: what is given, what is said of it, and how it comes to be. */
export const BAD_RECORDINGS: readonly (readonly [
  names: readonly string[],
  reason: string,
  prepare: Prepare,
])[] = [
  bad('zero.wav', '', 'is empty'),
  bad('text.wav', 'This is a text, and no sound.', 'content is not audio in that format'),
  bad('text.mp3', 'This is a text, and no sound.', 'content is not audio in that format'),
  bad('text.ogg', 'This is a text, and no sound.', 'content is not audio in that format'),
  bad('text.flac', 'fLa', 'content is not audio in that format'),
  bad('one-byte.wav', 'R', 'content is not audio in that format'),
  bad('nul.wav', Buffer.alloc(100_000), 'content is not audio in that format'),
  bad('picture.wav', PNG, 'its content is png'),
  bad('page.mp3', '<!doctype html><title>404</title>', 'its content is html'),
  bad('data.mp3', '{"error":"not found"}', 'its content is json'),
  bad('archive.wav', ZIP, 'content is not audio in that format'),
  bad('wav.mp3', tone(), 'its content is wav'),
  bad('mp3.wav', mp3.bytes, 'its content is mp3'),
  bad('ogg.webm', ogg.bytes, 'its content is ogg'),
  bad('mp3.m4a', mp3.bytes, 'its content is mp3'),
  bad('wav.opus', tone(), 'its content is wav'),
  bad('wav.txt', tone(), 'has the extension .txt; allowed: aac, flac'),
  bad('wav', tone(), 'has no extension; allowed:'),
  bad('.wav', tone(), 'has no extension; allowed:'),
  bad('wav.', tone(), 'allowed: aac'),
  bad('two.wav.bak', tone(), 'has the extension .bak'),
  [
    ['large.wav'],
    `is too large (${TEN_MEGABYTES + 1} bytes): use at most ${TEN_MEGABYTES} (10 MB)`,
    (sandbox) => putLargeWav(sandbox, 'large.wav', TEN_MEGABYTES + 1),
  ],
  [['missing.wav'], 'no such file', async () => {}],
  [['nowhere/a.wav'], 'no such file', async () => {}],
  [['\u{fffd}.wav'], 'no such file', async () => {}],
  [['folder.wav'], 'is a folder', ({ out }) => mkdir(path.join(out, 'folder.wav'))],
  [['pipe.wav'], 'is not a regular file', async ({ out }) => makeFifo(path.join(out, 'pipe.wav'))],
  [[devNull], 'allowed: aac', async () => {}],
  [['-'], 'no such file', async () => {}],
  [
    ['locked.wav'],
    'cannot be read: permission is denied',
    async (sandbox) => {
      requirePosix('files that only their owner can read');
      await putRecording(sandbox, 'locked.wav');
      await chmod(path.join(sandbox.out, 'locked.wav'), 0);
    },
  ],
  [
    ['circle.wav'],
    'links lead in a circle',
    ({ out }) => symlink('circle.wav', path.join(out, 'circle.wav')),
  ],
  [['dangling.wav'], 'no such file', ({ out }) => symlink('gone', path.join(out, 'dangling.wav'))],
  [['file/a.wav'], 'is a file, not a folder', ({ out }) => writeFile(path.join(out, 'file'), '')],
  [
    Array.from({ length: 11 }, () => 'good.wav'),
    'too many recordings (11): use at most 10',
    (sandbox) => putRecording(sandbox, 'good.wav'),
  ],
  [
    ['good.wav', 'text.wav'],
    'the recording "text.wav"',
    async (sandbox) => {
      await putRecording(sandbox, 'good.wav');
      await putRecording(sandbox, 'text.wav', 'no sound');
    },
  ],
  [['\u001b[31mred.wav'], 'no such file', async () => {}],
];
