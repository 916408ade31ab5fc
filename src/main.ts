import { tree } from '../commands/tree.ts';
import { version } from '../package.json';
import { COLOR_CHOICES } from './cli/color.ts';
import type { Context, MainDeps } from './cli/command.ts';
import { createContext } from './cli/context.ts';
import type { GlobalOptions } from './cli/flags/global.ts';
import { findInvocation } from './cli/invocation.ts';
import type { Io } from './cli/io.ts';
import { createIo, prepareOutputs, ReaderGone, write } from './cli/io.ts';
import type { SeenNames } from './cli/known-names.ts';
import type { Parsed, Shown } from './cli/program.ts';
import { parseBranch, parseCommand, parseRoot } from './cli/program.ts';
import { renderError, toFailure } from './cli/render/error.ts';
import { render } from './cli/render/result.ts';
import type { CommandResult } from './cli/render/result.ts';
import type { StopSignal } from './cli/signals.ts';
import { Interrupted, watchSignals } from './cli/signals.ts';
import type { ExitCode } from './contract/exit-codes.ts';
import { EXIT_CODES } from './contract/exit-codes.ts';
import type { Failure } from './errors/failure.ts';
import { configFailure } from './errors/failure.ts';

/** How a run ends: with an exit code, or by the signal that stopped it. */
export type Ending = { readonly code: ExitCode } | { readonly signal: StopSignal };

interface Work extends Parsed {
  readonly perform: (context: Context) => Promise<CommandResult>;
}

/**
 * The whole program as a function: parses, runs one command, and renders its result or its failure.
 * The only place that catches; it never ends the process.
 */
export async function main(argv: readonly string[], deps: MainDeps): Promise<Ending> {
  prepareOutputs(deps.streams);
  let globals = presumedGlobals(argv);
  try {
    const work = await parse(argv);
    if (work.kind !== 'run') return await show(work, deps);
    globals = work.globals;
    return await perform(work, deps);
  } catch (error) {
    return await conclude(error, globals, deps);
  }
}

/** Tells of an error that got past everything that catches. */
export function tellOfBug(
  error: unknown,
  argv: readonly string[],
  deps: MainDeps,
): Promise<Ending> {
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

async function show(shown: Shown, { streams }: MainDeps): Promise<Ending> {
  await write(streams.stdout, shown.kind === 'help' ? shown.text : versionText(shown.json));
  return { code: EXIT_CODES.ok.code };
}

/**
 * Node prints the headers of every request, the key among them, when NODE_DEBUG names its part `http`; it
 * has read the variable before foley starts.
 * @throws Failure (config)
 */
function refuseDebugOutput({ NODE_DEBUG: parts = '' }: MainDeps['env']): void {
  const pattern = parts
    .replaceAll(/[|\\{}()[\]^$+?.]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll(',', '|');
  if (parts === '' || !new RegExp(`^(?:${pattern})$`, 'i').test('http')) return;
  throw configFailure(
    `NODE_DEBUG is "${parts}": Node would print the API key with every request`,
    'Unset NODE_DEBUG; --verbose prints a line for each request, without secrets.',
  );
}

function versionText(json: boolean): string {
  return json ? `${JSON.stringify({ version })}\n` : `foley ${version}\n`;
}

async function perform(work: Work, deps: MainDeps): Promise<Ending> {
  refuseDebugOutput(deps.env);
  const io = await createIo({ streams: deps.streams, env: deps.env, globals: work.globals });
  const watch = watchSignals(deps.signals, (signal) => {
    for (const cleanUp of io.cleanups) cleanUp();
    deps.leaveAtOnce(signal);
  });
  const context = createContext({ deps, globals: work.globals, io, signal: watch.signal });
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

/** What there is to tell is told before what was started ends: a job that was left behind may take long. */
async function performIn(context: Context, work: Work, deps: MainDeps): Promise<Ending> {
  const { globals } = work;
  try {
    const result = await work.perform(context);
    await render(result, context.io, globals.json === true);
    if (result.notice !== undefined) context.io.notice(result.notice);
    if (result.seen !== undefined) await remember(result.seen, context);
    if (result.failure !== undefined) return tell(result.failure, context.io, globals);
    return { code: EXIT_CODES[result.exit ?? 'ok'].code };
  } catch (error) {
    const { suggestNames } = await import('./cli/suggest-names.ts');
    return conclude(await suggestNames(error, work.options, context), globals, deps);
  }
}

async function remember(seen: SeenNames, context: Context): Promise<void> {
  const { rememberNames } = await import('./cli/known-names.ts');
  await rememberNames(context, (await context.paths()).cache, seen);
}

async function conclude(error: unknown, globals: GlobalOptions, deps: MainDeps): Promise<Ending> {
  if (error instanceof ReaderGone) return { code: EXIT_CODES.ok.code };
  const io = await createIo({ streams: deps.streams, env: deps.env, globals });
  if (error instanceof Interrupted) return { signal: error.stopSignal };
  return tell(toFailure(error), io, globals);
}

function tell(failure: Failure, io: Io, { json, verbose }: GlobalOptions): Ending {
  renderError(failure, io, { json: json === true, verbose: verbose === true });
  return { code: failure.exitCode };
}

/** Until the command line is understood, a complaint about it follows the flags that can be seen. */
function presumedGlobals(argv: readonly string[]): GlobalOptions {
  const end = argv.indexOf('--');
  const flags = end === -1 ? argv : argv.slice(0, end);
  const asksForJson = flags.includes('--json');
  const [, color = 'auto'] =
    /(?:^|\0)--color[=\0](always|never)(?:\0|$)/.exec(flags.join('\0')) ?? [];
  return {
    progress: false,
    color: COLOR_CHOICES.find((choice) => choice === color) ?? 'auto',
    input: false,
    ...(asksForJson ? { json: true } : {}),
  };
}
