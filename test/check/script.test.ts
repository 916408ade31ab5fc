import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readTimings } from '../../src/captions/timings.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { parseJsonLines } from '../harness/json-lines.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import type { RunResult } from '../harness/run-options.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { filesOf, snapshot } from '../harness/snapshot.ts';
import type { BatchSandbox } from '../binary/batch/batch-sandbox.ts';
import { batchSandbox, JOBS_PATH, lastLine } from '../binary/batch/batch-sandbox.ts';
import { listedChapters } from '../script/recording/listed-chapters.ts';

const TALK = `# One
ADA: Hello, Bob.
BOB: Hello. [pause 1s] Who are you?
ADA: Goodbye.

They leave.
`;
/** The model bills a credit for each character. */
const CAST = ['--cast', 'ADA=Clara', '--voice-name', 'martin', '-m', 'vendor-s21pro'];

const CAST_FILE = '{"BOB": {"voiceId": "Clara"},\n "ADA": {"voiceId": "Clara", "sped": 2}}';

let sandbox: BatchSandbox;

function script(...args: readonly string[]): Promise<RunResult> {
  return runFoley(['script', ...args], { sandbox: sandbox.sandbox, env: sandbox.service.env });
}

async function jobsOf({ service }: BatchSandbox): Promise<number> {
  return Object(JSON.parse(String((await service.ask(JOBS_PATH)).bytes))).total;
}

/** Makes `talk.wav` of a text, and returns the last line of stdout. */
async function make(text: string, ...args: readonly string[]): Promise<string | undefined> {
  await sandbox.write('talk.txt', text);
  const result = await script('talk.txt', '-o', 'talk.wav', ...CAST, ...args);
  expect(result.code, result.stderr).toBe(0);
  return lastLine(result);
}

