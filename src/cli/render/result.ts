import { awaitLateSignal } from '../../system/processes.ts';
import type { WireRequest } from '../../api/request.ts';
import type { ExitCode, ExitName } from '../../contract/exit-codes.ts';
import { counted, display, toJson } from '../../text/display.ts';
import type { ReusedAudio } from '../../api/resources/speech.ts';
import { describeReuse, reuseFields } from '../../paid/reuse/reused.ts';
import type { SettingSources } from '../../config/settings.ts';
import type { GlobalOptions } from '../flags/global.ts';
import type { Io } from '../io.ts';
import type { JqFilter } from '../jq.ts';
import type { SeenNames } from '../known-names.ts';
import type { TerminalStyle } from './style.ts';
import { createRedactor } from '../../api/redact.ts';
import type { Billed, FailureCode } from '../../errors/failure.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import { Failure } from '../../errors/failure.ts';
import { isAbsolute, delimiter } from 'node:path';
import type { System } from '../../system/system.ts';

/** The result of a command, which `render` prints as text or JSON. */
export interface CommandResult<Data = unknown> {
  /**
   * The document that `--json` prints. Undefined if nothing is printed, for example because the audio went to stdout.
   */
  readonly data?: Data;
  /** Formats the result as text for stdout, used without `--json`. */
  readonly human?: (style: TerminalStyle) => string;
  /** A sentence for stderr, printed after the result, except with `--quiet`. */
  readonly notice?: string;
  /** Name of the exit code, such as `partial`; default `ok`. */
  readonly exit?: ExitName;
  /** An error that is printed after the result and sets the exit code. */
  readonly failure?: Failure;
  /** The billing outcome to report if `--jq` fails; default `no`. */
  readonly billed?: Billed;
  /** Names from a response of the service, which foley stores for shell completion. */
  readonly seen?: SeenNames;
}

interface Rendering {
  readonly system: System;
  readonly globals: GlobalOptions;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly settings: () => Promise<SettingSources>;
}

/**
 * Writes a command's result to stdout: one JSON document, or text. Text that is longer than the screen goes through a
 * pager. If the command is aborted, throws the signal's abort reason after the pager ends.
 */
export async function render(
  result: CommandResult,
  context: Rendering,
  filter?: JqFilter,
): Promise<void> {
  const { globals, io } = context;
  if (globals.json === true) {
    const { billed = 'no', data } = result;
    if (data === undefined) return;
    const isTerminal = io.stdoutIsTerminal;
    const json =
      (await filter?.apply(data, { billed, isTerminal })) ?? `${toJson(data, isTerminal)}\n`;
    await io.writeOut(json);
    return;
  }
  const text = result.human?.(io.out);
  if (text === undefined || text === '') return;
  const lines = text.endsWith('\n') ? text : `${text}\n`;
  const isLong = io.pageLines !== Infinity && lines.split('\n').length - 1 > io.pageLines;
  if (!isLong || !(await page(lines, context))) await io.writeOut(lines);
}

const LONGEST_LINE = 2_000;

/** Converts any thrown value to a failure. Errors of other classes become internal errors. */
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

/** Prints an error on stderr: the message and the hint, or one JSON document. */
export function renderError(
  failure: Failure,
  io: Io,
  options: { json: boolean; verbose: boolean },
): void {
  if (options.json) {
    io.complain(toJson(errorDocument(failure)));
    return;
  }
  const { paint } = io.err;
  const ids = [
    failure.status === undefined ? undefined : failure.code,
    failure.requestId === undefined ? undefined : `request ${failure.requestId}`,
  ].filter((id) => id !== undefined);
  const suffix = ids.length === 0 ? '' : ` (${ids.join(', ')})`;
  const line = display(failure.message + suffix, { max: LONGEST_LINE });
  io.explain(`${paint.red('foley:')} ${line}`);
  if (failure.hint !== undefined) io.explain(display(failure.hint, { max: LONGEST_LINE }));
  if (options.verbose && failure.exit === 'internal' && failure.cause instanceof Error) {
    const stack = withoutSecrets(failure.cause.stack ?? '');
    for (const stackLine of stack.split('\n')) io.complain(display(stackLine));
  }
}

/** The last line on stderr of a command that fails with `--json`. */
export interface ErrorDocument {
  readonly error: {
    /** A code of foley, or the code in the response of the service. */
    readonly code: FailureCode | ServiceErrorCode | (string & {});
    readonly message: string;
    readonly exitCode: ExitCode;
    /** HTTP status of the response; null without a response. */
    readonly status: number | null;
    readonly requestId: string | null;
    /** What the user can do. */
    readonly hint: string | null;
    readonly billed: Billed;
    /** Seconds after which the request may be repeated, as the service asks. */
    readonly retryAfter: number | null;
    readonly details: Readonly<Record<string, unknown>> | null;
  };
}

