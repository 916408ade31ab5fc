import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { filesOf, snapshot } from '../harness/snapshot.ts';

const TIMINGS = {
  version: 1,
  text: 'Hello from foley. It speaks, and it writes down what it said.',
  durationMs: 5_000,
  complete: true,
  words: [
    ['hello', 0, 400],
    ['from', 400, 700],
    ['foley', 700, 1_100],
    ['it', 1_500, 1_600],
    ['speaks', 1_600, 2_000],
    ['and', 2_300, 2_400],
    ['it', 2_400, 2_500],
    ['writes', 2_500, 2_900],
    ['down', 2_900, 3_200],
    ['what', 3_200, 3_400],
    ['it', 3_400, 3_500],
    ['said', 3_500, 4_000],
  ].map(([text, startMs, endMs]) => ({ text, startMs, endMs })),
};

const FIELDS = 'Name, Fontname, Fontsize, PrimaryColour, SecondaryColour';

const SRT = `1
00:00:00,000 --> 00:00:01,416
Hello from foley.

2
00:00:01,500 --> 00:00:04,030
It speaks, and it writes
down what it said.

`;

async function sandboxWith(timings: unknown = TIMINGS): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await store(sandbox, timings);
  return sandbox;
}

async function store(sandbox: Sandbox, timings: unknown): Promise<void> {
  const content = typeof timings === 'string' ? timings : JSON.stringify(timings);
  await writeFile(path.join(sandbox.out, 'talk.json'), content);
}

function captions(sandbox: Sandbox, args: readonly string[], options: RunOptions = {}) {
  return runFoley(['captions', ...args], { sandbox, ...options });
}

function written(sandbox: Sandbox, name: string): Promise<string> {
  return readFile(path.join(sandbox.out, name), 'utf8');
}

describe('foley captions', () => {
  test('writes SubRip and WebVTT, and says what it wrote', async () => {
    const sandbox = await sandboxWith();
    const args = ['talk.json', '--subtitles', 'a.srt', '--subtitles', 'b.vtt'];
    expect(await captions(sandbox, args)).toMatchObject({
      code: 0,
      stdout: Buffer.alloc(0),
      stderr: 'a.srt: 2 cues\nb.vtt: 2 cues\n',
    });
    expect(await written(sandbox, 'a.srt')).toBe(SRT);
    expect(await written(sandbox, 'b.vtt')).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.416\nHello from foley.\n\n' +
        '00:00:01.500 --> 00:00:04.030\nIt speaks, and it writes\ndown what it said.\n',
    );
  });

  test('with --json prints what it wrote, and with --quiet nothing', async () => {
    const sandbox = await sandboxWith();
    const result = await captions(sandbox, ['talk.json', '--subtitles', 'a.srt', '--json', '-q']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(parseJsonDocument(result.stdout)).toStrictEqual({
      items: [{ output: 'a.srt', format: 'srt', cues: 2, violations: [] }],
      complete: true,
    });
  });

  test('reads timings from stdin', async () => {
    const sandbox = await createSandbox();
    const input = `\ufeff${JSON.stringify(TIMINGS)}`;
    expect(await captions(sandbox, ['-', '--subtitles', 'a.srt'], { input })).toMatchObject({
      code: 0,
    });
    expect(await written(sandbox, 'a.srt')).toBe(SRT);
  });

  test('shapes by its flags, which count before the project, which counts before the user', async () => {
    const sandbox = await sandboxWith();
    await mkdir(path.join(sandbox.config, 'foley'), { recursive: true });
    const settings = { cueBy: 'word', cueMaxChars: 20 };
    await writeFile(path.join(sandbox.config, 'foley', 'config.json'), JSON.stringify(settings));
    const count = async (args: readonly string[]): Promise<unknown> => {
      const result = await captions(sandbox, [
        'talk.json',
        '--subtitles',
        'a.srt',
        '--json',
        ...args,
      ]);
      return parseJsonDocument(result.stdout);
    };
    expect(await count([])).toMatchObject({ items: [{ cues: 12 }] });
    await writeFile(path.join(sandbox.out, 'foley.config.json'), '{"cueBy":"phrase"}');
    expect(await count([])).toMatchObject({ items: [{ cues: 3 }] });
    expect(await count(['--cue-max-chars', '42'])).toMatchObject({ items: [{ cues: 2 }] });
    expect(await count(['--cue-max-duration', '1s', '--cue-min-duration', '200ms'])).toMatchObject({
      items: [{ cues: 5 }],
    });
    expect(await count(['--cue-max-lines', '1', '--cue-by', 'sentence'])).toMatchObject({
      items: [{ cues: 4 }],
    });
  });

  test('by word gives a cue to each word, in WebVTT its time within a phrase', async () => {
    const sandbox = await sandboxWith();
    const args = ['talk.json', '--subtitles', 'a.srt', '--subtitles', 'b.vtt', '--cue-by', 'word'];
    expect(await captions(sandbox, args)).toMatchObject({ code: 0 });
    expect(await written(sandbox, 'a.srt')).toContain(
      '\n3\n00:00:00,700 --> 00:00:01,500\nfoley.\n',
    );
    expect(await written(sandbox, 'b.vtt')).toContain(
      '\nHello <00:00:00.400>from <00:00:00.700>foley.\n',
    );
  });

  test('writes timings that are not complete, warns, and ends with 3', async () => {
    const sandbox = await sandboxWith({
      ...TIMINGS,
      complete: false,
      words: TIMINGS.words.slice(0, 5),
    });
    const result = await captions(sandbox, ['talk.json', '--subtitles', 'a.srt', '--quiet']);
    expect(result.code).toBe(3);
    expect(result.stderr).toMatch(/^foley: the service did not time all of this text/);
    expect((await written(sandbox, 'a.srt')).replaceAll(/[\s\d:,>-]/g, '')).toBe(
      TIMINGS.text.replaceAll(/[\s,]/g, ''),
    );
  });
});

