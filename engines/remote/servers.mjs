// Chooses a server for each sentence: the one with the least to do. A server that fails is left out, and tried again.

import { messageOf } from '../parts/protocol.mjs';
import { ServerError } from './requests.mjs';

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** How often each server is asked for one sentence. */
const ROUNDS = 2;

/** A server that takes longer for a sentence gets help from an idle one. */
const SLOW_MS = 15_000;

/**
 * @typedef {object} Server
 * @property {URL} url
 * @property {number} busy number of its running requests
 * @property {number} pauseMs how long it was left out last; 0 while it works
 * @property {number} turn number of its last request
 * @property {number} from when it may be asked again, in milliseconds of `performance.now()`
 * @property {'pcm' | 'wav' | undefined} format the format that it sends; undefined before its first sound
 */

/** The servers of an engine. */
export class Servers {
  /** @type {readonly Server[]} */
  #all;
  #perServer;
  #turn = 0;
  /** @type {Set<() => void>} Called when a server may have become free. */
  #waiting = new Set();

  /**
   * @param {readonly URL[]} urls
   * @param {number} perServer maximum number of requests that one server gets at once
   */
  constructor(urls, perServer) {
    this.#all = urls.map((url) => ({
      url,
      busy: 0,
      pauseMs: 0,
      turn: 0,
      from: 0,
      format: undefined,
    }));
    this.#perServer = perServer;
  }

  /** The number of requests that the servers work on at once. */
  get capacity() {
    return this.#all.length * this.#perServer;
  }

  /**
   * Lets a server do some work. If it fails, another one does the work; if it is slow, another one does the same work,
   * and the first result counts.
   * @template Result
   * @param {(server: Server, signal: AbortSignal) => Promise<Result>} work
   * @param {AbortSignal} signal
   * @returns {Promise<Result>}
   * @throws {ServerError} that says what is wrong with each server; on abort, the abort reason
   */
  async run(work, signal) {
    const over = new AbortController();
    const both = AbortSignal.any([signal, over.signal]);
    /** @type {Map<Server, number>} */
    const tries = new Map();
    /** @type {Map<Server, unknown>} */
    const errors = new Map();
    const turn = async () => {
      for (;;) {
        const server = await this.#take(tries, errors, both);
        if (server === undefined) throw failureOf(errors);
        tries.set(server, (tries.get(server) ?? 0) + 1);
        try {
          const result = await work(server, both);
          server.pauseMs = 0;
          return result;
        } catch (error) {
          both.throwIfAborted();
          errors.set(server, error);
          this.#leaveOut(server, error);
        } finally {
          server.busy -= 1;
          this.#wake();
        }
      }
    };
    const first = turn();
    let timer;
    try {
      if (this.#all.length === 1) return await first;
      const help = new Promise((resolve) => {
        timer = setTimeout(resolve, SLOW_MS);
      }).then(turn);
      help.catch(() => undefined);
      return await Promise.race([first, Promise.any([first, help])]);
    } finally {
      clearTimeout(timer);
      over.abort();
      first.catch(() => undefined);
    }
  }

  /**
   * Waits for a server with a free place. Returns undefined if every server has failed or refused.
   * @param {ReadonlyMap<Server, number>} tries
   * @param {ReadonlyMap<Server, unknown>} errors
   * @param {AbortSignal} signal
   */
  async #take(tries, errors, signal) {
    for (;;) {
      signal.throwIfAborted();
      const open = this.#all.filter((server) => {
        const error = errors.get(server);
        const isRefused = error instanceof ServerError && error.kind !== 'broken';
        return !isRefused && (tries.get(server) ?? 0) < ROUNDS;
      });
      if (open.length === 0) return undefined;
      const now = performance.now();
      const free = open.filter(
        // A server that failed gets one request, until it works again.
        ({ busy, from, pauseMs }) => from <= now && busy < (pauseMs === 0 ? this.#perServer : 1),
      );
      const [best] = free.toSorted(
        (a, b) =>
          (tries.get(a) ?? 0) - (tries.get(b) ?? 0) ||
          a.pauseMs - b.pauseMs ||
          a.busy - b.busy ||
          a.turn - b.turn,
      );
      if (best !== undefined) {
        best.busy += 1;
        best.turn = this.#turn += 1;
        return best;
      }
      const next = Math.min(...open.map(({ from }) => (from <= now ? Infinity : from)));
      await this.#change(next - now, signal);
    }
  }

  /**
   * @param {Server} server
   * @param {unknown} error
   */
  #leaveOut(server, error) {
    if (error instanceof ServerError && error.kind !== 'broken') return;
    if (server.pauseMs === 0) process.stderr.write(`${messageOf(error)}\n`);
    const asked = error instanceof ServerError ? (error.retryAfterMs ?? 0) : 0;
    const doubled = Math.max(FIRST_PAUSE_MS, 2 * server.pauseMs);
    server.pauseMs = Math.min(MAX_PAUSE_MS, Math.max(asked, doubled));
    server.from = performance.now() + server.pauseMs;
  }

  /**
   * Resolves when a request ends, or after a time.
   * @param {number} ms
   * @param {AbortSignal} signal
   */
  #change(ms, signal) {
    /** @type {Promise<void>} */
    const changed = new Promise((resolve) => {
      /** @type {ReturnType<typeof setTimeout> | undefined} */
      let timer;
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      if (Number.isFinite(ms)) timer = setTimeout(done, Math.max(1, ms));
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.add(done);
    });
    return changed;
  }

  #wake() {
    for (const done of this.#waiting) done();
  }
}

/** @param {ReadonlyMap<Server, unknown>} errors */
function failureOf(errors) {
  const found = [...errors.values()];
  const messages = new Set(found.map((error) => messageOf(error)));
  const kinds = new Set(
    found.map((error) => (error instanceof ServerError ? error.kind : 'broken')),
  );
  const [kind = 'broken'] = kinds;
  return new ServerError([...messages].join('; '), kinds.size === 1 ? kind : 'broken');
}
