import { configFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';

/** How much of what a failing command said is shown. */
const LONGEST_COMPLAINT = 300;
const SETTING = 'upload.command';

export interface Uploader {
  /** The setting, as it was written. */
  readonly command: string;
  /** Where a program is; undefined when it is not installed. */
  readonly locate: (program: string) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/**
 * Has a file uploaded by the person's own command: run without a shell, the path as its last argument; it
 * prints the address.
 * @throws Failure (config) when it cannot be run, fails, or prints anything else; the reason of the signal
 */
export async function uploadFile(
  path: string,
  { command, locate, signal }: Uploader,
): Promise<string> {
  const { splitWords } = await import('../speech/play.ts');
  const [program = '', ...args] = splitWords(command, SETTING);
  const file = await locate(program);
  if (file === undefined) {
    throw configFailure(
      `${SETTING} is "${command}", and there is no program ${program}`,
      'Install it, or give its whole path: foley config set upload.command …',
    );
  }
  const { execa } = await import('execa');
  const {
    exitCode,
    failed,
    signal: killedBy,
    stderr,
    stdout,
  } = await execa(file, [...args, path], {
    stdin: 'ignore',
    // No program that the key is not for gets to see it.
    env: { FOLEY_API_KEY: undefined },
    cancelSignal: signal,
    maxBuffer: 64 * 1024,
    reject: false,
  });
  signal.throwIfAborted();
  if (failed) {
    const outcome =
      exitCode === undefined ? (killedBy ?? 'too much output') : `exit code ${exitCode}`;
    throw notUploaded(command, `failed (${outcome})`, stderr);
  }
  const printed = stdout.trim();
  if (/^https?:\/\/\S+$/i.test(printed) && URL.canParse(printed)) return printed;
  throw notUploaded(command, 'printed no http or https URL, or more than that', printed);
}

function notUploaded(command: string, what: string, said: string): Failure {
  const shown = said.trim().slice(-LONGEST_COMPLAINT);
  return configFailure(
    `${SETTING} (${command}) ${what}${shown === '' ? '' : `: ${shown}`}`,
    'Nothing was ordered. It has to print the URL of the uploaded file, and nothing else, on stdout.',
  );
}
