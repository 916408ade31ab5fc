import path from 'node:path';
import { foldedName } from '../../src/batch/plan/plan.ts';
import type { Context } from '../../src/cli/command.ts';
import { readInput } from '../../src/cli/read-input.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { FileFormat } from '../../src/contract/values.ts';
import { FILE_FORMATS } from '../../src/contract/values.ts';
import { stemFile } from '../../src/script/recording/stems.ts';
import type { Tags } from '../../src/audio/encode/tags.ts';
import { display } from '../../src/text/display.ts';
import type { ScriptFlags } from './flags.ts';

/**
 * Returns the audio format of the recording, which the extension of `--output` determines, or that of the audio in a
 * read-along book. Only mp3, m4a and m4b files can
 * have tags. `--credit-rate` requires `--max-credits` or `--dry-run`.
 * @throws Failure of kind `usage` if the flags break one of these rules, or the extension is not supported
 */
export function outputFormat({
  creditRate,
  dryRun,
  maxCredits,
  output,
  ...flags
}: ScriptFlags): FileFormat {
  if (creditRate !== undefined && maxCredits === undefined && dryRun !== true) {
    throw usageFailure('--credit-rate requires --max-credits or --dry-run');
  }
  const extension = path.extname(output).slice(1).toLowerCase();
  if (extension === 'epub') return flags.overlayAudio ?? 'mp3';
  const format = FILE_FORMATS.find((one) => one === extension);
  if (format === undefined) {
    const extensions = FILE_FORMATS.map((one) => `.${one}`).join(', ');
    throw usageFailure(
      `--output is "${output}"; it takes a file with the extension ${extensions}; or .epub for a read-along book`,
    );
  }
  const { album, author, cover, title } = flags;
  const tag = Object.entries({ album, author, cover, title }).find(
    ([, value]) => value !== undefined,
  );
  if (tag === undefined || ['mp3', 'm4a', 'm4b'].includes(format)) return format;
  const [tagFlag] = tag;
  throw usageFailure(
    `--${tagFlag} works with mp3, m4a and m4b only`,
    `Leave --${tagFlag} out, or choose another --output.`,
  );
}

/**
 * Returns the title, author, album and cover of the recording.
 * @throws Failure of kind `usage` if the cover file cannot be read or is not a valid JPEG or PNG file
 */
export async function readTags(
  context: Context,
  { album, author, cover, title }: ScriptFlags,
): Promise<Tags> {
  if (cover === undefined) return { title, author, album };
  const data = await readInput(context, cover, `--cover ${cover}`);
  const start = data.toString('latin1', 0, 4);
  const type = start.startsWith('\xff\xd8\xff') ? 'jpeg' : start === '\x89PNG' ? 'png' : undefined;
  if (type === undefined) throw usageFailure(`--cover ${cover} is not a JPEG or PNG file`);
  const { createVerifier } = await import('../../src/audio/verify.ts');
  const verifier = createVerifier(type);
  verifier.write(data);
  const { problem } = verifier.end();
  if (problem !== undefined) throw usageFailure(`--cover ${cover} ${problem}`);
  return { title, author, album, cover: { data, mimeType: `image/${type}` } };
}

/**
 * Checks that no file of the command is named twice: outputs, speaker tracks, script and cast file.
 * @throws Failure of kind `usage` for a repeated file, or a `--chapters` file that is neither .json nor .txt
 */
export function checkOutputs(
  script: string,
  { castFile, chapters = [], output, stems, subtitles = [], timings }: ScriptFlags,
  speakers: ReadonlySet<string>,
  cwd: string,
): void {
  const wrong = chapters.find((file) => !/\.(?:json|txt)$/i.test(file));
  if (wrong !== undefined) {
    throw usageFailure(`--chapters is "${wrong}"; it takes a .json or .txt file`);
  }
  const files = [
    ['the script', script],
    ...(castFile === undefined ? [] : [['--cast-file', castFile]]),
    ['--output', output],
    ...subtitles.map((file) => ['--subtitles', file]),
    ...(timings === undefined ? [] : [['--timings', timings]]),
    ...chapters.map((file) => ['--chapters', file]),
    ...(stems === undefined
      ? []
      : [...speakers].map((name) => [`--stems (${display(name)})`, stemFile(stems, name)])),
  ];
  const seen = new Map<string, string>();
  for (const [flag = '', file = ''] of files) {
    const place = foldedName(path.resolve(cwd, file));
    const other = seen.get(place);
    if (other !== undefined) {
      const problem = `${flag} and ${other} both name ${display(file)}`;
      throw usageFailure(problem, 'Use a different file for each.');
    }
    seen.set(place, flag);
  }
}
