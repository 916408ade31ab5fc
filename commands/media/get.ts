import type { MediaJob } from '../../src/api/resources/media.ts';
import { getMediaJob } from '../../src/api/resources/media.ts';
import type { MediaJobKind } from '../../src/api/resources/models.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { formatCost } from '../shared/jobs/format.ts';
import { describeBilling } from '../shared/media/format.ts';
import { renderFields } from '../../src/cli/render/table.ts';

/** Defines the `get ID` command of `foley lipsync`, `dub`, `image` or `video`. */
export function mediaGet(kind: MediaJobKind): CommandDefinition {
  return {
    configure(command) {
      command
        .description('Shows the current state of a job.')
        .argument('<id>', 'job id')
        .addHelpText('after', `\nExamples:\n  $ foley ${kind} get …`);
    },
    async run(context, { args: [id = ''] }) {
      const { client } = await context.connect();
      const job = await getMediaJob(client, kind, id, { signal: context.signal });
      return { data: job.raw, human: (style) => renderFields(fieldsOf(job), style) };
    },
  };
}

function fieldsOf(job: MediaJob): (readonly [string, string])[] {
  const { billing, creditsByPart = {}, data, error, id, progress, status } = job;
  const parts = Object.entries(creditsByPart).map(([part, credits]) => `${part} ${credits}`);
  const total = formatCost(job);
  const width = data['width'];
  const height = data['height'];
  return [
    ['id', id],
    ['status', status],
    ['progress', progress === undefined || job.phase !== 'running' ? '' : `${progress}%`],
    ['error', error?.message ?? error?.code ?? ''],
    ['model', textOf(data['model'])],
    ['size', typeof width === 'number' ? `${width} x ${textOf(height)}` : ''],
    ['seconds', textOf(data['seconds'])],
    ['credits', parts.length === 0 ? total : `${total} (${parts.join(', ')})`],
    ['billed as', billing === undefined ? '' : describeBilling(billing)],
    ['created', textOf(data['created_at'])],
    ['finished', textOf(data['finished_at'])],
    ['notices', job.notices?.join('; ') ?? ''],
  ];
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
}
