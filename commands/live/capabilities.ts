import { getRealtimeCapabilities } from '../../src/api/resources/realtime.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { facts } from '../../src/cli/render/table.ts';
import { shown, protocolOption } from './flags.ts';
import type { ProtocolFlag } from './flags.ts';

/** `foley live capabilities` (docs/api/realtime.md). */
export const liveCapabilities: CommandDefinition<ProtocolFlag> = {
  configure(command) {
    command
      .description('Shows what realtime speech can do: models, formats, modes and limits.')
      .addOption(protocolOption());
  },
  async run(context, { options: { protocol = 'v3' } }) {
    const { client } = await context.connect();
    const { raw, value } = await getRealtimeCapabilities(client, protocol, context.signal);
    return {
      data: raw,
      human: (look) =>
        facts(
          [
            ['modes', shown(value['modes'])],
            ['formats', shown(value['formats'])],
            ['models', modelsOf(value['models'])],
            ...limitsOf(value['limits']),
          ],
          look,
        ),
    };
  },
};

/** The ids of the models that can be used now. */
function modelsOf(models: unknown): string {
  if (!Array.isArray(models)) return shown(models);
  return models
    .filter((model) => !isRecord(model) || model['available'] !== false)
    .map((model: unknown) => shown(isRecord(model) ? (model['id'] ?? model) : model))
    .join(', ');
}

function limitsOf(limits: unknown): readonly (readonly [string, string])[] {
  if (!isRecord(limits)) return [];
  return Object.entries(limits).map(([name, value]) => [shown(name), shown(value)]);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
