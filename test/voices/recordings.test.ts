import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemFiles } from '../../src/system/file-system.ts';
import { Failure } from '../../src/errors/failure.ts';
import {
  checkRecordings,
  contentOf,
  referenceExtension,
  REFERENCE_TYPES,
} from '../../src/voices/recordings.ts';
import { BAD_RECORDINGS } from '../binary/voices/bad-recordings.ts';
import { putLargeWav, putRecording, tone } from '../binary/voices/recordings.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

/** The files as if commands ran in the sandbox, locked ones locked for root too. */
function filesIn({ out }: Sandbox): typeof systemFiles {
  const at = (file: unknown): string => path.resolve(out, String(file));
  return {
    ...systemFiles,
    stat: new Proxy(systemFiles.stat, { apply: (stat, _, [file]) => stat(at(file)) }),
    open: new Proxy(systemFiles.open, {
      apply: (open, _, [file, ...more]) =>
        at(file).endsWith('locked.wav')
          ? Promise.reject(Object.assign(new Error('locked'), { code: 'EACCES' }))
          : open(at(file), ...more),
    }),
  };
}

async function check(sandbox: Sandbox, ...names: readonly string[]) {
  return checkRecordings(names, filesIn(sandbox));
}

describe('an invalid recording is refused with its reason', () => {
  test.each(BAD_RECORDINGS)('%j: %s', async (names, reason, prepare) => {
    const sandbox = await createSandbox();
    await prepare(sandbox);
    const failure = await check(sandbox, ...names).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ exit: 'usage', billed: 'no' });
    expect(failure).toHaveProperty('message', expect.stringContaining(reason));
  });
});

describe('a good recording', () => {
  test('is known with its size and its type, and can be read again', async () => {
    const sandbox = await createSandbox();
    await putRecording(sandbox, 'a.WaV');
    const [recording] = await check(sandbox, 'a.WaV');
    expect(recording).toMatchObject({
      filename: 'a.WaV',
      contentType: 'audio/wav',
      byteLength: tone().length,
    });
    for (const _ of [1, 2]) {
      const parts: Uint8Array[] = [];
      for await (const part of recording?.open() ?? []) parts.push(part);
      expect(Buffer.concat(parts)).toStrictEqual(tone());
    }
  });

  test('may have exactly ten megabytes, and be anywhere', async () => {
    const sandbox = await createSandbox();
    await putLargeWav(sandbox, 'large.wav');
    const [recording] = await check(sandbox, `..${path.sep}out${path.sep}large.wav`);
    expect(recording).toMatchObject({ filename: 'large.wav', byteLength: 10_485_760 });
  });

  test.each([
    ['a.mp3', 'mp3'],
    ['a.mpeg', 'mp3'],
    ['a.ogg', 'ogg'],
    ['a.oga', 'ogg'],
    ['a.opus', 'ogg'],
    ['a.wav', 'wav'],
  ] as const)('%s may be %s', async (name, kind) => {
    const sandbox = await createSandbox();
    await putRecording(sandbox, name, (await tinyAudio())[kind].bytes);
    expect(await check(sandbox, name)).toHaveLength(1);
  });

  test.each([
    ['flac', '664c61430000002200'],
    ['aac', 'fff150802ffffc'],
    ['m4a', '000000206674797069736f6d'],
    ['m4a', '00000020667479704d344120'],
    ['mp4', '000000186674797069736f6d'],
    ['webm', '1a45dfa3934282'],
    ['mpeg', '000001ba44000400'],
  ] as const)('%s is known by its mark %s', (extension, mark) => {
    const content = contentOf(Buffer.from(mark, 'hex'));
    expect(REFERENCE_TYPES[extension].contents).toContain(content);
  });
});

test('more bytes never make another content of a recording', () => {
  const marks = ['RIFF\0\0\0\0WAVE', 'OggS', 'fLaC', '\x1aE\xdf\xa3', '\0\0\x01\xba', 'ID3'];
  const heads = fc
    .tuple(fc.constantFrom('', ...marks), fc.uint8Array({ maxLength: 40 }))
    .map(([mark, rest]) => Buffer.concat([Buffer.from(mark, 'latin1'), rest]));
  fc.assert(
    fc.property(heads, fc.uint8Array({ maxLength: 40 }), (head, more) => {
      const content = contentOf(head);
      fc.pre(content !== 'more');
      expect(contentOf(Buffer.concat([head, more]))).toBe(content);
    }),
  );
});

test('an ending counts whatever its case, and only at the end', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(REFERENCE_TYPES)),
      fc.stringMatching(/^[a-z0-9_ -]{1,20}$/),
      fc.boolean(),
      (extension, stem, isLoud) => {
        const ending = isLoud ? extension.toUpperCase() : extension;
        expect(referenceExtension(`${stem}.${ending}`)).toBe(extension);
        expect(referenceExtension(`${stem}.${ending}.bak`)).toBeUndefined();
        expect(referenceExtension(`.${ending}`)).toBeUndefined();
      },
    ),
  );
});
