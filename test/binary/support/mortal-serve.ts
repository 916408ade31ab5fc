import type { FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { startFoley } from '../../harness/run-foley.ts';
import type { Running } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';

/** One process of the service, as a client sees it. */
export interface Incarnation {
  readonly baseUrl: string;
  /** Whether it was killed; true before its connections break. */
  isDead(): boolean;
}

export interface MortalServeOptions {
  readonly sandbox: Sandbox;
  readonly dataDir: string;
  /** How many moments each process lives for; the first one after them lives on. */
  readonly lives: readonly number[];
  readonly flags?: readonly string[];
}

/** Longer than any of these tests. */
const TIMEOUT_MS = 3_600_000;

/**
 * `foley serve` that is killed with SIGKILL again and again, and started again on the same data. A
 * moment is what a client sees or what the process writes into its data, so that it dies while it
 * starts, in the middle of what it writes, and while it answers.
 */
export async function startMortalServe(options: MortalServeOptions): Promise<MortalServe> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  const serve = new MortalServe(options);
  onTestFinished(() => serve.stop());
  serve.begin();
  return serve;
}

/** A service whose processes are killed, one after the other. */
export class MortalServe {
  readonly #options: MortalServeOptions;
  readonly #lives: number[];
  readonly #watcher: FSWatcher;
  #momentsLeft = Number.POSITIVE_INFINITY;
  #killed = 0;
  #isBorn = false;
  #isStopped = false;
  #running: Running | undefined;
  #kill: (() => void) | undefined;
  #living: Promise<Incarnation>;
  #failed: (error: unknown) => void = () => undefined;
  #born: (incarnation: Incarnation) => void = () => undefined;

  constructor(options: MortalServeOptions) {
    this.#options = options;
    this.#lives = [...options.lives];
    this.#living = this.#expectBirth();
    this.#watcher = watch(options.dataDir, () => this.tick());
  }

  /** The process that answers now, or the next one that does. */
  living(): Promise<Incarnation> {
    return this.#living;
  }

  /** Something happened to a client: a moment at which the service may be killed. */
  tick(): void {
    this.#momentsLeft -= 1;
    if (this.#momentsLeft <= 0) this.#kill?.();
  }

  /** How many processes were killed so far. */
  killed(): number {
    return this.#killed;
  }

  /** Stops killing the service, and lets it end in peace. */
  async end(): Promise<void> {
    this.#lives.length = 0;
    this.#momentsLeft = Number.POSITIVE_INFINITY;
    await this.#living;
    this.stop();
    this.#running?.signal('SIGTERM');
    await this.#running?.done;
  }

  stop(): void {
    this.#isStopped = true;
    this.#watcher.close();
  }

  begin(): void {
    this.#live().catch((error: unknown) => this.#failed(error));
  }

  #expectBirth(): Promise<Incarnation> {
    this.#isBorn = false;
    const birth = new Promise<Incarnation>((resolve, reject) => {
      this.#born = (incarnation) => {
        this.#isBorn = true;
        resolve(incarnation);
      };
      this.#failed = reject;
    });
    // Nobody may be waiting for it.
    birth.catch(() => undefined);
    return birth;
  }

  async #live(): Promise<void> {
    const { sandbox, dataDir, flags = [] } = this.#options;
    const args = ['serve', '--port', '0', '--json', '--data-dir', dataDir, ...flags];
    while (!this.#isStopped) {
      let isDead = false;
      const running = await startFoley(args, { sandbox, timeoutMs: TIMEOUT_MS });
      this.#running = running;
      this.#momentsLeft = this.#lives.shift() ?? Number.POSITIVE_INFINITY;
      this.#kill = () => {
        if (isDead) return;
        isDead = true;
        this.#killed += 1;
        if (this.#isBorn) this.#living = this.#expectBirth();
        running.signal('SIGKILL');
      };
      await this.#announce(running, () => isDead);
      const { code, signal, stderr } = await running.done;
      if (isDead || this.#isStopped) continue;
      throw new Error(`foley serve ended by itself with ${code ?? signal}: ${stderr}`);
    }
  }

  async #announce(running: Running, isDead: () => boolean): Promise<void> {
    const ready = await running.waitFor('stdout', /^.*\n/).catch(() => undefined);
    if (ready === undefined || isDead()) return;
    const { baseUrl } = Object(JSON.parse(ready[0]));
    this.#born({ baseUrl, isDead });
  }
}
