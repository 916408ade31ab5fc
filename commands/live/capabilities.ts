import { getRealtimeCapabilities } from '../../src/api/resources/realtime.ts';
import { isRecord } from '../../src/api/response.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import type { ProtocolFlag } from './flags.ts';
import { formatValue, protocolOption } from './flags.ts';

/** Defines the command `foley live capabilities` (docs/api/realtime.md). */
export const definition: CommandDefinition<ProtocolFlag> = {
  configure(command) {
    command
      .description('Shows the models, formats, modes and limits of realtime speech.')
      .addOption(protocolOption());
  },
  async run(context, { options: { protocol = 'v3' } }) {
    const { client } = await context.connect();
    const { raw, value } = await getRealtimeCapabilities(client, protocol, context.signal);
    const limits = isRecord(value['limits']) ? Object.entries(value['limits']) : [];
    const fields: (readonly [string, string])[] = [
      ['modes', formatValue(value['modes'])],
      ['formats', formatValue(value['formats'])],
      ['models', availableModels(value['models'])],
      ...limits.map(([name, limit]) => [name, formatValue(limit)] as const),
    ];
    return { data: raw, human: (style) => renderFields(fields, style) };
  },
};

function availableModels(models: unknown): string {
  if (!Array.isArray(models)) return formatValue(models);
  return models
    .filter((model) => !isRecord(model) || model['available'] !== false)
    .map((model: unknown) => formatValue(isRecord(model) ? (model['id'] ?? model) : model))
    .join(', ');
}
