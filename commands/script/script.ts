import type { CommandDefinition } from '../../src/cli/command.ts';
import { runOptions } from '../shared/flags/batch.ts';
import { addCueFlags } from '../shared/flags/captions.ts';
import { controlOptions, lexiconOption, pausesOption } from '../shared/flags/speech.ts';
import { addOptions } from '../../src/cli/flags/values.ts';
import type { ScriptFlags } from './flags.ts';
import { castOptions, fileOptions, outputOptions, soundOptions } from './flags.ts';

export const definition: CommandDefinition<ScriptFlags> = {
  configure(command) {
    command
      .description(
        'Makes one recording from a script of many lines and voices, or a read-along book from an EPUB book. Run again, it speaks and bills only what changed.',
      )
      .argument(
        '<file>',
        'script: .txt, .md, .jsonl, .csv, .tsv, .epub, .docx, .odt, .rtf, .fb2, .srt or .vtt; - is stdin',
      );
    addOptions(command, [
      ...outputOptions(),
      ...fileOptions(),
      ...castOptions(),
      ...soundOptions(),
      ...runOptions(),
      lexiconOption(),
      pausesOption().hideHelp(),
      ...controlOptions(),
    ]);
    addCueFlags(command);
    command.addHelpText('after', FORMAT);
  },
  async run(context, { args: [file = ''], options }) {
    const { prepareScript } = await import('./prepare.ts');
    const prepared = await prepareScript(context, file, options);
    if (options.dryRun === true) {
      const { describeScript } = await import('./dry-run.ts');
      return describeScript(context, prepared);
    }
    if (prepared.unchanged !== undefined) {
      const { showUnchanged } = await import('./show-report.ts');
      return showUnchanged(context, prepared, prepared.unchanged);
    }
    const { makeScript } = await import('./make.ts');
    return makeScript(context, prepared);
  },
};

const FORMAT = `
A script:
  # The first chapter
  ADA: A name in capitals, or a name of the cast, begins a line.
  The line goes on to the next name or to a blank line.

  Text without a name is the narrator's. [pause 1.5s] is silence.
  > Lines with this mark are not spoken,
  (and neither are lines in parentheses).
Tables (.jsonl, .csv, .tsv) have the columns speaker and text, and may have
start, chapter and pauseAfter. Subtitles (.srt, .vtt) are spoken at their times.

Examples:
  $ foley script talk.txt -o talk.mp3 -v Martin --cast ADA=Clara,speed=1.1
  $ foley script talk.txt -o talk.mp3 --cast-file cast.json --dry-run
  $ foley script book.epub -o book.m4b -v Martin --title "A book"
  $ foley script book.epub -o read-along.epub -v Martin
  $ foley script film.srt -o film.wav -v Martin --timing exact`;
