import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import { epubOf } from '../harness/epub.ts';
import { docxOf, fb2Of } from '../harness/office-documents.ts';
import { inShell } from '../harness/in-shell.ts';
import { requireTool } from '../harness/require-tool.ts';
import { requireBuild, startFoley } from '../harness/run-foley.ts';
import type { Running } from '../harness/run-options.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import {
  documentationPages,
  foleyLines,
  linkedPaths,
  commandLines,
} from '../binary/support/documentation.ts';
import { startHostedService } from '../binary/support/hosted-service.ts';
import { expectSoundIn } from '../binary/support/sound.ts';
import { speechRecording, tone } from '../binary/voices/recordings.ts';
import type { Page } from '../binary/support/documentation.ts';

const [VOICE] = VOICES;
const ID = VOICE?.id ?? '';

const MORSE = new URL('../../examples/engine/morse.mjs', import.meta.url);
const PODCAST = new URL('../../examples/podcast/', import.meta.url);
const MEDIA = new URL('../fixtures/media/', import.meta.url);
const PICTURE = { width: 256, height: 256, channels: 3, background: '#d02060' } as const;

/** What a shell knows without a program of that name. */
const SHELL_WORDS = new Set(
  'foley cd export for do done if then fi while set wait kill read printf echo test'.split(' '),
);

const TIMINGS =
  '{"version":1,"text":"Hello you.","durationMs":1900,"complete":true,"words":[{"text":"Hello","startMs":0,"endMs":310}]}';

const TALK = 'The old bridge over the river is open again, and the weather is good today.';

/** Files that the examples take for granted. */
const CHAPTERS = Array.from({ length: 7 }, () => '<p>It was a short book.</p>');
const CHAPTER_RECORDING = speechRecording('It was a short book.', 'mp3');

const FILES = {
  'clip.mp4': readFileSync(new URL('h264.mp4', MEDIA)),
  'hello.mp3': readFileSync(new URL('beeps.mp3', MEDIA)),
  'lighthouse.png': await sharp({ create: PICTURE }).png().toBuffer(),
  // Long enough to be fitted to the ten seconds of the clip.
  'script.txt':
    'Welcome to the show. Tonight we walk along the coast, from the old harbour to the lighthouse, and hear who lives there.\n',
  'speech.wav': tone(),
  'ada.wav': speechRecording(),
  'ada-1.wav': speechRecording('I read the news every morning.'),
  'ada-2.wav': speechRecording('The rain has stopped at last.'),
  'book.txt': 'It was a short book. It had two sentences.\n',
  'book/one/1.txt': 'A chapter in a folder of its own.\n',
  'table.csv': 'id,text_en\nhello,Hello.\n',
  'chapters/1.txt': 'The first chapter is short.\n',
  'chapters/2.txt': 'The second one is no longer.\n',
  'phrases.txt': 'Good morning.\nGood night.\n',
  'items.jsonl': '{"id":"welcome","text":"Welcome."}\n',
  'chapter.txt': 'It was a bright cold day. The clocks were striking.\n',
  'examples/engine/morse.mjs': readFileSync(MORSE),
  'examples/podcast/talk.txt': readFileSync(new URL('talk.txt', PODCAST)),
  'examples/podcast/cast.json': readFileSync(new URL('cast.json', PODCAST)),
  'cast.json': '{"NARRATOR":{"voiceId":"Clara"}}',
  'film.srt': '1\n00:00:00,000 --> 00:00:05,000\nIt begins.\n',
  'key.txt': 'some-key\n',
  'redo.txt': 'welcome\n',
  'README.md': '# A tool\n\nIt speaks.\n',
  'plan.md': '# Plan\n\nBuy **two** tickets for $42.50.\n',
  'book.epub': epubOf(CHAPTERS),
  'letter.docx': docxOf('<w:p><w:r><w:t>Hello.</w:t></w:r></w:p>'),
  'novel.fb2': fb2Of('<body><section><p>It was a novel.</p></section></body>'),
  ...Object.fromEntries(CHAPTERS.map((_, at) => [`recordings/${at + 1}.mp3`, CHAPTER_RECORDING])),
  'names.tsv': 'nginx\tengine x\n',
  'talk.json': TIMINGS,
  'talk.txt': `${TALK}\n`,
  'talk.md': `# Talk\n\n${TALK}\n`,
  'talk.wav': speechRecording(TALK),
  'chapter.json': TIMINGS,
  'talk.srt': `1\n00:00:00,000 --> 00:00:05,000\n${TALK.replace(' again', '\nagain')}\n`,
  'speech.json': JSON.stringify({ text: 'Hello', voiceId: ID }),
};

