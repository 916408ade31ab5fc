import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countItems } from '../../src/batch/plan/items.ts';
import {
  FirstOwners,
  foldedName,
  nameComponent,
  parseNameTemplate,
  planItems,
} from '../../src/batch/plan/plan.ts';
import type { BatchPlanOptions } from '../../src/batch/plan/plan.ts';
import { findSources, inputBytes, linesOf } from '../../src/batch/plan/inputs.ts';
import type { InputFile, InputSource } from '../../src/batch/plan/inputs.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { makeFifo } from '../harness/posix.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'foley-plan-'));
});
afterAll(async () => rm(root, { recursive: true, force: true }));

describe('the lines of an input', () => {
  it('are the same for any chunks, without line ends, blank lines and byte order mark', async () => {
    const line = fc
      .string({ unit: 'grapheme', maxLength: 12 })
      .map((text) => text.replaceAll(/[\r\n\ufeff]/g, ''));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 8 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.integer({ min: 1, max: 7 }),
        async (lines, end, hasMark, size) => {
          const bytes = Buffer.from((hasMark ? '\ufeff' : '') + lines.join(end));
          const found = await allLines(inPieces(bytes, size));
          expect(found).toEqual(lines.filter((text) => text.trim() !== ''));
        },
      ),
    );
  });

  it('have their numbers in the file, and an invalid byte is reported with its line', async () => {
    const numbers: number[] = [];
    for await (const { number } of linesOf(inputBytes('x', Buffer.from('a\n\nb\n'))))
      numbers.push(number);
    expect(numbers).toEqual([1, 3]);
    const bad = Buffer.concat([Buffer.from('a\n\n'), Buffer.from([0xff])]);
    await expect(allLines(inputBytes('x', bad))).rejects.toThrow(/0xff at offset 3, line 3/);
    await expect(allLines(inputBytes('x', Buffer.alloc(2_000_000, 'a')))).rejects.toThrow(
      /line 1 is longer/,
    );
  });
});

describe('a name', () => {
  it('made of any text is one plain name that every system accepts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const name = nameComponent(text);
        expect(name).not.toMatch(/[/\\\0<>:"|?*]|^\.|^\s|[\s.]$|^-|^(?:con|nul|aux|prn)(?:\.|$)/i);
        expect(name).not.toBe('');
      }),
    );
  });

  it.each([
    ['{index}-{name}.{ext}', '07-a b.mp3'],
    ['{voice}/{id}.{ext}', 'v-1/x-y.mp3'],
    ['{dir}/{name}.{ext}', 'c d/e-f/a b.mp3'],
    ['fixed', 'fixed'],
    ['-{name}', '_a b'],
    ['{voice}/-{index}.{ext}', 'v-1/_07.mp3'],
    ['co{ext}.x', 'comp3.x'],
    ['CON.{ext}', 'CON-file.mp3'],
  ])('of the template %s is %s', (template, expected) => {
    const parts = { index: '07', name: 'a b', dir: 'c d/e:f', id: 'x/y', voice: 'v-1', ext: 'mp3' };
    expect(parseNameTemplate(template)(parts)).toBe(expected);
  });

  it('equals another that differs in case or in the encoding of accents', () => {
    expect(foldedName('Stra\u00dfe \u00c9.mp3')).toBe(foldedName('STRASSE e\u0301.MP3'));
    expect(foldedName('a')).not.toBe(foldedName('b'));
  });
});

describe('a map of first owners', () => {
  it('returns the owner that came first', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 2 }), { maxLength: 3_000 }), (texts) => {
        const owners = new FirstOwners();
        const model = new Map<string, number>();
        for (const [index, text] of texts.entries()) {
          expect(owners.add(text, index)).toBe(model.get(text));
          if (!model.has(text)) model.set(text, index);
        }
        for (const [text, index] of model) expect(owners.ownerOf(text)).toBe(index);
        expect(owners.ownerOf('never added')).toBeUndefined();
      }),
      { numRuns: 20 },
    );
  });
});

/** A list of lines for `--lines`. */
function list(items: number): InputSource[] {
  return [
    { kind: 'lines', name: 'list', file: inputBytes('list', Buffer.alloc(2 * items, 'a\n')) },
  ];
}

describe('a long list', () => {
  it('has at most a million items', async () => {
    await expect(countItems({ sources: list(1_000_001) })).rejects.toMatchObject({
      exit: 'usage',
      message: 'list, line 1000001 is item 1000001; a batch has at most 1000000 items',
    });
  });

  it('lets a signal stop the reading', async () => {
    const stop = new AbortController();
    setImmediate(() => stop.abort(new Error('stopped')));
    await expect(countItems({ sources: list(100_000) }, stop.signal)).rejects.toThrow('stopped');
  });
});

