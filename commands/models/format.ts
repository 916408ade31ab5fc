import type { Model } from '../../src/contract/models.ts';

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
