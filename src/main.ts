import { tree } from '../commands/tree.ts';
import { version } from '../package.json';
import { findHome, resolvePaths } from './config/paths.ts';
import { COLOR_CHOICES } from './cli/render/style.ts';
import type { ServiceConnection, Context, MainDeps } from './cli/command.ts';
import type { GlobalOptions } from './cli/flags/global.ts';
import { findInvocation, parseBranch, parseCommand, parseRoot } from './cli/program.ts';
import type { Io } from './cli/io.ts';
import type { JqFilter } from './cli/jq.ts';
import {
  createIo,
  prepareOutputs,
  BrokenPipe,
  write,
  isRegularFile,
  redirectedFile,
  wasClosed,
} from './cli/io.ts';
import type { Parsed, Shown } from './cli/program.ts';
import { renderError, toFailure, render } from './cli/render/result.ts';
import type { CommandResult } from './cli/render/result.ts';
import type { StopSignal } from './cli/signals.ts';
import { endWithSignal, Interrupted, watchSignals } from './cli/signals.ts';
import type { ExitCode } from './contract/exit-codes.ts';
import { EXIT_CODES } from './contract/exit-codes.ts';
import { configFailure, Failure, usageFailure } from './errors/failure.ts';
import { toJson } from './text/display.ts';
import { reasonOf } from './durable/file-failures.ts';
import { system } from './system/system.ts';

/** How a run of the program ends: with an exit code, or with a signal. */
export type ProgramEnding = { readonly code: ExitCode } | { readonly signal: StopSignal };

interface Work extends Parsed {
  readonly perform: (context: Context) => Promise<CommandResult>;
}

/** Runs the program: parses the arguments, runs a command and renders the result or failure. Never ends the process. */
export async function main(argv: readonly string[], deps: MainDeps): Promise<ProgramEnding> {
  prepareOutputs(deps.streams);
  let globals = presumedGlobals(argv);
  try {
    const work = await parse(argv);
    if (work.kind !== 'run') return await show(work, globals.json === true, deps);
    globals = work.globals;
    return await perform(work, deps);
  } catch (error) {
    return await conclude(error, globals, deps);
  }
}

/** Reports an uncaught error as a bug of foley. */
export function reportBug(
  error: unknown,
  argv: readonly string[],
  deps: MainDeps,
): Promise<ProgramEnding> {
  return conclude(error, presumedGlobals(argv), deps);
}

async function parse(argv: readonly string[]): Promise<Work | Shown> {
  const invocation = findInvocation(argv, tree);
  if (invocation.kind === 'root') return parseRoot(tree, invocation.words);
  if (invocation.kind === 'branch') return parseBranch(invocation.branch, invocation.words);
  const definition = await invocation.leaf.load();
  const parsed = parseCommand(invocation.path, definition, invocation.words);
  if (parsed.kind !== 'run') return parsed;
  return { ...parsed, perform: (context) => definition.run(context, parsed) };
}

async function show(shown: Shown, isJson: boolean, { streams }: MainDeps): Promise<ProgramEnding> {
  let text: string;
  if (shown.kind === 'version') text = versionText(shown.json);
  else if (!isJson) ({ text } = shown);
  else {
    const { describeHelp } = await import('./cli/described-command.ts');
    text = `${toJson(await describeHelp(shown.path), streams.stdout.isTTY === true)}\n`;
  }
  await write(streams.stdout, text);
  return { code: EXIT_CODES.ok.code };
}

function versionText(json: boolean): string {
  return json ? `${JSON.stringify({ version })}\n` : `foley ${version}\n`;
}

