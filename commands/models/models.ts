import { getCapabilities } from '../../src/api/resources/models.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { Column } from '../../src/cli/render/table.ts';
import type { Model } from '../../src/contract/models.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import { Failure } from '../../src/errors/failure.ts';
import { closest } from '../../src/text/did-you-mean.ts';

/** `foley models list` (docs/api/models.md). */
export const modelsList: CommandDefinition = {
  configure(command) {
    command.description('Lists the models of the service.');
  },
  async run(context) {
    const { client } = await context.connect({ publicOnly: true });
    const { value, raw } = await getCapabilities(client, { signal: context.signal });
    const { tableOrNotice } = await import('../../src/cli/render/table.ts');
    const names = value.models.map(({ id }) => ({ name: id, about: '' }));
    return {
      data: raw,
      seen: { kind: 'model', names },
      ...tableOrNotice(value.models, COLUMNS, 'No models.'),
    };
  },
};

const COLUMNS: readonly Column<Model>[] = [
  {
    title: 'ID',
    value: ({ id, available }) => (available ? id : `${id} (unavailable)`),
    whole: true,
  },
  { title: 'LONGEST TEXT', value: ({ maxTextLength }) => String(maxTextLength) },
  { title: 'FORMATS', value: ({ outputFormats }) => outputFormats.join(', ') },
  { title: 'CONTROLS', value: controlsOf },
];

/** `foley models get ID`: one record of the capabilities (docs/api/models.md). */
export const modelsGet: CommandDefinition = {
  configure(command) {
    command.description('Shows one model.').argument('<id>', 'model id');
  },
  async run(context, { args: [id = ''] }) {
    const { client } = await context.connect({ publicOnly: true });
    const { value, raw } = await getCapabilities(client, { signal: context.signal });
    const index = value.models.findIndex((model) => model.id === id);
    const model = value.models[index];
    if (model === undefined) {
      throw unknownModel(
        id,
        value.models.map((known) => known.id),
      );
    }
    return {
      data: rawModel(raw, index) ?? model,
      human: (style) =>
        renderFields(
          [
            ['id', model.id],
            ['available', model.available ? 'yes' : 'no'],
            ['longest text', `${model.maxTextLength} characters`],
            ['formats', model.outputFormats.join(', ')],
            ['controls', controlsOf(model)],
            ['operations', operationsOf(model)],
          ],
          style,
        ),
    };
  },
};

/** The record as the service gave it, with the fields that foley does not know. */
function rawModel(raw: unknown, index: number): unknown {
  if (typeof raw !== 'object' || raw === null || !('models' in raw)) return undefined;
  return Array.isArray(raw.models) ? raw.models[index] : undefined;
}

function unknownModel(id: string, known: readonly string[]): Error {
  const near = closest(id, known);
  return new Failure(`the service has no model "${id}"`, {
    code: 'ERR_NOT_FOUND',
    exit: 'rejected',
    hint: near.length > 0 ? `Did you mean ${near.join(', ')}?` : `Its models: ${known.join(', ')}.`,
  });
}

/** The controls that a model applies, in words. */
export function controlsOf({ controls }: Model): string {
  return wordsOf(controls);
}

/** How a model can be asked, in words. */
export function operationsOf({ supportedOperations: operations }: Model): string {
  return wordsOf({
    synchronous: operations.synchronous,
    jobs: operations.asynchronous,
    'aligned streaming': operations.alignedStreaming,
  });
}

function wordsOf(switches: Readonly<Record<string, boolean>>): string {
  return Object.entries(switches)
    .filter(([, on]) => on)
    .map(([name]) => name)
    .join(', ');
}
