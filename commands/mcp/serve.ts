import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ServerContext } from '@modelcontextprotocol/server';
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { execa } from 'execa';
import { version } from '../../package.json';
import type { Clock } from '../../src/system/clock.ts';
import { Failure, usageFailure } from '../../src/errors/failure.ts';
import { counted, toJson } from '../../src/text/display.ts';
import type { CommandOutput, ToolArguments, ToolCommand, ToolPlace } from './call-tool.ts';
import { parseLines, toolCommand, toolResult } from './call-tool.ts';
import type { Tool } from './tools.ts';
import { inputSchema, outputSchema, TOOLS } from './tools.ts';
import type { OutputSchemas } from '../../src/cli/output-schema.ts';
import { errorDocument } from '../../src/cli/render/result.ts';

export interface McpOptions extends ToolPlace {
  /** Maximum number of credits that all calls together may cost; undefined for no limit. */
  readonly maxCredits: number | undefined;
  /** Credits per character for the estimates; undefined to use earlier charges. */
  readonly creditRate: number | undefined;
  /** Global flags for every command, such as `--account`. */
  readonly globalFlags: readonly string[];
  readonly schemas: OutputSchemas;
  readonly clock: Clock;
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Called with a sentence about a problem that no call can report. */
  readonly warn: (sentence: string) => void;
  /** Stops the server. */
  readonly signal: AbortSignal;
}

/** Serves the tools over the Model Context Protocol on stdin and stdout. Resolves when the client closes stdin. */
export async function serveMcp(options: McpOptions): Promise<void> {
  const { signal, stdin, stdout, warn } = options;
  const session = new ToolSession(options);
  const ended = once(stdin, 'close', { signal }).catch(() => {});
  stdin.once('end', () => stdin.destroy());
  const handle = serveStdio(() => session.server(), {
    transport: new StdioServerTransport(stdin, stdout),
    onerror: ({ message }) => warn(`foley: ${message}`),
  });
  await ended;
  await session.stop();
  await handle.close();
}

const PROGRAM = fileURLToPath(new URL('../../bin/foley.cjs', import.meta.url));
/** Commands that run at the same time. */
const MOST_COMMANDS = 8;
const PROGRESS_MS = 1_000;
// After Ctrl-C, a command saves what was paid for.
const GRACE_MS = 15_000;

// Without a check: the SDK would turn a result that does not match into an error of the call, and an agent might then pay
// for the same again. The tests check the results instead.
function resultSchema(tool: Tool, options: McpOptions) {
  const standard = fromJsonSchema(outputSchema(tool, options))['~standard'];
  return { '~standard': { ...standard, validate: (value: unknown) => ({ value }) } };
}

class ToolSession {
  readonly #options: McpOptions;
  readonly #stopped = new AbortController();
  #spent = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  // With a budget, paid calls run one after the other, so that each knows what is left.
  #paid: Promise<unknown> = Promise.resolve();
  readonly #calls = new Set<Promise<unknown>>();

  constructor(options: McpOptions) {
    this.#options = options;
  }

