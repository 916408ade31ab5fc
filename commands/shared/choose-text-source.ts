import path from 'node:path';
import { usageFailure } from '../../src/errors/failure.ts';
import type { TextSource } from '../../src/speech/text-source.ts';
import { hasTextExtension } from '../../src/text/formats/foreign-formats.ts';
import type { Context } from '../../src/cli/command.ts';
import { canAsk, confirm } from '../../src/cli/prompt.ts';

/**
 * Returns where the text comes from: the arguments, `--file` or stdin. If the only argument is the name of a file, asks
 * on a terminal whether to speak the file. If it looks like the path of a missing file, asks whether to speak the path.
 * Elsewhere the argument is the text, and a notice names `-f`.
 * @throws Failure of kind `usage` if the user does not want to speak the path of a missing file
 */
export async function chooseTextSource(
  context: Context,
  args: readonly string[],
  file: string | undefined,
): Promise<TextSource> {
  const { cwd, files, globals, io } = context;
  const source = { ...io, ...context, args, file };
  const [name = ''] = args;
  if (args.length !== 1 || file !== undefined) return source;
  const isPath = looksLikePath(name);
  if (!isPath && !/^.{1,250}\.\w+$/.test(name)) return source;
  const found = await files.stat(path.resolve(cwd(), name)).catch(() => undefined);
  const asks = globals.input && canAsk(io);
  if (found?.isFile() !== true) {
    if (!isPath) return source;
    const isFolder = found?.isDirectory() === true;
    const problem = isFolder ? `${name} is a folder` : `no such file: ${name}`;
    if (asks && !(await confirm(`${problem}. Speak these words?`, context))) {
      throw usageFailure(problem, isFolder ? FOLDER_HINT : undefined);
    }
    const hint = isFolder ? FOLDER_HINT : `No file has this name.`;
    if (!asks) io.notice(`"${name}" is used as the text. ${hint}`);
    return source;
  }
  if (asks) {
    const isFile = await confirm(`${name} is a file. Use its text?`, context);
    return isFile ? { ...source, args: [], file: name } : source;
  }
  io.notice(`"${name}" is used as the text. For the text of the file ${name}, use -f ${name}.`);
  return source;
}

const FOLDER_HINT = '`foley batch FOLDER` speaks the texts of a folder.';

// Returns true for `./notes`, `texts/`, and for one word with the extension of a text, such as `chapters/one.txt`. The
// first folder has no dot, unlike the host in `example.com/page.html`.
function looksLikePath(name: string): boolean {
  if (name.length > 250 || /\s|:\/\//.test(name)) return false;
  if (/^(?:\.{1,2}|~)[/\\]./.test(name)) return true;
  const endsLikePath =
    /^[^.]+[/\\]$/.test(name) ||
    (hasTextExtension(name) && /^(?:[^./\\]*[/\\]|[^/\\]+$)/.test(name));
  // This pattern comes last, because it takes a third of a millisecond to compile.
  return endsLikePath && /^(?:[a-z]:)?[/\\]?[\p{L}\p{N}_-]/iu.test(name);
}