/** Hears every sound: there is no loudspeaker where tests run. */
const LISTENER = '--play --player cat';

/** What is said to listen on this port in an example gets a free one. */
const PORT = /(--port[ =]|127\.0\.0\.1:)\d+/g;

/** Examples that are not run, and why not. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'foley engine add kokoro': 'it downloads a model from the network',
  'foley engine add hibari --voice fenrir': 'it downloads a voice from the network',
  'foley engine add piper --voice en_US-joe-medium --yes': 'it downloads a model from the network',
  'foley engine add espeak-ng': 'it installs a package from the network',
  'foley engine add mine -- python3 engine.py --model de.onnx': 'the program is the reader’s own',
  'foley engine add gpu --url http://10.0.0.2:8880 --url http://10.0.0.3:8880':
    'the servers are the reader’s own',
};

/** Written from the tree, whose examples are run. */
const REFERENCE = 'docs/reference.md';

/** test/check/natural-voices/add.test.ts runs it, with the real models. */
const NATURAL_VOICES = 'docs/guides/voices.md';

/** Lines of pages that are not run from there, and why not. */
const NOT_RUN_IN_PAGES: Readonly<Record<string, string>> = {
  'some-llm | foley live | mpv -': 'the program is the reader’s own',
  'foley engine add hibari --voice fenrir': 'it downloads a voice from the network',
  'foley align rede.wav -f rede.txt --language de --subtitles rede.srt':
    'it needs espeak-ng, which comes from the network',
};

/** Examples of these are about a job, and `…` is its id. */
const ABOUT_A_JOB = /^foley (\w+) (?:download|get|wait) …/;
const JOB_CREATES: readonly string[] = [
  'foley lipsync create --video clip.mp4 --audio speech.wav',
  'foley dub create "Hello." --video clip.mp4',
  'foley image create "A lighthouse" -m vendor-image-1-flash',
  'foley video create "A lighthouse" -m vendor-video-1-flash --seconds 2 --size 640x360',
];

/** A page may have several lines in a block, each of which starts a service. */
const LINES_TIMEOUT_MS = 120_000;

/** Stands for the hosted service. */
const HOSTED = 'https://api.example.com';

interface Service {
  readonly running: Running;
  readonly env: Readonly<Record<string, string>>;
}

async function sandboxForExamples(): Promise<Sandbox> {
  const sandbox = await createSandbox();
  for (const [name, content] of Object.entries(FILES)) {
    await mkdir(path.join(sandbox.out, path.dirname(name)), { recursive: true });
    await writeFile(path.join(sandbox.out, name), content);
  }
  return sandbox;
}

/** Runs the lines as if a person typed them one after the other. */
async function runLines(lines: readonly string[]): Promise<void> {
  for (const program of lines.flatMap((line) => programsOf(line))) requireTool(program);
  const sandbox = await sandboxForExamples();
  let service: Service | undefined;
  for (const line of lines) {
    if (/^foley serve\b/.test(line)) service = await startExample(line, sandbox);
    else await runLine(line, sandbox, service);
  }
  service?.running.signal('SIGTERM');
  if (service !== undefined)
    expect(await service.running.done).toMatchObject({ signal: 'SIGTERM' });
  for (const name of await readdir(sandbox.out)) {
    if (/\.(?:mp3|ogg|wav)$/.test(name)) await expectSoundIn(sandbox, name);
  }
}

async function runLine(
  line: string,
  sandbox: Sandbox,
  service: Service | undefined,
): Promise<void> {
  const isForService = service !== undefined && /127\.0\.0\.1|FOLEY_/.test(line);
  const port = new URL(service?.env['FOLEY_BASE_URL'] ?? 'http://127.0.0.1:1').port;
  const env = isForService ? service.env : {};
  const { server } = await startHostedService();
  const script = line
    .replaceAll(PORT, `$1${port}`)
    .replaceAll(HOSTED, server.origin)
    .replaceAll(/--play\b(?! --player)/g, LISTENER)
    .replaceAll('…', ID);
  // Who logs in has a key to type.
  const input = /\bauth login\b/.test(line) ? { input: FILES['key.txt'] } : {};
  const result = await inShell(script, { sandbox, env, ...input });
  expect(result.pipeStatus, `${line}\n${result.stderr}`).toEqual(result.pipeStatus.map(() => 0));
  expect(result.code, `${line}\n${result.stderr}`).toBe(0);
}

