import type { MediaJob, MediaJobKind } from '../../src/api/media-job.ts';
import { getMediaJob } from '../../src/api/media-jobs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { facts } from '../../src/cli/facts.ts';
import { describeBilling } from './media-words.ts';

/** `foley lipsync|dub|image|video get ID` (contract, section 8; spec sections 4.7 and 4.8). */
export function mediaGet(kind: MediaJobKind): CommandDefinition {
  return {
    configure(command) {
      command
        .description('Shows one job as it is now.')
        .argument('<id>', 'job id')
        .addHelpText('after', `\nExamples:\n  $ foley ${kind} get …`);
    },
    async run(context, { args: [id = ''] }) {
      const { client } = await context.connect();
      const job = await getMediaJob(client, kind, id, { signal: context.signal });
      return { data: job.raw, human: (look) => facts(factsOf(job), look) };
    },
  };
}

function factsOf(job: MediaJob): (readonly [string, string])[] {
  const { billing, creditsByPart = {}, creditsUsed, data, error, id, progress, status } = job;
  const parts = Object.entries(creditsByPart).map(([part, credits]) => `${part} ${credits}`);
  const total = creditsUsed === undefined ? '' : `${creditsUsed}`;
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
    ['notices', job.notices.join('; ')],
  ];
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? `${value}` : '';
}
