import { Option } from 'commander';
import { describeSound } from '../../src/audio/verify.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { filled } from '../../src/cli/flags/values.ts';
import { automaticPlace, namedPlace } from '../shared/jobs/places.ts';
import type { Format } from '../../src/audio/formats.ts';

/** The preview of a candidate. */
export interface PreviewDocument {
  readonly designId: string;
  readonly candidateId: string;
  /** Path of the file; null if the audio went to stdout. */
  readonly output: string | null;
  readonly bytes: number;
  readonly format: Format;
  readonly target: 'embedded' | 'hosted';
}

interface DesignPreviewFlags {
  readonly output?: string;
}

/** Defines the command `foley design preview DESIGN CANDIDATE` (docs/api/voice-design.md). */
export const definition: CommandDefinition<DesignPreviewFlags, PreviewDocument> = {
  configure(command) {
    command
      .description(
        'Downloads the preview of a candidate, as <candidate>.<ext> unless -o names a file. Free.',
      )
      .argument('<design>', 'design id')
      .argument('<candidate>', 'candidate id')
      .addOption(new Option('-o, --output <path>', 'write to a file; - is stdout'))
      .addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [design = '', candidate = ''], options: { output } }) {
    const designId = filled('DESIGN')(design);
    const candidateId = filled('CANDIDATE')(candidate);
    const named =
      output === undefined ? undefined : await namedPlace(context, output, { what: 'candidate' });
    try {
      const { client, target } = await context.connect();
      const { savePreview } = await import('../../src/voices/candidate-previews.ts');
      const placeFor = named?.placeFor ?? automaticPlace(context);
      const { path = null, verdict } = await savePreview(
        { designId, candidateId },
        { client, placeFor, signal: context.signal },
      );
      const sound = describeSound(verdict);
      context.io.notice(path === null ? sound : `${path}: ${sound}`);
      const { bytes, format } = verdict;
      return {
        data: { designId, candidateId, output: path, bytes, format, target },
        human: () => (output === undefined ? (path ?? '') : ''),
      };
    } finally {
      await named?.abandon();
    }
  },
};

const EXAMPLES = `
Examples:
  $ foley design create "A young woman" --preview-text "Hello." \\
      | awk 'NR == 2 { print $1, $2 }' | xargs foley design preview -o first.mp3`;
