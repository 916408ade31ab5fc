import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startScriptedServer } from '../realtime/scripted-server.ts';
import { batchSandbox } from '../binary/batch/batch-sandbox.ts';
import { live } from '../binary/live/spoken.ts';
import { refused, spokenText } from '../binary/support/spoken-text.ts';

const NAMES = '# names\nwritten\tspoken\nnginx\tengine x\nNew York\tN Y\n';
const PLS = '<lexicon><lexeme><grapheme>SQL</grapheme><alias>sequel</alias></lexeme></lexicon>';

async function sandboxWith(files: Readonly<Record<string, string>>): Promise<Sandbox> {
  const sandbox = await createSandbox();
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(sandbox.out, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  return sandbox;
}

describe('--lexicon', () => {
  test('replaces words before they are sent, also of several files and of documents', async () => {
    const sandbox = await sandboxWith({
      'names.tsv': NAMES,
      'more.csv': 'nginx,engine ex\n',
      'x.pls': PLS,
      'a.md': '# *nginx* and SQL\n',
    });
    const names = ['--lexicon', 'names.tsv'];
    const text = 'Nginx in New York speaks SQL.';
    expect(await spokenText([...names, text], { sandbox })).toBe('engine x in N Y speaks SQL.');
    const all = [...names, '--lexicon', 'more.csv', '--lexicon=x.pls'];
    expect(await spokenText([...all, text], { sandbox })).toBe('engine ex in N Y speaks sequel.');
    expect(await spokenText([...all, '-f', 'a.md'], { sandbox })).toBe('engine ex and sequel.');
  });

  test.each([
    ['C++ on .NET', 'see plus plus on dot net'],
    ['ASP.NET and C++20', 'ASP.NET and C++20'],
    ['(C++), .NET!', '(see plus plus), dot net!'],
  ])(
    'matches punctuation at the edge of an entry only at the edge of a word: %s',
    async (text, spoken) => {
      const sandbox = await sandboxWith({ 'a.tsv': '.NET\tdot net\nC++\tsee plus plus\n' });
      const result = await runFoley(['text', text, '--lexicon', 'a.tsv'], { sandbox });
      expect(result.stdout.toString(), result.stderr).toBe(`${spoken}\n`);
    },
  );

  test('keeps the written words in captions, and bills what is sent', async () => {
    const sandbox = await sandboxWith({ 'names.tsv': NAMES });
    const files = ['-o', 'a.wav', '--timings', 'a.json', '--json'];
    const args = ['tts', 'The nginx of New York.', '--lexicon', 'names.tsv', ...files];
    const result = await runFoley(args, { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const timings = JSON.parse(await readFile(path.join(sandbox.out, 'a.json'), 'utf8'));
    expect(timings).toMatchObject({ text: 'The nginx of New York.', complete: true });
    const words = timings.words.map(({ text }: { text: string }) => text);
    expect(words).toEqual(['The', 'nginx', 'of', 'New', 'York']);
    // The default model bills half a credit for a character.
    expect(parseJsonDocument(result.stdout)).toMatchObject({
      creditsUsed: 'The engine x of N Y.'.length / 2,
    });
  });

  test('works with every command that sends text', async () => {
    const sandbox = await sandboxWith({ 'names.tsv': NAMES });
    const lexicon = ['--lexicon', 'names.tsv'];
    const dryRun = async (args: readonly string[]) => {
      const { code, stderr, stdout } = await runFoley([...args, ...lexicon, '--dry-run'], {
        sandbox,
      });
      expect(code, stderr).toBe(0);
      return stdout.toString();
    };
    expect(await dryRun(['jobs', 'create', 'nginx'])).toContain('"engine x"');
    const video = ['--video', 'http://127.0.0.1/a.mp4', '-v', 'a'];
    expect(await dryRun(['dub', 'create', 'nginx', ...video])).toContain('"engine x"');
    const text = await runFoley(['text', 'nginx', '--json', ...lexicon], { sandbox });
    expect(parseJsonDocument(text.stdout)).toMatchObject({
      text: 'engine x',
      characters: 8,
      replaced: [{ written: 'nginx', spoken: 'engine x', at: 0 }],
    });
  });

  test('works with a batch, whose captions show the written words', async () => {
    const { batch, charged, read, write } = await batchSandbox({ 'a.txt': 'The nginx.' });
    await write('names.tsv', NAMES);
    const args = ['a.txt', '--output-dir', 'o', '--timings', '--lexicon', 'names.tsv'];
    expect(await batch(args)).toMatchObject({ code: 0 });
    expect(await charged()).toBe('The engine x.'.length);
    expect(JSON.parse((await read('o/a.json')).toString())).toMatchObject({ text: 'The nginx.' });
  });

  test.each([
    ['of a pipe, sentence by sentence', 'reliable', ['engine x is up.', 'N Y too.']],
    ['of a pipe in simple mode', 'simple', ['engine x is up. N Y too.']],
  ])('works with foley live: the text %s', async (_, mode, texts) => {
    const sandbox = await sandboxWith({ 'names.tsv': NAMES });
    const server = await startScriptedServer();
    const args = ['--lexicon', 'names.tsv', '--mode', mode, '--format', 'pcm'];
    const result = await live(server, args, { sandbox, input: 'nginx is up. New York too.' });
    expect(result.code, result.stderr).toBe(0);
    expect(server.book.charges.map(({ text }) => text)).toEqual(texts);
  });

  test.each([
    ['names.tsv', 'a\tb\nc\n', 'names.tsv, line 2: 1 column instead of 2'],
    ['names.csv', 'a,b\nc,d,e\n', 'names.csv, line 2: 3 columns instead of 2'],
    ['names.pls', '<lexicon>\n<word/>\n</lexicon>', 'names.pls, line 2: the element <word>'],
    ['names.tsv', 'a\tb\nc\t/ /\n', 'names.tsv, line 2: the spoken text is empty'],
    ['names.tsv', Buffer.from('a\tb\ncaf\xe9\td\n', 'latin1'), 'names.tsv is not valid UTF-8'],
  ])('of a bad line of %s is refused', async (name, content, message) => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, name), content);
    expect((await refused(['Hi', '--lexicon', name], { sandbox })).stderr).toContain(message);
  });

  test('of a missing file or a folder is refused', async () => {
    const sandbox = await createSandbox();
    const missing = await refused(['Hi', '--lexicon', 'no.tsv'], { sandbox });
    expect(missing.stderr).toContain('no such file: no.tsv');
    expect((await refused(['Hi', '--lexicon', '.'], { sandbox })).stderr).toContain('is a folder');
    expect((await refused(['Hi', '--lexicon', ''], { sandbox })).stderr).toContain(
      '--lexicon is empty',
    );
  });
});

