import { Watch } from '../harness/watch.ts';
import type { RecordedRequest } from './recorded-request.ts';

export type RequestFilter = Partial<Pick<RecordedRequest, 'method' | 'path'>>;

/** Requests in the order in which something happened to them, which can be waited for. */
export class Journal {
  readonly entries: RecordedRequest[] = [];
  readonly #watch = new Watch();

  add(request: RecordedRequest): void {
    this.entries.push(request);
    this.#watch.changed();
  }

  /** Resolves with the nth entry (from 1) that fits, now or when it comes. */
  wait({ method, path }: RequestFilter, count: number): Promise<RecordedRequest> {
    const fits = (request: RecordedRequest): boolean =>
      (method ?? request.method) === request.method && (path ?? request.path) === request.path;
    return this.#watch.until(() => this.entries.filter(fits)[count - 1]);
  }
}