  server(): McpServer {
    const server = new McpServer({ name: 'foley', version });
    for (const tool of TOOLS) {
      const { description, isPaid = false, name, title } = tool;
      const schema = fromJsonSchema<ToolArguments>(inputSchema(tool, this.#options.tree));
      const annotations = { readOnlyHint: !isPaid && name !== 'recover', openWorldHint: isPaid };
      server.registerTool(
        name,
        {
          title,
          description,
          inputSchema: schema,
          outputSchema: resultSchema(tool, this.#options),
          annotations,
        },
        (given, context) => {
          const call = this.#call(tool, given, context).catch(failedCall);
          this.#calls.add(call);
          return call.finally(() => this.#calls.delete(call));
        },
      );
    }
    return server;
  }

  /** Stops all commands, and resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#calls);
  }

  async #call(tool: Tool, given: ToolArguments, context: ServerContext) {
    const command = await toolCommand(tool, given, this.#options);
    if (!command.isPaid || this.#options.maxCredits === undefined) {
      return this.#perform(command, context, []);
    }
    const call = this.#paid.then(() => this.#performWithin(command, context));
    this.#paid = call.catch(() => {});
    return call;
  }

  async #performWithin(command: ToolCommand, context: ServerContext) {
    const { creditRate, maxCredits = Infinity } = this.#options;
    const left = maxCredits - this.#spent;
    if (left <= 0) {
      throw usageFailure(
        `the budget of this server is spent: ${counted(maxCredits, 'credit')}`,
        'Start it again with a larger --max-credits.',
      );
    }
    const rate = creditRate === undefined ? [] : [`--credit-rate=${creditRate}`];
    const result = await this.#perform(command, context, [`--max-credits=${left}`, ...rate]);
    this.#spent += costOf(result.structuredContent, left);
    return result;
  }

  async #perform(command: ToolCommand, context: ServerContext, budget: readonly string[]) {
    const output = await this.#inTurn(command, context, budget);
    return toolResult(output, command.outputs, this.#options);
  }

  async #inTurn(
    command: ToolCommand,
    context: ServerContext,
    budget: readonly string[],
  ): Promise<CommandOutput> {
    if (this.#running >= MOST_COMMANDS) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running += 1;
    try {
      return await this.#run(command, context, budget);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  // A cancelled command gets the signal of Ctrl-C: it leaves no file half written, and records what is paid for.
  async #run(
    { args, path, stdin, tellsLines }: ToolCommand,
    context: ServerContext,
    budget: readonly string[],
  ): Promise<CommandOutput> {
    const { clock, folder, globalFlags } = this.#options;
    const words = [...path, ...globalFlags, '--json', '--quiet', ...budget, ...args];
    const signal = AbortSignal.any([context.mcpReq.signal, this.#stopped.signal]);
    signal.throwIfAborted();
    const child = execa(process.execPath, [PROGRAM, ...words], {
      cwd: folder,
      env: { NO_COLOR: '1' },
      input: stdin ?? '',
      reject: false,
      stripFinalNewline: false,
    });
    const progress = this.#reportProgress(child.stdout, context, tellsLines);
    let cancelKill: (() => void) | undefined;
    const stop = (): void => {
      child.kill('SIGINT');
      cancelKill = clock.after(GRACE_MS, () => child.kill('SIGKILL'));
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      const { exitCode = 1, stderr, stdout } = await child;
      return { exitCode, stderr, stdout };
    } finally {
      progress.stop();
      cancelKill?.();
      signal.removeEventListener('abort', stop);
    }
  }

  // Reports finished lines of a script, and otherwise the seconds since the call began. The protocol requires that each
  // number is larger than the one before it, so a call never changes from seconds to lines.
  #reportProgress(
    stdout: Readable,
    { mcpReq }: ServerContext,
    tellsLines: boolean,
  ): { readonly stop: () => void } {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined) return { stop: () => {} };
    const { clock } = this.#options;
    const started = clock.now();
    let [done, total, reported] = [0, 0, -1];
    let cancel: (() => void) | undefined;
    const report = (): void => {
      cancel?.();
      cancel = clock.after(PROGRESS_MS, report);
      const progress = tellsLines ? done : Math.round((clock.now() - started) / 1000);
      if (progress <= reported || (tellsLines && total === 0)) return;
      reported = progress;
      const params = tellsLines
        ? { progress, total, message: `${done} of ${total} lines` }
        : { progress, message: `${progress} s` };
      void mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken, ...params } })
        .catch(() => {});
    };
    let incomplete = '';
    stdout.on('data', (chunk: Buffer | string) => {
      const lines = `${incomplete}${String(chunk)}`.split('\n');
      incomplete = lines.pop() ?? '';
      for (const { event, items } of parseLines(lines.join('\n'))) {
        if (event === 'plan' && typeof items === 'number') {
          total = items;
          report();
        }
        if (event === 'item') done += 1;
      }
    });
    cancel = clock.after(PROGRESS_MS, report);
    return { stop: () => cancel?.() };
  }
}

// What is unknown counts as all that the command was allowed to cost.
function costOf(
  { creditsUsed, error }: { readonly creditsUsed?: unknown; readonly error?: unknown },
  allowed: number,
): number {
  if (typeof creditsUsed === 'number') return creditsUsed;
  const isFree =
    typeof error === 'object' && error !== null && 'billed' in error && error.billed === 'no';
  return isFree ? 0 : allowed;
}

function failedCall(error: unknown) {
  if (!(error instanceof Failure)) throw error;
  const structuredContent = { ...errorDocument(error), exitCode: error.exitCode };
  const content = [{ type: 'text' as const, text: toJson(structuredContent) }];
  return { structuredContent, content, isError: true };
}
