import type { RecordedRequest } from './recorded-request.ts';

export type RequestFilter = Partial<Pick<RecordedRequest, 'method' | 'path'>>;

interface Waiter {
  readonly filter: RequestFilter;
  readonly count: number;
  readonly resolve: (request: RecordedRequest) => void;
}

/** Requests in the order in which something happened to them, which can be waited for. */
export class Journal {
  readonly entries: RecordedRequest[] = [];
  #waiters: Waiter[] = [];

  add(request: RecordedRequest): void {
    this.entries.push(request);
    this.#tell();
  }

  /** Resolves with the nth entry (from 1) that fits, now or when it comes. */
  async wait(filter: RequestFilter, count: number): Promise<RecordedRequest> {
    return new Promise((resolve) => {
      this.#waiters.push({ filter, count, resolve });
      this.#tell();
    });
  }

  #tell(): void {
    this.#waiters = this.#waiters.filter(({ filter, count, resolve }) => {
      const found = this.entries.filter((request) => fits(request, filter))[count - 1];
      if (found !== undefined) {
        resolve(found);
      }
      return found === undefined;
    });
  }
}

function fits(request: RecordedRequest, filter: RequestFilter): boolean {
  return (
    (filter.method ?? request.method) === request.method &&
    (filter.path ?? request.path) === request.path
  );
}
