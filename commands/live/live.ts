import type { CommandDefinition } from '../../src/cli/command.ts';
import { addLiveFlags } from './flags.ts';
import type { LiveFlags } from './flags.ts';

/** `foley live [TEXT…]` (docs/api/realtime.md). */
export const live: CommandDefinition<LiveFlags> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Speaks text while it is still being written: what comes through a pipe is spoken sentence ' +
          'by sentence, and goes on after a lost line without a word twice. Further commands: live ' +
          'capabilities, live ticket, live status, live segment; text that begins with one of ' +
          'those words goes after --.',
      )
      .argument('[text...]', 'text to speak');
    addLiveFlags(command);
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