describe('a recording of a script', () => {
  beforeEach(async () => {
    sandbox = await batchSandbox({ 'talk.txt': TALK });
  });

  test('is made again only for what changed', async () => {
    expect(await make(TALK)).toBe('5 done, 0 failed, 0 skipped');
    const whole = await sandbox.read('talk.wav');
    expect(await make(TALK)).toBe('talk.wav is up to date: 5 texts unchanged');
    expect(await make(TALK.replace('Goodbye', 'See you'))).toBe('1 done, 0 failed, 4 skipped');
    expect(await make(TALK.replace('1s', '2s'), '--gap', '1s')).toBe('0 done, 0 failed, 5 skipped');
    expect(await make(TALK, '--loudness', '-20')).toBe('0 done, 0 failed, 5 skipped');
    expect(await make(TALK, '--cast', 'BOB=Ewan')).toBe('2 done, 0 failed, 3 skipped');
    const [title = '', first = '', second = '', ...rest] = TALK.split('\n');
    const moved = [title, second, 'ADA: A new line.', first, first, ...rest].join('\n');
    expect(await make(moved)).toBe('1 done, 0 failed, 5 skipped');
    // What was spoken before is not bought again.
    expect(await make(TALK)).toBe('0 done, 0 failed, 5 skipped');
    expect((await sandbox.read('talk.wav')).equals(whole)).toBe(true);
  });

  test('ends with the pause after its last line', async () => {
    const lengths: number[] = [];
    for (const text of ['ADA: Hello.\n', 'ADA: Hello.\n\n[pause 3s]\n']) {
      await make(text);
      lengths.push((await decodeAudio(await sandbox.read('talk.wav'))).durationMs);
    }
    const [plain = 0, longer] = lengths;
    expect(longer).toBeCloseTo(plain + 3_000, 1);
  });

  test('stays untouched, with no speech request, if nothing changed', async () => {
    await make(TALK);
    const file = path.join(sandbox.sandbox.out, 'talk.wav');
    const [before, charged] = [await stat(file), await sandbox.charged()];
    const result = await script('talk.txt', '-o', 'talk.wav', ...CAST, '--json');
    const item = expect.objectContaining({ event: 'item', status: 'skipped' });
    expect(parseJsonLines(result.stdout.toString())).toEqual([
      expect.objectContaining({ event: 'plan', items: 5, toSpeak: 0, skipped: 5 }),
      ...Array.from({ length: 5 }, () => item),
      expect.objectContaining({ event: 'recording', output: 'talk.wav', late: [] }),
      { event: 'summary', done: 0, failed: 0, skipped: 5, creditsUsed: 0, notTried: 0 },
    ]);
    expect(await stat(file)).toMatchObject({ mtimeMs: before.mtimeMs, ino: before.ino });
    expect(await sandbox.charged()).toBe(charged);
  });

  test('has other tags, chapters and captions without speaking a line', async () => {
    const tagged = async (text: string, ...args: readonly string[]): Promise<Buffer> => {
      await sandbox.write('talk.txt', text);
      const result = await script('talk.txt', '-o', 'talk.mp3', ...CAST, ...args);
      expect(result.code, result.stderr).toBe(0);
      return sandbox.read('talk.mp3');
    };
    const plain = await tagged(TALK);
    const before = [await sandbox.charged(), await jobsOf(sandbox)];
    const named = await tagged(TALK, '--title', 'Talk', '--author', 'Ada');
    const renamed = await tagged(TALK.replace('# One', '# First'), '--title', 'Talk');
    expect([await sandbox.charged(), await jobsOf(sandbox)]).toEqual(before);
    for (const [bytes, text] of [
      [plain, 'One'],
      [named, 'Talk'],
      [renamed, 'First'],
    ] as const) {
      expect(bytes.subarray(0, 1_000).includes(Buffer.from(text, 'utf16le'))).toBe(true);
    }
    // Only the tag differs.
    const sound = [plain, named, renamed].map((bytes) => bytes.subarray(-20_000).toString('hex'));
    expect(new Set(sound).size).toBe(1);
  }, 60_000);

  test('lists each of 260 chapters in an mp3', async () => {
    const text = Array.from({ length: 260 }, (_, at) => `# Chapter ${at}\nBOB: Hi.\n`);
    await sandbox.write('talk.txt', text.join('\n'));
    const args = ['talk.txt', '-o', 'talk.mp3', ...CAST, '--gap', '0s', '--chapter-gap', '0s'];
    const result = await script(...args);
    expect(result.code, result.stderr).toBe(0);
    const ids = Array.from({ length: 260 }, (_, at) => `chapter-${at + 1}`);
    expect(listedChapters(await sandbox.read('talk.mp3'))).toEqual(ids);
  });

  test('can have only some lines, and lines spoken again', async () => {
    await make(TALK);
    const whole = await decodeAudio(await sandbox.read('talk.wav'));
    expect(await make(TALK, '--only', '2-3')).toBe('0 done, 0 failed, 3 skipped');
    const part = await decodeAudio(await sandbox.read('talk.wav'));
    expect(part.durationMs).toBeLessThan(whole.durationMs);
    const before = await sandbox.charged();
    expect(await make(TALK, '--redo', '1')).toBe('1 done, 0 failed, 4 skipped');
    expect(await sandbox.charged()).toBe(before + 'Hello, Bob.'.length);
  });

  test('is described by --dry-run, which sends nothing', async () => {
    await make(TALK);
    const before = await sandbox.charged();
    await sandbox.write('talk.txt', `${TALK}BOB: Wait!\n`);
    const args = ['talk.txt', '-o', 'talk.wav', ...CAST, '--dry-run', '--credit-rate', '2'];
    const { stdout } = await script(...args);
    const rows = stdout.toString().split('\n');
    expect(rows[0]).toMatch(/^LINE +SPEAKER +WHAT +CHARACTERS +CREDITS +TEXT/);
    expect(rows[1]).toMatch(/^1 +ADA +unchanged +11 +0 +Hello, Bob\./);
    expect(rows[6]).toMatch(/^5 +BOB +speak: new or changed +5 +10 +Wait!/);
    expect(rows[7]).toMatch(/^1 to speak \(5 characters, about 10 credits\)/);
    expect(await sandbox.charged()).toBe(before);
  });

  test('has captions with speakers, chapters, tags and tracks', async () => {
    await sandbox.write('talk.txt', TALK);
    const files = ['--subtitles', 'a.vtt', '--timings', 'a.json', '--chapters', 'chapters.json'];
    const args = ['talk.txt', '-o', 'a.mp3', ...CAST, ...files, '--stems', 'stems', '--title', 'A'];
    expect(await script(...args)).toMatchObject({ code: 0 });
    expect((await sandbox.read('a.vtt')).toString()).toContain('<v ADA>Hello, Bob.');
    const timings: unknown = JSON.parse((await sandbox.read('a.json')).toString());
    expect(timings).toMatchObject({
      complete: true,
      words: expect.arrayContaining([
        { text: 'Hello', speaker: 'ADA', startMs: expect.any(Number), endMs: expect.any(Number) },
      ]),
    });
    const chapters: unknown = JSON.parse((await sandbox.read('chapters.json')).toString());
    expect(chapters).toMatchObject({ chapters: [{ title: 'One', startTime: 0 }] });
    const tracks = ['ADA', 'BOB', 'Narrator'].map((name) => sandbox.read(`stems/${name}.wav`));
    expect(new Set((await Promise.all(tracks)).map(({ length }) => length)).size).toBe(1);
  }, 60_000);

  test('gets captions later without speaking a line again', async () => {
    await make(TALK);
    const before = await sandbox.charged();
    expect(await make(TALK, '--timings', 'talk.json')).toBe('0 done, 0 failed, 5 skipped');
    expect(await sandbox.charged()).toBe(before);
    const timings = readTimings(JSON.parse(String(await sandbox.read('talk.json'))), 'talk.json');
    expect(timings.complete).toBe(true);
    expect(timings.words.map(({ text }) => text).join(' ')).toBe(
      'Hello Bob Hello Who are you Goodbye They leave',
    );
    expect(await make(TALK)).toBe('0 done, 0 failed, 5 skipped');
  }, 60_000);

  test('has captions of a language that foley cannot compare, and ends with 3', async () => {
    await sandbox.write('talk.txt', TALK);
    const args = ['talk.txt', '-o', 'talk.wav', ...CAST, '-l', 'fi', '--timings', 'talk.json'];
    const all = [...args, '--subtitles', 'talk.srt'];
    const result = await script(...all);
    expect(result.code, result.stderr).toBe(3);
    expect(result.stderr).toContain('the language "fi" requires a speech engine');
    expect(result.stderr).toContain('some words of the captions have no times');
    expect((await sandbox.read('talk.srt')).toString()).toContain('Who are you?');
    const timings = readTimings(JSON.parse(String(await sandbox.read('talk.json'))), 'talk.json');
    expect([timings.complete, timings.words, timings.lines?.length]).toEqual([false, [], 5]);
    // The missing engine may be there now.
    expect(await script(...all)).toMatchObject({ code: 3, stderr: result.stderr });
  }, 60_000);
});

