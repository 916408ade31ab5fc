import { version } from '../../package.json';
import type { DescribedTree } from './described-command.ts';
import { manPages, referencePage } from './manual/manual.ts';

/** Every file that is written from the command tree, by its path in the repository. */
export function writtenFromTree(tree: DescribedTree): Map<string, string> {
  const pages = [...manPages(tree, version)];
  return new Map([
    ...pages.map(([name, page]) => [`man/${name}`, page] as const),
    ['docs/reference.md', referencePage(tree)],
  ]);
}
