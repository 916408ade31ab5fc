import { readFile } from 'node:fs/promises';
import type { CommandDefinition } from '../../src/cli/command.ts';

const FILE = new URL('../../skills/foley/SKILL.md', import.meta.url);

export interface SkillDocument {
  /** Markdown with a name and a description as front matter. */
  readonly text: string;
}

/** `foley help skill` */
export const definition: CommandDefinition<object, SkillDocument> = {
  configure(command) {
    command
      .description(
        'Prints a skill for AI agents: a SKILL.md that explains how to use foley. The file is skills/foley/SKILL.md ' +
          'of the npm package.',
      )
      .addHelpText(
        'after',
        '\nExamples:\n  $ mkdir -p skills/foley && foley help skill > skills/foley/SKILL.md',
      );
  },
  async run() {
    const text = await readFile(FILE, 'utf8');
    return { data: { text }, human: () => text };
  },
};