describe('a timed script', () => {
  const cues =
    '1\n00:00:00,500 --> 00:00:00,900\nADA: This line is far too long.\n\n2\n00:00:01,000 --> 00:00:04,000\nBye.\n';

  test('ends with 3 if a line does not fit and --timing is exact', async () => {
    sandbox = await batchSandbox({});
    await sandbox.write('film.srt', cues);
    const args = ['film.srt', '-o', 'film.wav', ...CAST, '--timing'];
    const exact = await script(...args, 'exact');
    expect(exact.code).toBe(3);
    expect(exact.stderr).toMatch(/line 1 is \d+ ms too long for its time/);
    const stretched = await script(...args, 'stretch');
    expect(stretched.code).toBe(0);
    expect(stretched.stderr).toMatch(
      /line 2 begins \d+ ms late\n.*1 line sped up to fit, at most 1\.25/,
    );
    // The report is not lost when nothing changed.
    expect(await script(...args, 'exact')).toMatchObject({ code: 3 });
    expect(await script(...args, 'exact')).toMatchObject({ code: 3, stderr: exact.stderr });
  });

  test('begins with silence up to its first cue, but not with --only', async () => {
    sandbox = await batchSandbox({});
    await sandbox.write('late.srt', cues.replaceAll('00:00:0', '00:00:3'));
    const args = ['late.srt', '-o', 'late.wav', ...CAST, '--timings', 'late.json'];
    const startsOf = async (...more: readonly string[]): Promise<readonly number[]> => {
      const result = await script(...args, ...more);
      expect(result.code, result.stderr).toBe(0);
      const { lines = [] } = readTimings(
        JSON.parse(String(await sandbox.read('late.json'))),
        'late',
      );
      return lines.map(({ startMs }) => startMs);
    };
    expect(await startsOf('--timing', 'overlap')).toEqual([30_500, 31_000]);
    expect(await startsOf('--only', '2')).toEqual([0]);
  });

  test('reports a line with a pause that does not fit', async () => {
    sandbox = await batchSandbox({});
    await sandbox.write('film.srt', cues.replace(' is', ' is [pause 100ms]'));
    const result = await script('film.srt', '-o', 'film.wav', ...CAST, '--timing', 'exact');
    expect(result.code).toBe(3);
    expect(result.stderr).toMatch(/line 1 is \d+ ms too long for its time/);
  });
});

