import type { CommandDefinition } from '../../src/cli/command.ts';
import { liveOptions } from './flags.ts';
import type { LiveFlags } from './flags.ts';

/** Defines the command `foley live [TEXT…]` (docs/api/realtime.md). */
export const definition: CommandDefinition<LiveFlags> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Speaks text while it is being written: text from a pipe is spoken sentence by sentence. After a ' +
          'dropped connection it resumes without repeating a word. Further commands: live capabilities, ' +
          'live ticket, live status, live segment; put text that begins with one of those words after --.',
      )
      .argument('[text...]', 'text to speak');
    for (const option of liveOptions()) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, input) {
    const { planLive } = await import('./request.ts');
    const task = await planLive(context, input);
    const { speakLive } = await import('./speak-live.ts');
    return speakLive(task);
  },
};

const EXAMPLES = `
Examples:
  $ foley live "Hello from foley" -o hello.mp3
  $ cat chapter.txt | foley live -o chapter.mp3
  $ foley live -f - --segment-by line -o phrases.wav < phrases.txt
  $ foley live -f chapter.txt --mode reliable --json -o chapter.opus
  $ foley live -o report.mp3 -- status report`;