describe('foley captions --check', () => {
  const FAST = `1
00:00:01,000 --> 00:00:02,000
Forty-two columns fit on this very line.
And this second line is a bit longer than that.

2
00:00:01,500 --> 00:00:03,000
Next.
`;

  test('reports every violation of a subtitle file with its line, and ends with 3', async () => {
    const sandbox = await sandboxWith();
    await writeFile(path.join(sandbox.out, 'a.srt'), FAST);
    const result = await captions(sandbox, ['--check', 'a.srt', '--cue-preset', 'netflix']);
    expect(result).toMatchObject({ code: 3, stderr: '' });
    expect(result.stdout.toString()).toBe(
      'a.srt:2: reading-speed: cue 1 at 0:01.000 ("Forty-two columns fit on this …"): has 87 columns per second; the maximum is 20\n' +
        'a.srt:4: line-length: cue 1 at 0:01.000 ("Forty-two columns fit on this …"): has a line of 47 columns; the maximum is 42\n' +
        'a.srt:7: overlap: cue 2 at 0:01.500 ("Next."): starts 0.5 s before the previous cue ends\n' +
        'a.srt: 2 cues, 3 violations\n',
    );
    const json = await captions(sandbox, ['--check', 'a.srt', '--cue-max-chars', '50', '--json']);
    expect(json.code).toBe(3);
    expect(parseJsonDocument(json.stdout)).toMatchObject({
      file: 'a.srt',
      cues: 2,
      limits: { maxChars: 50, maxCps: 20 },
      violations: [
        { cue: 1, line: 2, rule: 'reading-speed', value: 87, limit: 20 },
        { cue: 2, line: 7, rule: 'overlap', value: 500, limit: 0 },
      ],
    });
  });

  test('checks the cues of timings, and ends with 0 without violations', async () => {
    const sandbox = await sandboxWith();
    const good = await captions(sandbox, ['--check', 'talk.json', '--cue-preset', 'bbc']);
    expect(good).toMatchObject({ code: 0, stderr: '' });
    expect(good.stdout.toString()).toBe('talk.json: 2 cues, 0 violations\n');
    const slow = await captions(sandbox, ['--check', 'talk.json', '--cue-max-cps', '10']);
    expect(slow.code).toBe(3);
    expect(slow.stdout.toString()).toMatch(/^talk\.json: reading-speed: cue 1 at /);
  });

  test('finds what foley reported when it wrote the file', async () => {
    const sandbox = await sandboxWith();
    const made = await captions(sandbox, [
      'talk.json',
      '--subtitles',
      'a.vtt',
      '--cue-max-cps',
      '10',
    ]);
    expect(made.code).toBe(0);
    const [, cue] =
      /foley: a\.vtt: (cue 1 at .*columns per second; the maximum is 10)\n/.exec(made.stderr) ?? [];
    expect(cue).toBeDefined();
    const checked = await captions(sandbox, ['--check', 'a.vtt', '--cue-max-cps', '10']);
    expect(checked.stdout.toString()).toContain(cue);
  });

  test('reads stdin, and takes no --subtitles', async () => {
    const sandbox = await sandboxWith();
    expect(await captions(sandbox, ['--check', '-'], { input: FAST })).toMatchObject({ code: 3 });
    expect(await captions(sandbox, ['--check', '-'], { input: 'WEBVTT\n' })).toMatchObject({
      code: 0,
    });
    const both = await captions(sandbox, [
      'talk.json',
      '--check',
      '--subtitles',
      'a.srt',
      '--json',
    ]);
    expect(errorLine(both)).toMatchObject({
      exitCode: 2,
      message: '--check and --subtitles exclude each other',
    });
  });
});