describe('a script that fails', () => {
  test('leaves the old recording whole, and continues', async () => {
    const broken = await batchSandbox({ 'talk.txt': 'ADA: One.\nADA: Two.\n' }, [
      'POST /**/jobs; job=fail; every=3',
    ]);
    const run = (...args: readonly string[]): Promise<RunResult> => {
      const all = ['script', 'talk.txt', '-o', 'talk.wav', ...CAST, ...args];
      return runFoley(all, { sandbox: broken.sandbox, env: broken.service.env });
    };
    expect(await run()).toMatchObject({ code: 0 });
    const before = await broken.read('talk.wav');
    await broken.write('talk.txt', 'ADA: One.\nADA: Two.\nADA: Three.\n');
    const failed = await run();
    expect([failed.code, lastLine(failed)]).toEqual([3, '0 done, 1 failed, 2 skipped']);
    expect(failed.stderr).toContain('foley: talk.txt, line 3, column 6: the job ');
    expect(failed.stderr).toContain('no recording was made');
    expect((await broken.read('talk.wav')).equals(before)).toBe(true);
    const again = await run('--retry-failed');
    expect([again.code, lastLine(again)]).toEqual([0, '1 done, 0 failed, 2 skipped']);
  });

  test('leaves the old recording whole when it is cancelled', async () => {
    const slow = await batchSandbox({ 'talk.txt': 'ADA: One.\n' }, [
      'POST /**/jobs; delay=2s; every=2',
    ]);
    const args = ['script', 'talk.txt', '-o', 'talk.wav', ...CAST];
    const options = { sandbox: slow.sandbox, env: slow.service.env };
    expect(await runFoley(args, options)).toMatchObject({ code: 0 });
    const before = await slow.read('talk.wav');
    await slow.write('talk.txt', 'ADA: One.\nADA: Two.\nADA: Three.\n');
    const running = await startFoley([...args, '--json', '-j', '1'], options);
    await running.waitFor('stdout', /"event":"item"/);
    running.signal('SIGINT');
    expect(await running.done).toMatchObject({ signal: 'SIGINT' });
    expect((await slow.read('talk.wav')).equals(before)).toBe(true);
    const again = await runFoley(args, options);
    expect(again.code, again.stderr).toBe(0);
    expect(await slow.charged()).toBe('One.Two.Three.'.length);
  }, 30_000);

  test('says how to continue when it is cancelled while the recording is made', async () => {
    const long = await batchSandbox({ 'talk.txt': 'ADA: One of many.\n'.repeat(2_000) });
    const args = ['script', 'talk.txt', '-o', 'talk.mp3', ...CAST, '--loudness', 'off'];
    const options = { sandbox: long.sandbox, env: long.service.env };
    const running = await startFoley(args, options);
    const temporaries = path.join(long.sandbox.out, 'talk.mp3.foley', '.foley', 'tmp', 'all');
    const isBegun = async (): Promise<boolean> => {
      const names = await readdir(temporaries).catch(() => []);
      const files = await Promise.all(names.map((name) => stat(path.join(temporaries, name))));
      return files.some(({ size }) => size > 100_000);
    };
    await expect.poll(isBegun, { timeout: 30_000 }).toBe(true);
    running.signal('SIGINT');
    const { signal, stderr } = await running.done;
    expect(signal).toBe('SIGINT');
    expect(stderr).toContain('no recording was made. Run the same command again to continue');
    expect(
      filesOf(await snapshot(long.sandbox.out)).filter((name) => name.includes('tmp')),
    ).toEqual([]);
  }, 60_000);
});

test('a recording whose folder is a file is exit 30, and leaves nothing', async () => {
  const own = await createSandbox();
  await writeFile(path.join(own.out, 'talk.txt'), 'Hi.');
  const args = ['script', 'talk.txt', '-v', 'Martin', '-o', 'talk.txt/a.wav'];
  for (const more of [[], ['--dry-run'], ['--json']]) {
    const options = { sandbox: own, env: { FOLEY_TARGET: 'local' } };
    const result = await runFoley([...args, ...more], options);
    expect([result.code, result.stderr]).toEqual([
      30,
      expect.stringContaining('talk.txt is a file'),
    ]);
    expect(result.stderr).toContain('Choose another place with --output.');
  }
  expect(await readdir(own.out)).toEqual(['talk.txt']);
});

