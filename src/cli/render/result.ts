import type { WireRequest } from '../../api/request.ts';
import type { ExitName } from '../../contract/exit-codes.ts';
import { counted, display, toJson } from '../../text/display.ts';
import type { Io } from '../io.ts';
import type { SeenNames } from '../known-names.ts';
import type { TerminalStyle } from './style.ts';
import { createRedactor } from '../../api/redact.ts';
import { Failure } from '../../errors/failure.ts';
import { isAbsolute, delimiter } from 'node:path';

/**
 * What a command gives back. One renderer turns it into text for a person or into JSON; a command
 * never prints.
 */
export interface CommandResult {
  /** The document of `--json`. `undefined` when stdout already carried the result (audio). */
  readonly data?: unknown;
  /** The text for stdout without `--json`; without it stdout stays empty. */
  readonly human?: (style: TerminalStyle) => string;
  /** A sentence for stderr, told after it; `--quiet` silences it. */
  readonly notice?: string;
  /** How the process ends when not with 0, such as `partial`. */
  readonly exit?: ExitName;
  /** What went wrong although there is a result; it is told after it, and decides how the process ends. */
  readonly failure?: Failure;
  /** Names that the service told, kept for the completion of shells. */
  readonly seen?: SeenNames;
}

/** Writes a command's result to stdout: one JSON document, or text for a person. */
export async function render(result: CommandResult, io: Io, json: boolean): Promise<void> {
  if (json) {
    if (result.data !== undefined) {
      await io.writeOut(`${toJson(result.data, io.stdoutIsTerminal)}\n`);
    }
    return;
  }
  const text = result.human?.(io.out);
  if (text === undefined || text === '') return;
  const lines = text.endsWith('\n') ? text : `${text}\n`;
  if (isLongerThan(io.pageLines, lines)) {
    if (await page(lines, io)) return;
  }
  await io.writeOut(lines);
}

function isLongerThan(count: number, text: string): boolean {
  return count !== Infinity && text.split('\n').length - 1 > count;
}

const LONGEST_LINE = 2_000;

/** Converts any thrown value to a failure. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Failure(`internal error: ${withoutSecrets(message)}`, {
    code: 'internal',
    exit: 'internal',
    hint: 'This is a bug in foley. Please report it with the output of the same command and --verbose.',
    billed: 'unknown',
    cause: error,
  });
}

/** Prints the error and its hint on stderr. */
export function renderError(
  failure: Failure,
  io: Io,
  options: { json: boolean; verbose: boolean },
): void {
  if (options.json) {
    io.complain(errorLine(failure));
    return;
  }
  const { paint } = io.err;
  const facts = [
    failure.status === undefined ? undefined : failure.code,
    failure.requestId === undefined ? undefined : `request ${failure.requestId}`,
  ].filter((fact) => fact !== undefined);
  const suffix = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  const line = display(failure.message + suffix, { max: LONGEST_LINE });
  io.explain(`${paint.red('foley:')} ${line}`);
  if (failure.hint !== undefined) io.explain(display(failure.hint, { max: LONGEST_LINE }));
  if (options.verbose && failure.exit === 'internal') complainStack(failure, io);
}

/** The last line of stderr with `--json`. */
function errorLine(failure: Failure): string {
  return toJson({
    error: {
      code: failure.code,
      message: failure.message,
      exitCode: failure.exitCode,
      status: failure.status ?? null,
      requestId: failure.requestId ?? null,
      hint: failure.hint ?? null,
      billed: failure.billed,
      retryAfter: failure.retryAfter ?? null,
      details: failure.details ?? null,
    },
  });
}

function complainStack(failure: Failure, io: Io): void {
  const { cause } = failure;
  const stack = cause instanceof Error ? cause.stack : undefined;
  for (const line of withoutSecrets(stack ?? '').split('\n')) io.complain(display(line));
}

/** Libraries put headers and addresses into what they throw. */
function withoutSecrets(text: string): string {
  return createRedactor([]).text(text);
}

/** As `git` and `gh` start less: quit when all fits, keep colors, leave the text on the screen. */
const USUAL = 'less';
const LESS_FLAGS = 'FRX';

/**
 * Shows a text that is longer than the screen through the pager of FOLEY_PAGER or PAGER, and waits until it is
 * closed.
 * @returns false when there is no pager, so that the text has to be written as it is
 * @throws Failure (usage) when the variable has a quote that is not closed
 */
export async function page(text: string, { env }: Pick<Io, 'env'>): Promise<boolean> {
  const { splitWords } = await import('../../speech/play.ts');
  const [command, ...args] = splitWords(env['FOLEY_PAGER'] ?? env['PAGER'] ?? USUAL, 'the pager');
  if (command === undefined || command === 'cat') return false;
  const { execa } = await import('execa');
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const ended = await execa(command, args, {
    input: text,
    stdout: 'inherit',
    stderr: 'inherit',
    // The key is not for other programs, and the current folder is none to look for them in.
    env: {
      FOLEY_API_KEY: undefined,
      PATH: folders.join(delimiter),
      LESS: env['LESS'] ?? LESS_FLAGS,
      LV: env['LV'] ?? '-c',
    },
    reject: false,
  });
  // One that ended by itself has shown what its reader wanted to see.
  return ended.exitCode !== undefined && ended.exitCode !== 127;
}

/** Returns the requests of `--dry-run`, with the key masked: one, or those of the parts of a text. */
export function dryRunResult(requests: WireRequest | readonly WireRequest[]): CommandResult {
  const data =
    'url' in requests
      ? requestDocument(requests)
      : { parts: requests.map((request) => requestDocument(request)) };
  return { data, human: () => toJson(data, true) };
}

function requestDocument({ body, headers, method, url }: WireRequest): object {
  return {
    method,
    url: url.href,
    headers,
    body: body === undefined ? null : (JSON.parse(Buffer.from(body).toString('utf8')) as unknown),
  };
}

/** What a request cost, as far as the response reports it. */
interface Cost {
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  readonly ignoredParameters?: readonly string[] | undefined;
}

/** Adds the cost to the description of a result. */
export function describeCost(
  result: string,
  { creditsUsed, ignoredParameters = [], quotaRemaining }: Cost,
): string {
  return [
    result,
    creditsUsed === undefined ? undefined : `${counted(creditsUsed, 'credit')} used`,
    quotaRemaining === undefined ? undefined : `quota left: ${quotaRemaining}`,
    ignoredParameters.length === 0
      ? undefined
      : `not applied by this model: ${ignoredParameters.join(', ')}`,
  ]
    .filter((part) => part !== undefined)
    .join('; ');
}