describe('foley captions refuses', () => {
  test.each<readonly [args: readonly string[], message: string]>([
    [['talk.json'], '--subtitles or --timings is required'],
    [[], "missing required argument 'file'"],
    [['gone.json', '--subtitles', 'a.srt'], 'gone.json: no such file'],
    [
      ['talk.json', '--subtitles', 'a.txt'],
      '--subtitles is "a.txt"; it takes a file with the extension .srt, .vtt, .ass, .ttml, .lrc',
    ],
    [
      ['talk.json', '--subtitles', '-'],
      '--subtitles is "-"; it takes a file with the extension .srt, .vtt, .ass, .ttml, .lrc',
    ],
    [
      ['talk.json', '--subtitles', 'a.srt', '--subtitles', './a.srt'],
      '--subtitles names ./a.srt twice',
    ],
    [
      ['talk.json', '--subtitles', 'a.srt', '--cue-max-chars', '0'],
      '--cue-max-chars is "0"; it takes a whole number from 1 to 1000',
    ],
    [
      ['talk.json', '--subtitles', 'a.srt', '--cue-max-duration', '0'],
      'the maximum duration of a cue must be above 0, but --cue-max-duration is 0',
    ],
    [
      ['talk.json', '--subtitles', 'a.srt', '--cue-min-duration', '9s'],
      'the minimum duration of a cue is above the maximum: --cue-min-duration is 9s, but cueMaxDuration is 7s',
    ],
    [
      ['talk.json', '--subtitles', 'a.srt', '--cue-by', 'words'],
      '--cue-by is "words"; it takes phrase, sentence, word',
    ],
  ])('%j', async (args, message) => {
    const sandbox = await sandboxWith();
    const result = await captions(sandbox, [...args, '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 2, message });
    expect(result.code).toBe(2);
    expect(filesOf(await snapshot(sandbox.out))).toStrictEqual(['talk.json']);
  });

  test.each<readonly [content: unknown, message: string]>([
    ['', 'talk.json is empty'],
    ['{"version":1,\n"text":}', 'talk.json is not valid JSON, at line 2'],
    [
      { ...TIMINGS, version: 9 },
      'talk.json: "version" is 9; this version of foley supports only 1',
    ],
  ])('timings %j', async (content, message) => {
    const sandbox = await sandboxWith(content);
    const result = await captions(sandbox, ['talk.json', '--subtitles', 'a.srt', '--json']);
    expect(errorLine(result)).toMatchObject({ exitCode: 2, message });
  });

  test('to write some, when it cannot write all', async () => {
    const sandbox = await sandboxWith();
    await writeFile(path.join(sandbox.out, 'a.srt'), 'older');
    await mkdir(path.join(sandbox.out, 'b.vtt'));
    const result = await captions(sandbox, [
      'talk.json',
      '--subtitles',
      'a.srt',
      '--subtitles',
      'b.vtt',
    ]);
    expect(result.code).toBe(2);
    expect(await written(sandbox, 'a.srt')).toBe('older');
    expect(filesOf(await snapshot(sandbox.out))).toStrictEqual(['a.srt', 'talk.json']);
  });

  test('to replace what is write-protected', async () => {
    const sandbox = await createSandbox({ unprivileged: true });
    await store(sandbox, TIMINGS);
    await writeFile(path.join(sandbox.out, 'a.srt'), 'older');
    await chmod(path.join(sandbox.out, 'a.srt'), 0o444);
    const result = await captions(sandbox, [
      'talk.json',
      '--subtitles',
      'b.vtt',
      '--subtitles',
      'a.srt',
    ]);
    expect(result.code).toBe(30);
    expect(filesOf(await snapshot(sandbox.out))).toStrictEqual(['a.srt', 'talk.json']);
  });
});

test('word times have words without the signs around them, and with all their letters', async () => {
  const sandbox = await createSandbox();
  const files = ['-o', 'a.wav', '--timings', 'a.json'];
  const { code, stderr } = await runFoley(['tts', 'Wait… «âge» ¡Âme!', ...files], { sandbox });
  expect(code, stderr).toBe(0);
  const timings = JSON.parse(await written(sandbox, 'a.json'));
  const words = timings.words.map(({ text }: { text: string }) => text);
  expect(words).toEqual(['Wait', 'âge', 'Âme']);
});

test.each(['* * *', '—', '"'])('a paragraph %s has no cue of its own', async (signs) => {
  const sandbox = await createSandbox();
  const input = `The sea is wide.\n\n${signs}\n\nThe sky is blue.`;
  const args = ['tts', '--local', '-o', 'a.wav', '--subtitles', 'a.srt'];
  const { code, stderr } = await runFoley(args, { sandbox, input });
  expect(code, stderr).toBe(0);
  const cues = (await written(sandbox, 'a.srt')).trim().split('\n\n');
  expect(cues).toHaveLength(2);
  expect(cues[0]).toContain('The sea is wide.');
  expect(cues[1]).toContain('The sky is blue.');
});

describe('foley captions converts', () => {
  test('subtitles to each other format and to timings, and keeps their cues', async () => {
    const sandbox = await sandboxWith();
    await writeFile(path.join(sandbox.out, 'talk.srt'), SRT);
    const names = ['a.srt', 'a.vtt', 'a.ass', 'a.ttml', 'a.lrc'];
    const flags = names.flatMap((name) => ['--subtitles', name]);
    const done = await captions(sandbox, ['talk.srt', ...flags, '--timings', 'a.json', '--json']);
    expect([done.code, parseJsonDocument(done.stdout)]).toEqual([
      0,
      {
        items: [
          ...names.map((output) => ({
            output: expect.stringContaining(output),
            format: output.slice(2),
            cues: 2,
            violations: [],
          })),
          { output: expect.stringContaining('a.json'), format: 'json', cues: null, violations: [] },
        ],
        complete: false,
      },
    ]);
    for (const name of ['a.srt', 'a.vtt', 'a.ass', 'a.ttml']) {
      const again = await captions(sandbox, [name, '--subtitles', 'b.srt']);
      expect([name, again.code, withTimesOf(name, await written(sandbox, 'b.srt'))]).toEqual([
        name,
        0,
        withTimesOf(name, SRT),
      ]);
    }
    expect(await written(sandbox, 'a.lrc')).toBe(
      '[00:00.000]Hello from foley.\n' +
        '[00:01.500]It speaks, and it writes down what it said.\n[00:04.030]\n',
    );
  });

  test('word times of karaoke to WebVTT and back', async () => {
    const sandbox = await sandboxWith();
    await captions(sandbox, ['talk.json', '--subtitles', 'a.ass', '--subtitles', 'a.lrc']);
    await captions(sandbox, ['a.lrc', '--subtitles', 'b.vtt']);
    expect(await written(sandbox, 'b.vtt')).toContain('<00:00:00.400>from <00:00:00.700>foley.');
    await captions(sandbox, ['b.vtt', '--subtitles', 'b.ass']);
    const rows = (await written(sandbox, 'a.ass')).split('\n');
    expect(rows.filter((row) => row.includes('Hello'))).toEqual([
      String.raw`Dialogue: 0,0:00:00.00,0:00:01.42,Default,,0,0,0,,{\k40}Hello {\k30}from {\k72}foley.`,
    ]);
    expect(await written(sandbox, 'b.ass')).toContain(
      String.raw`{\k40}Hello {\k30}from {\k80}foley.`,
    );
  });

  test('with the styles of another file', async () => {
    const sandbox = await sandboxWith();
    const style = 'Style: Brand,Georgia,40,&H00FF0000,&H00FFFFFF';
    const styles = ['[V4+ Styles]', `Format: ${FIELDS}`, style];
    const brand = ['\ufeff[Script Info]', 'PlayResY: 720', 'Title: Brand', '', ...styles];
    await writeFile(path.join(sandbox.out, 'brand.ass'), brand.join('\r\n'));
    const args = ['talk.json', '--subtitles', 'a.ass', '--ass-style', 'brand.ass'];
    const done = await captions(sandbox, args);
    expect(done.code, done.stderr).toBe(0);
    const rows = (await written(sandbox, 'a.ass')).split('\n');
    expect(rows.slice(0, rows.indexOf('[Events]'))).toEqual([
      '[Script Info]',
      'ScriptType: v4.00+',
      'PlayResY: 720',
      '',
      ...styles,
      '',
    ]);
    const events = rows.filter((row) => row.startsWith('Dialogue:'));
    expect(events.map((row) => row.split(',')[3])).toEqual(['Brand', 'Brand']);
  });

  test.each([
    [['a.srt'], /--ass-style brand\.ass requires --subtitles with a \.ass file/],
    [
      ['a.ass'],
      /--ass-style brand\.ass, line 3: a style with 2 fields, but the format has 5: name/,
    ],
  ])('no styles for %j', async (names, reason) => {
    const sandbox = await sandboxWith();
    const brand = `[V4+ Styles]\nFormat: ${FIELDS}\nStyle: Brand,Georgia\n`;
    await writeFile(path.join(sandbox.out, 'brand.ass'), brand);
    const flags = names.flatMap((name) => ['--subtitles', name]);
    const done = await captions(sandbox, ['talk.json', ...flags, '--ass-style', 'brand.ass']);
    expect(done.code).toBe(2);
    expect(done.stderr).toMatch(reason);
    expect((await readdir(sandbox.out)).toSorted()).toEqual(['brand.ass', 'talk.json']);
  });

  test('with a --cue flag to new cues', async () => {
    const sandbox = await sandboxWith();
    await writeFile(path.join(sandbox.out, 'talk.srt'), SRT);
    const done = await captions(sandbox, [
      'talk.srt',
      '--subtitles',
      'a.srt',
      '--cue-max-lines',
      '1',
    ]);
    expect([done.code, (await written(sandbox, 'a.srt')).match(/-->/g)?.length]).toEqual([0, 3]);
  });

  test.each([
    ['[Script Info]\n[Events]\nDialogue: 0,soon,later,Default,,0,0,0,,Hi', 'line 3: not an event'],
    ['<tt><body><div><p begin="soon">Hi</p></div></body></tt>', 'line 1: not a time: "soon"'],
    ['[00:99.00]Hi', 'line 1: not a time of a line of lyrics: "00:99.00"'],
    ['Hi', 'has no cues of SubRip, WebVTT, Advanced SubStation Alpha, TTML or LRC'],
  ])('no file with the content %j', async (content, message) => {
    const sandbox = await sandboxWith(content);
    await writeFile(path.join(sandbox.out, 'talk.txt'), content);
    const done = await captions(sandbox, ['talk.txt', '--subtitles', 'a.srt', '--json']);
    expect([done.code, errorLine(done).message]).toEqual([2, expect.stringContaining(message)]);
    expect(await readdir(sandbox.out)).not.toContain('a.srt');
  });
});

/** The content of a SubRip file with the times of another format. Advanced SubStation Alpha has hundredths. */
function withTimesOf(name: string, srt: string): string {
  if (!name.endsWith('.ass')) return srt;
  return srt.replaceAll(/(\d\d,)(\d{3})/g, (_, seconds: string, ms: string) => {
    return `${seconds}${`${Math.round(Number(ms) / 10) * 10}`.padStart(3, '0')}`;
  });
}