describe('the setting lexicon', () => {
  test('is a file in the folder of the project', async () => {
    const sandbox = await sandboxWith({
      'foley.config.json': '{"lexicon": "words/names.tsv"}',
      'words/names.tsv': NAMES,
      'deep/other.csv': 'nginx,other\n',
    });
    const cwd = path.join(sandbox.out, 'deep');
    expect(await spokenText(['nginx'], { sandbox, cwd })).toBe('engine x');
    expect(await spokenText(['nginx', '--lexicon', 'other.csv'], { sandbox, cwd })).toBe('other');
  });

  test('of a project cannot name a file outside of it, also through a link', async () => {
    const sandbox = await sandboxWith({ 'names.tsv': NAMES, 'p/q/a': '' });
    const cwd = path.join(sandbox.out, 'p');
    const settings = path.join(cwd, 'foley.config.json');
    await symlink(path.join(sandbox.out, 'names.tsv'), path.join(cwd, 'link.tsv'));
    for (const lexicon of ['../names.tsv', path.join(sandbox.out, 'names.tsv'), 'link.tsv']) {
      await writeFile(settings, JSON.stringify({ lexicon }));
      const { stderr } = await refused(['Hi'], { sandbox, cwd });
      expect(stderr).toContain("the lexicon of the project is outside of the project's folder");
    }
  });

  test('of the user is stored with its whole path', async () => {
    const sandbox = await sandboxWith({ 'names.tsv': NAMES });
    const set = await runFoley(['config', 'set', 'lexicon', 'names.tsv'], { sandbox });
    expect(set).toMatchObject({ code: 0 });
    const cwd = path.join(sandbox.out, 'deep');
    await mkdir(cwd);
    expect(await spokenText(['nginx'], { sandbox, cwd })).toBe('engine x');
  });
});
