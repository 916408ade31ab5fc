import path from 'node:path';
import { test } from 'vitest';
import { createSandbox } from '../harness/sandbox.ts';
import {
  expectOneAnswer,
  expectOneCharge,
  keyedRequests,
  race,
  RACE_FLAGS,
} from '../binary/support/keyed-endpoints.ts';
import { startServe } from '../binary/support/serve.ts';

test.each([2, 8])(
  '%i overlapping identical requests to each keyed endpoint, and one afterwards: one charge, one answer',
  async (count) => {
    const sandbox = await createSandbox();
    const dataDir = path.join(sandbox.out, 'data');
    const service = await startServe([...RACE_FLAGS, '--data-dir', dataDir], { sandbox });
    const requests = await keyedRequests(service);
    const keys: string[] = [];
    for (const request of requests) {
      const key = `race-${request.name}`;
      keys.push(key);
      const outcomes = await race(service, request, { count, key });
      expectOneAnswer(request, outcomes);
    }
    service.running.signal('SIGTERM');
    await service.running.done;
    await expectOneCharge(dataDir, keys);
  },
);
