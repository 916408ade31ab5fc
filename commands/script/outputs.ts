import path from 'node:path';
import { foldedName } from '../../src/batch/plan/plan.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { FileFormat } from '../../src/contract/values.ts';
import { FILE_FORMATS } from '../../src/contract/values.ts';
import { stemFile } from '../../src/script/recording/stems.ts';
import { hasTags, refuseTags } from '../shared/flags/tags.ts';
import { display } from '../../src/text/display.ts';
import type { ScriptFlags } from './flags.ts';

/**
 * Returns the audio format of the recording, which the extension of `--output` determines, or that of the audio in a
 * read-along book. Wav files have no tags. `--credit-rate` requires `--max-credits` or `--dry-run`.
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
  if (!hasTags(format)) refuseTags(flags, format);
  return format;
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
