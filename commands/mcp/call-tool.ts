import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DescribedCommand, DescribedTree } from '../../src/cli/described-command.ts';
import { hasErrno } from '../../src/durable/file-failures.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { toJson } from '../../src/text/display.ts';
import type { Tool } from './tools.ts';
import { commandsOf, flagOf, OUTPUTS, propertyOf } from './tools.ts';

/** A command line of foley for a call of a tool. */
export interface ToolCommand {
  readonly path: readonly string[];
  readonly args: readonly string[];
  /** Whether the command may cost credits. */
  readonly isPaid: boolean;
  /** Whether the command tells how many lines it will speak, and each that is done. */
  readonly tellsLines: boolean;
  /** Text for stdin; undefined if the command reads none. */
  readonly stdin: string | undefined;
  /** The files that the command is told to write. */
  readonly outputs: readonly string[];
}

export interface ToolPlace {
  readonly tree: DescribedTree;
  /** The folder that all files of calls are in, without symbolic links. */
  readonly folder: string;
  readonly mayOverwrite: boolean;
  readonly files: FileSystem;
}

/** The arguments of a call, which match the schema of the tool. */
export interface ToolArguments {
  readonly action?: string;
  readonly audio?: string;
  readonly file?: string;
  readonly id?: string;
  readonly text?: string;
  readonly [flag: string]: string | number | boolean | readonly string[] | undefined;
}

/**
 * Returns the command line for a call.
 * @throws Failure of kind `usage` for a file outside the folder, an existing output, or arguments that do not fit together
 */
export async function toolCommand(
  tool: Tool,
  given: ToolArguments,
  place: ToolPlace,
): Promise<ToolCommand> {
  const command = commandFor(tool, given, place.tree);
  const args: string[] = [];
  const outputs: string[] = [];
  for (const name of tool.flags) {
    const value = given[propertyOf(name)];
    if (value === undefined || value === false) continue;
    const flag = flagOf(command, name);
    if (flag === undefined) {
      throw usageFailure(`${propertyOf(name)} does not work with the action ${command.path[1]}`);
    }
    for (const one of Array.isArray(value) ? value : [value]) {
      if (flag.value === undefined) args.push(flag.long);
      else if (isFile(command, name)) {
        const file = await fileWithin(String(one), propertyOf(name), place);
        if (OUTPUTS.has(name)) outputs.push(file);
        args.push(`${flag.long}=${file}`);
      } else args.push(`${flag.long}=${String(one)}`);
    }
  }
  if (!place.mayOverwrite) await refuseExisting(outputs, place);
  const { args: argument, stdin } = await argumentOf(tool, given, place);
  const isPaid = flagOf(command, 'max-credits') !== undefined;
  const { tellsLines = false } = tool;
  return { path: command.path, args: [...args, ...argument], isPaid, tellsLines, stdin, outputs };
}

function commandFor(tool: Tool, { action }: ToolArguments, tree: DescribedTree): DescribedCommand {
  const commands = commandsOf(tool, tree);
  const found = commands.find(({ path: [, verb] }) => action === undefined || verb === action);
  if (found === undefined) throw new Error(`The tool ${tool.name} has no action ${action ?? ''}.`);
  return found;
}

function isFile(command: DescribedCommand, name: string): boolean {
  const source = flagOf(command, name)?.source;
  return source === 'files' || source === 'folders';
}

