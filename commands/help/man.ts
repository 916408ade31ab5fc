import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { closest } from '../../src/text/did-you-mean.ts';

const FOLDER = fileURLToPath(new URL('../../man/', import.meta.url));
const COLUMNS = 80;

export interface ManualDocument {
  /** Path of the manual page. */
  readonly page: string;
  readonly text: string;
}

/** `foley help --man [COMMAND]`, for installations without `man foley`: npm 12 links no manual pages. */
export const definition: CommandDefinition<object, ManualDocument> = {
  configure(command) {
    command
      .description(
        'Shows the manual page of foley, or of a command, with the program `man`. `foley help --man` does the same.',
      )
      .argument('[command]', 'a command, such as `tts`')
      .addHelpText('after', '\nExamples:\n  foley help --man\n  foley help --man tts');
  },
  async run(context, { args: [command] }) {
    const page = path.join(FOLDER, await findPage(command));
    const text = await formatPage(page, context);
    return { data: { page, text }, human: () => text };
  },
};

async function findPage(command: string | undefined): Promise<string> {
  const pages = await readdir(FOLDER);
  const page = command === undefined ? 'foley.1' : `foley-${command}.1`;
  if (pages.includes(page)) return page;
  const commands = pages.flatMap((name) => /^foley-(.+)\.1$/.exec(name)?.[1] ?? []);
  const [nearest] = closest(command ?? '', commands, 1);
  const hint =
    nearest === undefined
      ? `Commands: ${commands.join(', ')}.`
      : `Did you mean \`foley help --man ${nearest}\`?`;
  throw usageFailure(`no manual page for "${command}"`, hint);
}

async function formatPage(page: string, context: Context): Promise<string> {
  const { platform } = context.system;
  const { env, io, signal } = context;
  const [{ execa }, { findProgram }] = await Promise.all([
    import('execa'),
    import('../../src/speech/play.ts'),
  ]);
  const program = await findProgram(context.system, 'man', env);
  if (program === undefined) {
    const name = path.basename(page, '.1').replace('-', ' ');
    throw usageFailure(
      platform === 'win32' ? 'Windows has no manual pages' : 'the program `man` is not installed',
      `\`${name} --help\` shows the same flags. The manual page is ${page}.`,
    );
  }
  const columns = Math.min(io.out.columns, COLUMNS);
  const { stdout } = await execa(program, [page], {
    cancelSignal: signal,
    // The key is hidden from other programs. `cat`: foley starts the pager.
    env: { FOLEY_API_KEY: undefined, MANPAGER: 'cat', PAGER: 'cat', MANWIDTH: `${columns}` },
  });
  return `${stdout}\n`;
}
