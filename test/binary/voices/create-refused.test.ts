import { describe, expect, test } from 'vitest';
import { unsafeCharacters } from '../../harness/unsafe-characters.ts';
import { NO_RIGHTS, createFixture } from '../support/fixture.ts';
import { BAD_RECORDINGS } from './bad-recordings.ts';
import { putRecording } from './recordings.ts';
import { everyNth } from './voice-fixture.ts';

/** All of them are asked of the check itself in `test/voices`. */
const ASKED = everyNth(6, BAD_RECORDINGS);

describe('a recording that will not do is exit 2, and nothing is sent', () => {
  test.each(ASKED)('%j: %s', async (names, reason, prepare) => {
    const fixture = await createFixture([], NO_RIGHTS);
    await prepare(fixture.sandbox);
    const result = await fixture.run(['voices', 'create', 'Ada', ...names]);
    expect(result).toMatchObject({ code: 2, stdout: Buffer.alloc(0) });
    expect(result.stderr).toContain(reason);
    expect(unsafeCharacters(result.stderr)).toEqual([]);
    expect(fixture.server.connections).toBe(0);
  });
});

describe('flags that will not do are exit 2, and nothing is sent', () => {
  const rows: readonly [args: string[], reason: string][] = [
    [['voices', 'create'], "missing required argument 'name'"],
    [['voices', 'create', 'Ada'], "missing required argument 'file'"],
    [['voices', 'create', ' ', 'a.wav'], 'NAME is empty'],
    [
      ['voices', 'create', 'Ada', 'a.wav', '--visibility', 'all'],
      '--visibility is "all"; it takes private, public',
    ],
    [['voices', 'create', 'Ada', 'a.wav', '--language', ''], '--language is empty'],
    [
      ['voices', 'create', 'Ada', 'a.wav', '--language', 'x'.repeat(65)],
      '--language has 65 characters',
    ],
    [['voices', 'create', 'Ada', 'a.wav', '--description', ''], '--description is empty'],
    [['voices', 'create', 'Ada', 'a.wav', '--reference-text', ' '], '--reference-text is empty'],
    [['voices', 'create', 'Ada', 'a.wav', '--request-id', 'ü'], '--request-id has characters'],
    [['voices', 'create', 'Ada', 'a.wav', '--langauge', 'en'], 'Did you mean --language?'],
    [['voices', 'clon', 'Ada', 'a.wav'], 'Did you mean `foley voices clone`?'],
  ];

  test.each(everyNth(2, rows))('%j: %s', async (args, reason) => {
    const fixture = await createFixture([]);
    await putRecording(fixture.sandbox, 'a.wav');
    const result = await fixture.run(args);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(reason);
    expect(fixture.server.connections).toBe(0);
  });
});