describe('a mistake is exit 2 before anything is sent', () => {
  test.each([
    ['ADA: Hi.\nBOB: Hi.\n\nHi.', [], 'line 1, column 6: no voice is cast for ADA, BOB, Narrator'],
    ['ADA: Hi.\nBOB:\n', CAST, 'line 2, column 5: BOB has no text here'],
    ['ADA: Hi.', ['--cast', 'ADA=Nobody'], '--cast ADA is "Nobody", and no voice has that name'],
    ['ADA: Hi.', ['--cast', 'ADA=Clara,sped=2'], '--cast ADA: unknown key "sped"'],
    ['ADA: Hi.', ['--cast', 'Clara'], '--cast is "Clara"; it takes NAME=VOICE'],
    ['ADA: Hi.', [...CAST, '--cast', 'ada=Ewan'], '--cast ada is given more than once'],
    ['ADA: Hi.', ['--cast-file', 'cast.json'], 'cast.json, line 2, column 30: unknown key "sped"'],
    ['ADA: Hi.', [...CAST, '--timing', 'exact'], '--timing requires a script with start times'],
    ['ADA: Hi.', [...CAST, '--title', 'A'], '--title is given, but wav has no tags'],
    ['ADA: Hi.', [...CAST, '--cover', 'none.png'], '--cover none.png: no such file'],
    ['ADA: Hi.', [...CAST, '--cover', 'cut.png'], '--cover cut.png is cut: its end is missing'],
    ['ADA: Hi.', [...CAST, '--cover', 'bad.txt'], '--cover bad.txt is not a JPEG or PNG file'],
    ['ADA: Hi.', [...CAST, '--gap', '2m'], '--gap is "2m"; it takes at most 1m'],
    ['ADA: Hi.', [...CAST, '--chapter-gap', '61s'], '--chapter-gap is "61s"; it takes at most 1m'],
    [
      '{"text":"Hi.","voiceId":"nobody"}',
      ['--script-format', 'jsonl', '--dry-run'],
      'bad.txt, line 1, column 2: voiceId is "nobody", and no voice has that name',
    ],
    [
      'ADA: Hi.',
      [...CAST, '--subtitles', 'a.vtt', '--subtitles', './a.vtt'],
      '--subtitles names ./a.vtt twice',
    ],
    [
      'ADA: Hi.',
      [...CAST, '--timings', 'a.json', '--chapters', './A.json'],
      '--chapters and --timings both name ./A.json',
    ],
    [
      'ADA: Hi.',
      [...CAST, '--chapters', './bad.txt'],
      '--chapters and the script both name ./bad.txt',
    ],
    ['ADA: Hi.', [...CAST, '--only', '2'], '--only is "2"; it takes line numbers from 1 to 1'],
    ['ADA: Hi.', [...CAST, '--redo', '2'], '--redo is "2", but no line has that number or id'],
    ['ADA: Hi.', [...CAST, '--shard', '1/2'], "unknown option '--shard'"],
    [
      'ADA: Hi.',
      [...CAST, '--max-credits', '2', '--credit-rate', '1'],
      '--max-credits is 2, but this command may cost 3',
    ],
  ])('%j %j', async (text, args, problem) => {
    const own = await createSandbox();
    await writeFile(path.join(own.out, 'bad.txt'), text);
    await writeFile(path.join(own.out, 'cast.json'), CAST_FILE);
    await writeFile(path.join(own.out, 'cut.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
    const output = args.includes('--cover') ? 'bad.mp3' : 'bad.wav';
    const env = { FOLEY_TARGET: 'local' };
    const result = await runFoley(['script', 'bad.txt', '-o', output, ...args], {
      sandbox: own,
      env,
    });
    expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(problem)]);
    expect((await readdir(own.out)).toSorted()).toEqual(['bad.txt', 'cast.json', 'cut.png']);
  });

  test('nor is anything sent for a line that begins after the longest WAV file', async () => {
    const own = await createSandbox();
    await writeFile(path.join(own.out, 'late.jsonl'), '{"text":"Hi.","start":"23:00:00"}\n');
    const args = ['script', 'late.jsonl', '-o', 'late.wav', '-v', 'Martin', '--local'];
    const result = await runFoley(args, { sandbox: own });
    expect(result).toMatchObject({ code: 30 });
    expect(result.stderr).toContain('the recording is longer than a WAV file can be (4 GiB)');
    const jobs = await runFoley(['jobs', 'list', '--local', '--jq', '.items | length'], {
      sandbox: own,
    });
    expect(jobs.stdout.toString()).toBe('0\n');
  });
});