/** Returns an error as `--json` prints it. */
export function errorDocument(failure: Failure): ErrorDocument {
  return {
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
  };
}

// Errors of libraries may contain headers and URLs.
function withoutSecrets(text: string): string {
  return createRedactor([]).text(text);
}

// As `git` and `gh` do: quit if the text fits, keep colors, and leave the text on the screen.
const LESS_FLAGS = 'FRX';

async function page(text: string, context: Rendering): Promise<boolean> {
  const [command, ...args] = await pagerOf(context);
  if (command === undefined || command === 'cat') return false;
  const { env, paging } = context.io;
  const [{ execa }, { findProgram }] = await Promise.all([
    import('execa'),
    import('../../speech/play.ts'),
  ]);
  // On Windows, a name without a folder would first be looked up in the current folder.
  const isWindows = context.system.platform === 'win32';
  const program = isWindows ? await findProgram(context.system, command, env) : command;
  if (program === undefined) return false;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  paging.isActive = true;
  const ended = await execa(program, args, {
    input: text,
    stdout: 'inherit',
    stderr: 'inherit',
    // Hide the key from other programs, and never run one from the current folder.
    env: {
      FOLEY_API_KEY: undefined,
      PATH: folders.join(delimiter),
      LESS: env['LESS'] ?? LESS_FLAGS,
      LV: env['LV'] ?? '-c',
    },
    reject: false,
  });
  await awaitLateSignal(context.signal);
  paging.isActive = false;
  // A pager that exited or was killed has shown the text; 127 means that a shell did not find it.
  const hasStarted = ended.exitCode !== undefined || ended.signal !== undefined;
  return hasStarted && ended.exitCode !== 127;
}

async function pagerOf({
  io: { env },
  system: { platform },
  settings,
}: Rendering): Promise<readonly string[]> {
  const [{ splitWords }, { resolveSetting }] = await Promise.all([
    import('../../speech/play.ts'),
    import('../../config/settings.ts'),
  ]);
  if (env['FOLEY_PAGER']?.trim() === '') return [];
  const chosen = resolveSetting(await settings(), 'pager')?.value;
  return splitWords(
    chosen ?? env['PAGER'] ?? (platform === 'win32' ? 'more' : 'less'),
    'the pager',
    platform,
  );
}

/** A request that `--dry-run` prints instead of sending it. The API key is masked. */
export interface RequestDocument {
  readonly method: string;
  readonly url: string;
  readonly headers: WireRequest['headers'];
  /** The JSON body, or the parts of a form; null without a body. */
  readonly body: unknown;
}

/** The requests for the parts of a long text. */
interface PartsDocument {
  readonly parts: readonly RequestDocument[];
  readonly pauses?: readonly PartPause[];
}

/** A silence after a part, counted from 0. */
interface PartPause {
  readonly afterPart: number;
  readonly ms: number;
}

/** What `--dry-run` prints: one request, or one for each part of a long text. */
export type DryRunDocument = RequestDocument | PartsDocument;

/** Returns the result of `--dry-run`: one request, or one for each part of a long text. The API key is masked. */
export function dryRunResult(
  requests: WireRequest | readonly WireRequest[],
  pauses: readonly PartPause[] = [],
): CommandResult<DryRunDocument> {
  const data =
    'url' in requests
      ? requestDocument(requests)
      : {
          parts: requests.map((request) => requestDocument(request)),
          ...(pauses.length === 0 ? {} : { pauses }),
        };
  return { data, human: () => toJson(data, true) };
}

function requestDocument({ body, headers, method, url }: WireRequest): RequestDocument {
  return {
    method,
    url: url.href,
    headers,
    body: body === undefined ? null : (JSON.parse(Buffer.from(body).toString('utf8')) as unknown),
  };
}

/** What a request cost, as the service reports it. */
export interface Cost {
  readonly creditsUsed: number | undefined;
  readonly quotaRemaining: number | undefined;
  readonly ignoredParameters?: readonly string[] | undefined;
  readonly reused?: ReusedAudio | undefined;
}

/** Formats a result with its cost, such as `speech.mp3; 12 credits used; API quota left: 988 units`. */
export function describeCost(
  result: string,
  { creditsUsed, ignoredParameters = [], quotaRemaining, reused }: Cost,
): string {
  const isFree = reused !== undefined && creditsUsed === 0;
  return [
    result,
    creditsUsed === undefined || isFree ? undefined : `${counted(creditsUsed, 'credit')} used`,
    describeReuse(reuseFields(reused), creditsUsed),
    quotaRemaining === undefined ? undefined : `API quota left: ${counted(quotaRemaining, 'unit')}`,
    ignoredParameters.length === 0
      ? undefined
      : `not applied by this model: ${ignoredParameters.join(', ')}`,
  ]
    .filter((part) => part !== undefined)
    .join('; ');
}