async function argumentOf(
  { argument, command }: Tool,
  given: ToolArguments,
  place: ToolPlace,
): Promise<Pick<ToolCommand, 'args' | 'stdin'>> {
  const { action, file, id, text } = given;
  if ('actions' in command && action !== 'create') {
    if (text !== undefined) throw usageFailure(`text works with the action create only`);
    if (action === 'list') return { args: [], stdin: undefined };
    if (id === undefined) throw usageFailure(`the action ${action ?? ''} requires id`);
    return { args: ['--', id], stdin: undefined };
  }
  if (argument === 'text') {
    if ((text === undefined) === (file === undefined)) {
      throw usageFailure('give text or file, and not both');
    }
    return text === undefined
      ? { args: [], stdin: undefined }
      : { args: ['--file=-'], stdin: text };
  }
  const value = argument === undefined ? undefined : given[argument];
  if (argument === undefined || value === undefined) return { args: [], stdin: undefined };
  const named = argument === 'id' ? value : await fileWithin(value, argument, place);
  return { args: ['--', named], stdin: undefined };
}

/**
 * Returns the path of a file in the folder, which may not exist yet. Follows symbolic links.
 * @throws Failure of kind `usage` for a file outside the folder
 */
async function fileWithin(
  given: string,
  property: string,
  { files, folder }: ToolPlace,
): Promise<string> {
  const wanted = path.resolve(folder, given);
  const missing: string[] = [];
  let existing = wanted;
  for (;;) {
    const real = await files.realpath(existing).catch((error: unknown) => {
      if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
      throw usageFailure(`${property} is "${given}", which cannot be opened`);
    });
    // A link to a file that does not exist would be followed when the file is written.
    const isLink = real === undefined && (await isSymbolicLink(existing, files));
    if (real !== undefined || isLink || path.dirname(existing) === existing) {
      const file = path.join(real ?? existing, ...missing);
      if (!isLink && (file === folder || file.startsWith(folder + path.sep))) return file;
      throw usageFailure(
        `${property} is "${given}", which is outside the folder of this server`,
        'Name a file in the folder that --dir sets.',
      );
    }
    missing.unshift(path.basename(existing));
    existing = path.dirname(existing);
  }
}

async function isSymbolicLink(file: string, files: FileSystem): Promise<boolean> {
  const stats = await files.lstat(file).catch(() => undefined);
  return stats?.isSymbolicLink() === true;
}

async function refuseExisting(outputs: readonly string[], { files }: ToolPlace): Promise<void> {
  for (const output of outputs) {
    const stats = await files.lstat(output).catch(() => undefined);
    if (stats === undefined) continue;
    throw usageFailure(
      `${path.basename(output)} exists, and this server overwrites no files`,
      'Choose another name, or start the server with --allow-overwrite.',
    );
  }
}

/** What a command of foley printed. */
export interface CommandOutput {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns the result of a call: the JSON that the command printed, and links to the files that it wrote. */
export async function toolResult(
  { exitCode, stdout, stderr }: CommandOutput,
  outputs: readonly string[],
  { files, folder }: ToolPlace,
) {
  const written: string[] = [];
  for (const output of outputs) {
    if ((await files.lstat(output).catch(() => undefined)) !== undefined) written.push(output);
  }
  const printed = parseLines(stdout);
  const { error } = parseLines(stderr).at(-1) ?? {};
  const items = printed.filter(({ event }) => event === 'item');
  const others = printed.filter((one) => !items.includes(one));
  const { event: _, ...all } = Object.assign({}, ...others);
  const structured: Readonly<Record<string, unknown>> = {
    ...all,
    ...(items.length === 0 ? {} : { items }),
    ...(written.length === 0 ? {} : { files: written.map((file) => path.relative(folder, file)) }),
    ...(error === undefined ? {} : { error }),
    exitCode,
  };
  return {
    structuredContent: structured,
    content: [
      { type: 'text' as const, text: toJson(structured) },
      ...written.map((file) => ({
        type: 'resource_link' as const,
        uri: pathToFileURL(file).href,
        name: path.relative(folder, file),
      })),
    ],
    ...(error === undefined ? {} : { isError: true }),
  };
}

/** Returns the JSON objects of lines, without lines that are none. */
export function parseLines(printed: string): readonly Readonly<Record<string, unknown>>[] {
  return printed.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? [{ ...value }]
        : [];
    } catch {
      return [];
    }
  });
}
