import path from 'node:path';
import { usageFailure } from '../../src/errors/failure.ts';
import { quoted } from '../../src/text/display.ts';
import type { TextSource } from '../../src/speech/text-source.ts';
import { hasTextExtension } from '../../src/text/formats/foreign-formats.ts';
import type { Context } from '../../src/cli/command.ts';
import { canAsk, confirm, confirmByDefault } from '../../src/cli/prompt.ts';

/**
 * Returns where the text comes from: the arguments, `--file` or stdin. If the arguments are names of files, or look like
 * the path of a missing file, asks on a terminal before anything is sent. Elsewhere the arguments are the text, and a
 * notice names `-f` or `foley batch`.
 * @throws Failure of kind `usage` if the user does not want to speak a name
 */
export async function chooseTextSource(
  context: Context,
  args: readonly string[],
  file: string | undefined,
): Promise<TextSource> {
  const { globals, io } = context;
  const source = { ...io, system: context.system, signal: context.signal, args, file };
  const [name = ''] = args;
  const isPath = args.length === 1 && looksLikePath(name);
  if (file !== undefined || !(isPath || args.every((each) => FILE_NAME.test(each)))) return source;
  const kinds = new Set(await Promise.all(args.map(async (each) => kindOf(each, context))));
  const kind = kinds.size === 1 ? [...kinds][0] : 'missing';
  const asks = globals.input && canAsk(io);
  if (kind === 'file' && args.length === 1) {
    if (!asks) io.notice(`"${name}" is used as the text. ${fileHint(name)}`);
    return asks && (await wantsFile(name, context)) ? { ...source, args: [], file: name } : source;
  }
  if (kind !== 'file' && !isPath) return source;
  const { hint, problem } = DOUBTS[kind ?? 'missing'](args);
  if (!asks)
    io.notice(`"${args.join(' ')}" is used as the text. ${hint ?? 'No file has this name.'}`);
  else if (!(await confirm(`${problem}. Speak these words?`, context))) {
    throw usageFailure(problem, hint);
  }
  return source;
}

const FILE_NAME = /^.{1,250}\.\w+$/;

type Kind = 'file' | 'folder' | 'missing';

async function kindOf(name: string, { cwd, system: { files } }: Context): Promise<Kind> {
  const found = await files.stat(path.resolve(cwd(), name)).catch(() => undefined);
  if (found?.isFile() === true) return 'file';
  return found?.isDirectory() === true ? 'folder' : 'missing';
}

async function wantsFile(name: string, context: Context): Promise<boolean> {
  const answer = await confirmByDefault(`${name} is a file. Use its text?`, context);
  if (answer === undefined) throw usageFailure(`${name} is a file`, fileHint(name));
  return answer;
}

function fileHint(name: string): string {
  return `For the text of the file ${name}, use -f ${quoted(name)}.`;
}

type Doubt = (names: readonly string[]) => { readonly problem: string; readonly hint?: string };

// Why the arguments are probably not the text to speak.
const DOUBTS: Readonly<Record<Kind, Doubt>> = {
  file: (names) => ({
    problem: `${names.join(' ')} are files`,
    hint: `\`foley batch ${names.map((name) => quoted(name)).join(' ')}\` speaks their texts.`,
  }),
  folder: ([name]) => ({
    problem: `${name} is a folder`,
    hint: '`foley batch FOLDER` speaks the texts of a folder.',
  }),
  missing: ([name]) => ({ problem: `no such file: ${name}` }),
};

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
