import { getCapabilities } from '../../src/api/resources/models.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import { Failure } from '../../src/errors/failure.ts';
import { nearestHint } from '../../src/text/did-you-mean.ts';
import { enabledNames, estimatedPrices, PRICED_CHARACTERS, rawModel, withPrice } from './format.ts';

/** Defines the command `foley models get ID` (docs/api/models.md). */
export const definition: CommandDefinition = {
  configure(command) {
    command.description('Shows one model.').argument('<id>', 'model id');
  },
  async run(context, { args: [id = ''] }) {
    const { client } = await context.connect({ publicOnly: true });
    const { value, raw } = await getCapabilities(client, { signal: context.signal });
    const index = value.models.findIndex((model) => model.id === id);
    const model = value.models[index];
    if (model === undefined) {
      const known = value.models.map((one) => one.id);
      const hint = nearestHint(id, known, `Its models: ${known.join(', ')}.`);
      const failure = { code: 'ERR_NOT_FOUND', exit: 'rejected', hint } as const;
      throw new Failure(`the service has no model "${id}"`, failure);
    }
    const { asynchronous: jobs, alignedStreaming, synchronous } = model.supportedOperations;
    const { prices, usual } = await estimatedPrices(context, [model]);
    const fields = {
      id: model.id,
      available: model.available ? 'yes' : 'no',
      'longest text': `${model.maxTextLength} characters`,
      price: describePrice(prices.get(model.id), usual),
      formats: model.outputFormats.join(', '),
      controls: enabledNames(model.controls),
      operations: enabledNames({ synchronous, jobs, 'aligned streaming': alignedStreaming }),
    };
    return {
      data: withPrice(rawModel(raw, index, model), prices.get(model.id)),
      human: (style) => renderFields(Object.entries(fields), style),
    };
  },
};

function describePrice(price: number | undefined, usual: number | undefined): string {
  const [known, which] =
    price === undefined
      ? [usual, 'unknown until the first charge with --model; without it, ']
      : [price, ''];
  if (known === undefined) return 'unknown until the first charge';
  return `${which}about ${known} credits for ${PRICED_CHARACTERS} characters (estimate from earlier charges)`;
}
