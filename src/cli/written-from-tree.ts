import { version } from '../../package.json';
import { completionScripts } from './completion/scripts.ts';
import type { DescribedTree } from './described-command.ts';
import { manPages, referencePage } from './manual/manual.ts';

/** Every file that is written from the command tree, by its path in the repository. */
export function writtenFromTree(
  tree: DescribedTree,
  readTemplate: (name: string) => string,
): Map<string, string> {
  const scripts = [...completionScripts(tree, readTemplate)];
  const pages = [...manPages(tree, version)];
  return new Map([
    ...scripts.map(([name, script]) => [`completions/${name}`, script] as const),
    ...pages.map(([name, page]) => [`man/${name}`, page] as const),
    ['docs/reference.md', referencePage(tree)],
  ]);
}
