import { getVoice } from '../../src/api/resources/voices.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { renderFields } from '../../src/cli/render/table.ts';

/** Defines the command `foley voices get ID` (docs/api/speech.md#v3). */
export const definition: CommandDefinition = {
  configure(command) {
    command.description('Shows one voice.').argument('<id>', 'voice id');
  },
  async run(context, { args: [id = ''] }) {
    const { client } = await context.connect();
    const { value, raw } = await getVoice(client, id, context.signal);
    const fields = {
      id: value.voiceId,
      name: value.name,
      ...(value.description === undefined ? {} : { description: value.description }),
      kind: value.isPersonal ? 'personal' : 'public',
      language: value.primaryLanguage,
      languages: value.languages.join(', '),
      models: value.modelIds.join(', '),
      ...(value.phonemes === undefined ? {} : { phonemes: value.phonemes.trim() }),
    };
    return { data: raw, human: (style) => renderFields(Object.entries(fields), style) };
  },
};
