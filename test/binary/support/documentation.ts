import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A Markdown file of the repository. */
export interface Page {
  /** Relative to the repository, such as `docs/service.md`. */
  readonly name: string;
  readonly text: string;
}

/** README.md, everything under docs/, and the skill for agents. */
export function documentationPages(): Page[] {
  const names = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join('docs', name))
    .sort();
  return ['README.md', ...names, 'skills/foley/SKILL.md'].map((name) => ({
    name,
    text: readFileSync(path.join(ROOT, name), 'utf8'),
  }));
}

/** Every line of a block of any kind that runs foley. */
export function foleyLines({ text }: Page): string[] {
  return [...text.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    commandLines(block).filter((line) => /(?:^|\| *)(?:\w+=\S+ )*foley /.test(line)),
  );
}

/** Paths in the repository that a page links to. */
export function linkedPaths({ name, text }: Page): string[] {
  return [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, target = '']) =>
    path.resolve(ROOT, path.dirname(name), target),
  );
}

export function commandLines(block: string): string[] {
  return block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
