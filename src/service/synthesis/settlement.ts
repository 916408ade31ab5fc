import { engineMessageOf } from '../engine/speech-engine.ts';
import type { Operation } from '../operations/operation.ts';
import type { RunningGeneration } from './generations.ts';
import { letGo } from './let-go.ts';

/** The ways in which a body can end; only the first call of any of them counts. */
export interface Settlement {
  /** It was read to its end. Gives whether the charge stands. */
  complete(): boolean;
  /** The client went away; the engine stops. */
  leave(reason: unknown): void;
  fail(error: unknown): void;
}

export interface SettlementOptions {
  readonly generation: RunningGeneration;
  readonly operation: Operation;
  /** What makes the body; it is closed at the end. */
  readonly source: AsyncIterator<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/** Settles the operation of a body once, whatever comes of it (spec section 7.2). */
export function createSettlement(options: SettlementOptions): Settlement {
  const { generation, operation, source, onFailure } = options;
  let isSettled = false;
  const settle = (work: () => void): void => {
    if (isSettled) return;
    isSettled = true;
    try {
      work();
    } catch (error) {
      onFailure(error);
    } finally {
      generation.end();
      void letGo(source);
    }
  };
  return {
    complete() {
      let stands = false;
      settle(() => {
        stands = operation.complete();
      });
      return stands;
    },
    leave: (reason) =>
      settle(() => {
        generation.abort(reason);
        operation.complete();
      }),
    fail: (error) =>
      settle(() => {
        onFailure(error);
        generation.abort(error);
        operation.refund(engineMessageOf(error));
      }),
  };
}
