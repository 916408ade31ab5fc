import { awaitLateSignal } from '../system/processes.ts';
import { configFailure } from '../errors/failure.ts';
import type { Failure } from '../errors/failure.ts';

const QUOTED_OUTPUT_MAX_CHARACTERS = 300;
const SETTING = 'upload.command';

export interface Uploader {
  /** Value of the setting `upload.command`: a program and its arguments, as the user wrote them. */
  readonly command: string;
  /** Returns the path of a program; undefined if the program is not installed. */
  readonly locate: (program: string) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/**
 * Uploads a file with the user's upload command, and returns the URL. The command runs without a shell, gets the path
 * as its last argument, and must print only the URL.
 * @throws Failure of kind `config` if the command cannot run, fails, or does not print exactly one URL
 * @throws the signal's abort reason on abort
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
      `${SETTING} "${command}": no such program: ${program}`,
      'Install the program, or set its full path: foley config set upload.command COMMAND',
    );
  }
  const { execa } = await import('execa');
  const result = await execa(file, [...args, path], {
    stdin: 'ignore',
    // Hide the API key from the command.
    env: { FOLEY_API_KEY: undefined },
    cancelSignal: signal,
    maxBuffer: 64 * 1024,
    reject: false,
  });
  signal.throwIfAborted();
  if (result.failed) {
    await awaitLateSignal(signal);
    const { exitCode, signal: killedBy = 'too much output' } = result;
    const outcome = exitCode === undefined ? killedBy : `exit code ${exitCode}`;
    throw notUploaded(command, `failed (${outcome})`, result.stderr);
  }
  const printed = result.stdout.trim();
  if (/^https?:\/\/\S+$/i.test(printed) && URL.canParse(printed)) return printed;
  throw notUploaded(command, 'did not print exactly one http or https URL', printed);
}

function notUploaded(command: string, problem: string, said: string): Failure {
  const shown = said.trim().slice(-QUOTED_OUTPUT_MAX_CHARACTERS);
  const output = shown === '' ? '' : `: ${shown}`;
  return configFailure(
    `the program of ${SETTING} (${command}) ${problem}${output}`,
    'No job was created. The command must print the URL of the uploaded file, and nothing else, on stdout.',
  );
}
