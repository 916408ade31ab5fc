import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

interface Import {
  readonly from: string;
  readonly to: string;
  readonly isType: boolean;
}

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'])
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(file));
const sources: readonly string[] = tracked.filter((file) => /^(src|commands)\/.*\.ts$/.test(file));
const imports = sources.flatMap((file) => importsOf(file));

/** What each room may import besides itself; type imports count. */
const LEAVES = ['contract', 'errors', 'system', 'text'];
const SHARED = [...LEAVES, 'realtime', 'durable', 'audio', 'alignment'];
const FEATURES = [...SHARED, 'api', 'captions', 'config', 'paid', 'speech'];
const CLIENT = [
  ...FEATURES,
  'batch',
  'script',
  'read-along',
  'live',
  'media',
  'voices',
  'engines',
  'embedded',
];
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  errors: ['contract'],
  system: [],
  text: ['contract'],
  neural: [],
  phonemes: ['contract', 'errors', 'text', 'neural'],
  realtime: ['contract'],
  durable: LEAVES,
  audio: [...LEAVES, 'durable'],
  alignment: [...LEAVES, 'durable', 'audio'],
  captions: [...LEAVES, 'durable'],
  config: [...LEAVES, 'durable', 'api'],
  api: [...LEAVES, 'audio'],
  // What a purchase is does not depend on who buys: no feature is in it.
  paid: [...LEAVES, 'durable', 'audio', 'api'],
  speech: FEATURES,
  batch: FEATURES,
  script: [...FEATURES, 'batch'],
  'read-along': [...FEATURES, 'batch', 'script'],
  live: FEATURES,
  media: FEATURES,
  voices: FEATURES,
  engines: [...LEAVES, 'durable', 'audio', 'api', 'config', 'alignment', 'service'],
  embedded: [...LEAVES, 'durable', 'api', 'config', 'engines', 'service'],
  launch: ['config'],
  service: [...SHARED, 'neural', 'phonemes'],
  cli: CLIENT,
  commands: [...CLIENT, 'cli'],
  library: [...CLIENT, 'service'],
  main: [...CLIENT, 'cli', 'commands', 'launch'],
};

/** A row of `commands/tree.ts` that loads a command: its name, and the file, or the function and its argument. */
const ROW =
  /\b(?:verb|noun)\(\s*'([\w-]+)',(?:(?!\b(?:verb|noun)\().)*?(?:import\(\s*'\.\/[\w-]+\/([\w-]+)\.ts'|(mediaModels|completionFor)\('([\w-]+)'\))/gs;

describe('the rooms of the code', () => {
  it('have no import cycle, type imports included', () => {
    expect(cycles()).toEqual([]);
  });

  it('import in one direction', () => {
    const wrong = imports.filter(({ from, to, isType }) => {
      const [room, other] = [roomOf(from), roomOf(to)];
      if (room === other || MAY_IMPORT[room]?.includes(other) === true) return false;
      const isClient = room === 'cli' || room === 'commands';
      return !(other === 'service' && isClient && isType);
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it('keep the verbs of a command in the folder of its noun', () => {
    const wrong = imports.filter(({ from, to }) => {
      const [noun, other] = [nounOf(from), nounOf(to)];
      if (noun === undefined || other === undefined || other === 'shared') return false;
      return noun !== other;
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
    const outside = sources.filter((file) => /^commands\/[^/]+$/.test(file));
    expect(outside).toEqual(['commands/outputs.ts', 'commands/tree.ts']);
  });

  it('give each verb a file of its own that is named after it', () => {
    const text = readFileSync('commands/tree.ts', 'utf8');
    const loads = [...text.matchAll(ROW)].map(([, name = '', file, maker = '', argument]) => ({
      name,
      // A function serves several nouns or shells.
      isNamedAfterFile: name === file || name === argument || maker.endsWith('Models'),
    }));
    const rows = text.match(/\bverb\(\s*'|\bitself: \(/g) ?? [];
    expect(loads).toHaveLength(rows.length);
    expect(loads.filter(({ isNamedAfterFile }) => !isNamedAfterFile)).toEqual([]);
    const imported = text.match(/\bimport\(\s*'[^']+'/g) ?? [];
    expect(imported).toEqual([...new Set(imported)]);
  });

  it('cite pages of docs that exist', () => {
    const files = tracked.filter((file) =>
      /^(src|commands|test|scripts|bench)\/.*\.m?ts$/.test(file),
    );
    const missing = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bdocs\/[\w./-]+?\.md(?:#[\w-]+)?/g)]
        .map(([citation]) => citation)
        .filter((citation) => !resolves(citation))
        .map((citation) => `${file}: ${citation}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('the documentation', () => {
  const pages = tracked.filter((file) => /^(docs\/.*|README|CONTRIBUTING)\.md$/.test(file));

  it('names only files that exist', () => {
    const missing = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/`((?:src|commands|test|scripts|bench)\/[\w./-]+)`/g)]
        .filter(([, file = '']) => !existsSync(file))
        .map(([, file]) => `${page}: ${file}`),
    );
    expect(missing).toEqual([]);
  });

  it('counts the files of each walk in docs/architecture.md', () => {
    const walks = readFileSync('docs/architecture.md', 'utf8')
      .split(/^##+ /m)
      .filter((section) => section.includes(' files)'));
    const counted = walks.map((walk) => ({
      told: Number(/\((\d+) files\)/.exec(walk)?.[1]),
      listed: [...walk.matchAll(/^\d+\. `([\w./-]+)`/gm)].filter(([, file = '']) =>
        existsSync(file),
      ),
    }));
    expect(counted).toHaveLength(5);
    for (const { listed, told } of counted) expect(listed).toHaveLength(told);
  });
});

function importsOf(from: string): readonly Import[] {
  const text = readFileSync(from, 'utf8');
  const found = text.matchAll(
    /(?:(import|export)\s+(type\s)?[^;'"]*?\sfrom|import\s*\()\s*['"](\.[^'"]+)['"]/g,
  );
  return [...found].flatMap(([, , type, specifier = '']) => {
    const to = path.posix.join(path.posix.dirname(from), specifier);
    return to !== from && sources.includes(to) ? [{ from, to, isType: type !== undefined }] : [];
  });
}

function nounOf(file: string): string | undefined {
  return /^commands\/([^/]+)\//.exec(file)?.[1];
}

function roomOf(file: string): string {
  if (file.startsWith('commands/')) return 'commands';
  return /^src\/([^/]+)\//.exec(file)?.[1] ?? 'main';
}

/** Returns the groups of files that import one another, by Tarjan's algorithm. */
function cycles(): readonly string[] {
  const next = new Map<string, Import[]>();
  for (const found of imports) next.set(found.from, [...(next.get(found.from) ?? []), found]);
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.size - 1);
    stack.push(file);
    for (const { to } of next.get(file) ?? []) {
      if (!index.has(to)) visit(to);
      else if (!stack.includes(to)) continue;
      low.set(file, Math.min(low.get(file) ?? 0, low.get(to) ?? 0));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) groups.push(group.toSorted().join(' '));
  };
  for (const file of sources) if (!index.has(file)) visit(file);
  return groups;
}

/** Whether a page exists, with a heading that GitHub gives this anchor. */
function resolves(citation: string): boolean {
  const [page = '', anchor] = citation.split('#');
  if (!existsSync(page)) return false;
  if (anchor === undefined) return true;
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return headings.includes(anchor);
}