describe('an input that can be read only once', () => {
  it('is read once when the command line names it', async () => {
    const pipe = await makePipe('list');
    const read: string[] = [];
    const readOnce = async (name: string): Promise<InputFile> => {
      read.push(name);
      return inputBytes(name, Buffer.from('One.\nTwo.\n'));
    };
    const sources = await findSources(
      { recursive: true, paths: [], lines: pipe, readOnce },
      systemFiles,
    );
    const total = await countItems({ sources });
    const texts: string[] = [];
    for await (const { order } of planItems({ ...OPTIONS, sources, total, template: NUMBERED })) {
      texts.push(order.text);
    }
    expect({ read, total, texts }).toEqual({ read: [pipe], total: 2, texts: ['One.', 'Two.'] });
  });

  it('has the same name for every number that a shell gives it', async () => {
    const lists = ['/dev/fd/63', '/proc/self/fd/11', '-', '/dev/stdin', '/x/list.txt'];
    const names = lists.map(async (lines) => {
      const options = {
        recursive: true,
        paths: [],
        lines,
        readOnce: async () => inputBytes('it', Buffer.from('A')),
      };
      const [source] = await findSources(options, systemFiles);
      return source?.kind === 'lines' ? source.name : undefined;
    });
    expect(await Promise.all(names)).toEqual(['pipe', 'pipe', 'stdin', 'stdin', 'list']);
  });

  it('has no folder when a shell made it', async () => {
    const lists = ['/dev/fd/63', '-', '/dev/stdin', '/x/list.jsonl'];
    const paths = lists.map(async (jsonl) => {
      const options = {
        recursive: true,
        paths: [],
        jsonl,
        readOnce: async () => inputBytes('it', Buffer.from('{}')),
      };
      const [source] = await findSources(options, systemFiles);
      return source?.kind === 'jsonl' ? source.path : 'none';
    });
    expect(await Promise.all(paths)).toEqual([undefined, undefined, undefined, '/x/list.jsonl']);
  });

  it('is refused in a folder without waiting for its content', async () => {
    const pipe = await makePipe('folder/text.txt');
    const sources = await findSources(
      {
        recursive: true,
        paths: [path.dirname(pipe)],
        readOnce: () => Promise.reject(new Error('not named')),
      },
      systemFiles,
    );
    const items = planItems({ ...OPTIONS, sources, total: 1 });
    await expect(items.next()).rejects.toThrow(/text\.txt is a pipe or a device/);
  });
});

describe('a plan', () => {
  it('gives files of the same name different ids', async () => {
    const sources = ['a', 'a', 'a-2', 'a'].map((name) => {
      const file = inputBytes(name, Buffer.from(`${name}.`));
      return { kind: 'text', file, name, dir: '', title: name } as const;
    });
    const ids: string[] = [];
    const numbered = { ...OPTIONS, template: NUMBERED };
    for await (const { id } of planItems({ ...numbered, sources, total: 4 })) ids.push(id);
    expect(ids).toEqual(['a', 'a-2', 'a-2-2', 'a-3']);
  });
});

describe('on Windows, an output name that a list gives', () => {
  it.each(['con.mp3', '12:30.mp3', 'part 1./a.mp3'])('cannot be %s', async (output) => {
    const lines = Buffer.from(JSON.stringify({ text: 'Hello.', output }));
    const file = inputBytes('list.jsonl', lines);
    const sources = [{ kind: 'jsonl', file, name: 'list', path: undefined } as const];
    const plan = { ...OPTIONS, sources, total: 1 };
    const first = (platform: NodeJS.Platform) => planItems({ ...plan, platform }).next();
    await expect(first('win32')).rejects.toThrow(/which Windows does not allow/);
    expect((await first('linux')).value).toMatchObject({ output });
  });
});

const NUMBERED = parseNameTemplate('{index}.{ext}');

const OPTIONS: Omit<BatchPlanOptions, 'sources' | 'total'> = {
  files: systemFiles,
  platform: 'linux',
  sidecars: () => [],
  template: parseNameTemplate('{name}.{ext}'),
  defaults: {
    voiceId: 'v',
    modelId: undefined,
    format: undefined,
    configuredFormat: undefined,
    controls: {},
  },
};

async function makePipe(name: string): Promise<string> {
  const pipe = path.join(root, name);
  await mkdir(path.dirname(pipe), { recursive: true });
  makeFifo(pipe);
  return pipe;
}

function inPieces(bytes: Buffer, size: number): InputFile {
  return {
    name: 'pieces',
    async *open() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    },
  };
}

async function allLines(input: InputFile): Promise<string[]> {
  const lines: string[] = [];
  for await (const { text } of linesOf(input)) lines.push(text);
  return lines;
}