/** Starts a line with `foley serve` on a free port, and asks it whether it is well. */
async function startExample(line: string, sandbox: Sandbox): Promise<Service> {
  const words =
    line
      .replace(/\s*&$/, '')
      .replaceAll(PORT, '$10')
      .match(/"[^"]*"|\S+/g) ?? [];
  const [, ...args] = words.map((word) => word.replaceAll('"', ''));
  const running = await startFoley(args.includes('--port') ? args : [...args, '--port', '0'], {
    sandbox,
  });
  const [, baseUrl = '', apiKey = ''] = await running.waitFor(
    'stdout',
    /(http:\/\/127\.0\.0\.1:\d+).*(?:FOLEY_API_KEY=|"apiKey":")([^"\s]+)/,
  );
  const { statusCode, body } = await request(`${baseUrl}/healthz`);
  await body.dump();
  expect(statusCode).toBe(200);
  return { running, env: { FOLEY_BASE_URL: baseUrl, FOLEY_API_KEY: apiKey } };
}

const pages = documentationPages();

describe.each(pages.map((page) => [page.name, page] as const))('%s', (_, page) => {
  const blocks = shellBlocks(page);

  test.runIf(blocks.length > 0).each(blocks.map((lines) => [lines.join('; '), lines] as const))(
    '%s',
    async (__, lines) => runLines(lines),
    LINES_TIMEOUT_MS,
  );

  test('links to what is there', () => {
    expect(linkedPaths(page).filter((target) => !existsSync(target))).toEqual([]);
  });
});

test('the first screen has five examples', () => {
  const [readme] = pages;
  expect(readme?.name).toBe('README.md');
  expect(readme === undefined ? [] : shellBlocks(readme).length).toBeGreaterThanOrEqual(5);
});

requireBuild();
const help: unknown = JSON.parse(
  readFileSync(new URL('../../dist/help.json', import.meta.url), 'utf8'),
);
/** Those of each help that the build wrote down; a command and its first verb may have the same. */
const examples = new Set(Object.values(Object(help)).flatMap((text) => helpExamples(String(text))));

/** What the pages show is run there already. */
const shown = new Set(pages.flatMap((page) => shellBlocks(page).flat()));

const ownOfHelp = new Set([...examples].filter((line) => !shown.has(line)));

test('every line with foley that a page shows is run', () => {
  const inPages = pages
    .filter(({ name }) => name !== REFERENCE && name !== NATURAL_VOICES)
    .flatMap((page) => foleyLines(page));
  const isRun = new Set([...shown, ...ownOfHelp, ...Object.keys(NOT_RUN_IN_PAGES)]);
  expect(inPages.filter((line) => !isRun.has(line))).toEqual([]);
  expect(inPages).toEqual(expect.arrayContaining(Object.keys(NOT_RUN_IN_PAGES)));
});

test.each([...ownOfHelp].filter((line) => !(line in NOT_RUN || ABOUT_A_JOB.test(line))))(
  'the example of the help works: %s',
  async (line) => runLines([line]),
  LINES_TIMEOUT_MS,
);

test.each(JOB_CREATES)(
  'the examples of the help work on what this makes: %s',
  async (create) => {
    const [, noun = ''] = create.split(' ');
    const lines = [...examples].filter((line) => ABOUT_A_JOB.exec(line)?.[1] === noun);
    expect(lines.length).toBeGreaterThan(0);
    const ofJob = lines.map((line) => line.replace('…', '"$(cat job)"'));
    await runLines([`${create} > job`, ...ofJob]);
  },
  LINES_TIMEOUT_MS,
);

test('every example about a job is of a kind that is made', () => {
  const nouns = [...examples].flatMap((line) => ABOUT_A_JOB.exec(line)?.[1] ?? []);
  const made = JOB_CREATES.map((create) => create.split(' ')[1]);
  expect(made).toEqual(expect.arrayContaining(nouns));
});

test('every example that is not run is still there', () => {
  expect([...examples]).toEqual(expect.arrayContaining(Object.keys(NOT_RUN)));
});

/** The commands of each `sh` block: a line each, continued lines joined, comments left out. */
function shellBlocks({ text }: Page): string[][] {
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    commandLines(block),
  );
}

/** The commands that a help text shows after `$`. */
function helpExamples(text: string): string[] {
  const joined = text.replaceAll(/ *\\\n\s*/g, ' ');
  return [...joined.matchAll(/^ +\$ (.+)$/gm)].map(([, line = '']) => line);
}

/** The programs that a line needs besides foley and the shell. */
function programsOf(line: string): string[] {
  const quoteless = line.replaceAll(/"[^"]*"|'[^']*'/g, 'x');
  const words = quoteless.split(/\|\|?|&&?|;|\$\(/).map((part) =>
    part
      .trim()
      .replaceAll(/^(?:\w+=\S* )+/g, '')
      .split(/\s+/, 1)
      .join(),
  );
  return [...new Set(words)].filter((word) => /^[a-z]/.test(word) && !SHELL_WORDS.has(word));
}