function refuseDebugOutput({ NODE_DEBUG: parts = '' }: MainDeps['env']): void {
  const pattern = parts
    .replaceAll(/[|\\{}()[\]^$+?.]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll(',', '|');
  const printed = new RegExp(`^(?:${pattern})$`, 'i');
  if (parts === '' || (!printed.test('http') && !printed.test('undici'))) return;
  throw configFailure(
    `NODE_DEBUG=${parts} would print the API key or signed links with every request`,
    'Unset NODE_DEBUG. --verbose prints each request without secrets.',
  );
}

async function perform(work: Work, deps: MainDeps): Promise<ProgramEnding> {
  refuseDebugOutput(deps.env);
  const io = await createIo({ streams: deps.streams, env: deps.env, globals: work.globals });
  const watch = watchSignals(deps.signals, (signal) => {
    if (io.paging.isActive && signal === 'SIGINT') return;
    for (const cleanUp of io.cleanups) cleanUp();
    deps.leaveAtOnce(signal);
  });
  const context = createContext(deps, work.globals, io, watch.signal);
  try {
    const ending = await performIn(context, work, deps);
    const wasStopped = watch.signal.aborted;
    await context.close();
    if (!wasStopped) watch.signal.throwIfAborted();
    return ending;
  } finally {
    watch.stop();
  }
}

async function performIn(context: Context, work: Work, deps: MainDeps): Promise<ProgramEnding> {
  const { globals } = work;
  let filter: JqFilter | undefined;
  try {
    if (globals.jq !== undefined) {
      const { openFilter } = await import('./cli/jq.ts');
      filter = await openFilter(globals.jq, context.signal);
    }
    const result = await work.perform(context);
    await render(result, context, filter);
    if (result.notice !== undefined) context.io.notice(result.notice);
    if (result.seen !== undefined) {
      const { rememberNames } = await import('./cli/known-names.ts');
      await rememberNames(context.system, (await context.paths()).cache, result.seen);
    }
    if (result.failure !== undefined) return report(result.failure, context.io, globals);
    return { code: EXIT_CODES[result.exit ?? 'ok'].code };
  } catch (error) {
    const { suggestNames } = await import('./cli/suggest-names.ts');
    return conclude(await suggestNames(error, work.options, context), globals, deps);
  } finally {
    await filter?.close();
  }
}

async function conclude(
  error: unknown,
  globals: GlobalOptions,
  deps: MainDeps,
): Promise<ProgramEnding> {
  if (error instanceof BrokenPipe) return { code: EXIT_CODES.ok.code };
  const io = await createIo({ streams: deps.streams, env: deps.env, globals });
  if (error instanceof Interrupted) return { signal: error.stopSignal };
  return report(toFailure(error), io, globals);
}

function report(failure: Failure, io: Io, { jq, json, verbose }: GlobalOptions): ProgramEnding {
  const isJson = json === true && jq === undefined;
  renderError(failure, io, { json: isJson, verbose: verbose === true });
  return { code: failure.exitCode };
}

function presumedGlobals(argv: readonly string[]): GlobalOptions {
  const end = argv.indexOf('--');
  const flags = end === -1 ? argv : argv.slice(0, end);
  const asksForJson = flags.includes('--json');
  const [, color = 'auto'] =
    /(?:^|\0)--color[=\0](always|never)(?:\0|$)/.exec(flags.join('\0')) ?? [];
  return {
    progress: false,
    pager: false,
    color: COLOR_CHOICES.find((choice) => choice === color) ?? 'auto',
    input: false,
    ...(asksForJson ? { json: true } : {}),
  };
}

/**
 * Runs the built program with the system's streams, files and clock. Normally sets only the exit code instead of
 * calling `process.exit`, so that pending output is still written. After a stop signal such as SIGINT, sends the signal
 * to its own process, so that the calling shell sees the signal.
 */
export function run(host: NodeJS.Process): void {
  const argv = host.argv.slice(2);
  const deps = systemDeps(host);
  let isOver = false;
  const end = (ending: ProgramEnding): void => {
    isOver = true;
    if ('code' in ending) host.exitCode = ending.code;
    else endWithSignal(host, ending.signal);
  };
  const crash = async (error: unknown): Promise<void> => end(await reportBug(error, argv, deps));
  host.once('uncaughtException', (bug) => void crash(bug).finally(() => host.exit()));
  // Nothing is left to do, but the command has not ended: Node would exit silently.
  host.once('beforeExit', () => {
    if (!isOver) void crash(new Error('the command stopped before it finished'));
  });
  const isPlugAndPlay = host.versions['pnp'] !== undefined;
  void (isPlugAndPlay ? reportBug(plugAndPlayFailure(), argv, deps) : main(argv, deps)).then(end);
}

// Yarn's files are in archives, and its file functions cannot flush a file to the disk, which the journal needs.
function plugAndPlayFailure(): Failure {
  return new Failure("foley does not run under Yarn Plug'n'Play", {
    code: 'state',
    exit: 'state',
    hint:
      'Add `nodeLinker: node-modules` to .yarnrc.yml and run `yarn install`. ' +
      'If foley is not a package of this project, unset NODE_OPTIONS.',
  });
}

function systemDeps(host: NodeJS.Process): MainDeps {
  return {
    env: host.env,
    cwd: () => currentFolder(host),
    homeDirectory: findHome(),
    streams: {
      stdin: () => host.stdin,
      stdout: host.stdout,
      stderr: host.stderr,
      stdoutIsClosed: () => wasClosed(1),
      stdoutIsFile: () => isRegularFile(1),
      stdoutFile: () => redirectedFile(1),
    },
    signals: host,
    system,
    // `exit` would wait for pending system calls.
    leaveAtOnce: (signal) => endWithSignal(host, signal),
  };
}

function currentFolder(host: NodeJS.Process): string {
  try {
    return host.cwd();
  } catch (error) {
    throw usageFailure(
      reasonOf(error, '.'),
      'Change to another folder, for example with `cd ~`, and run the command again.',
    );
  }
}

/** Creates the context in which a command runs: its settings, files, output, and connection to the service. */
export function createContext(
  deps: MainDeps,
  globals: GlobalOptions,
  io: Io,
  signal: AbortSignal,
): Context {
  const { files, platform } = deps.system;
  const { cwd, env, homeDirectory } = deps;
  const paths = once(async () => resolvePaths({ env, homeDirectory, platform }));
  const settings = once(async () => {
    const [{ loadSettings }, { abortable }] = await Promise.all([
      import('./config/settings.ts'),
      import('./system/concurrency.ts'),
    ]);
    const { settingsFile } = await paths();
    // A network folder might not respond.
    return abortable(loadSettings({ files, env, cwd: cwd(), settingsFile }), signal);
  });
  let connection: Promise<ServiceConnection> | undefined;
  const context: Context = {
    system: deps.system,
    cwd,
    env,
    globals,
    homeDirectory,
    io,
    signal,
    paths,
    settings,
    connect: (options = {}) =>
      (connection ??= import('./cli/connect.ts').then(({ connect }) => connect(context, options))),
    emit: (result) => render(result, context),
    close: async () => {
      // The command has reported a failed connection.
      const open = await connection?.catch(() => undefined);
      await open?.close();
    },
  };
  return context;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
