// Runs an ONNX model in a worker thread. onnxruntime-node blocks the thread that it runs in, and the
// engine must react to `cancel` meanwhile.

import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { readModel } from './onnx.mjs';

/**
 * @typedef {{ type: 'int64' | 'int32' | 'float32', data: BigInt64Array | Int32Array | Float32Array, dims: number[] }} Input
 * @typedef {{ inputs: { name: string, type: string }[], outputs: string[], exposed: string[],
 *   run: (inputs: Record<string, Input>) => Promise<Record<string, Float32Array | BigInt64Array>>,
 *   close: () => Promise<unknown> }} Model
 * `exposed`: the names of the outputs that were added for the operators; `run` returns the data of each output;
 * `close` frees the memory.
 */

/**
 * Loads a model.
 * @param {string} file
 * @param {{ expose?: string[], floats?: boolean, optimization?: 'all' | 'disabled', threads?: number }} options
 *   `expose` and `floats`: see onnx.mjs; `optimization`: all changes of the graph by default, which takes time
 *   at the start; `threads`: at most 4 by default
 * @returns {Promise<Model>}
 * @throws {Error} if onnxruntime-node is not installed or cannot load the model
 */
export async function loadModel(
  file,
  { expose = [], floats = false, optimization = 'all', threads = defaultThreads() } = {},
) {
  // Otherwise ONNX Runtime reports its use, with an id that it stores for the computer.
  process.env.ORT_DISABLE_TELEMETRY = '1';
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { file, expose, floats, optimization, threads },
  });
  const waiting = new Map();
  busy.push(() => waiting.size > 0);
  let failure;
  const fail = (error) => {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  };
  worker.on('message', ({ id, error, result }) => {
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    // An idle worker does not keep the process alive.
    if (waiting.size === 0) worker.unref();
    if (error === undefined) resolve?.(result);
    else reject?.(new Error(error));
  });
  worker.on('error', fail);
  worker.on('exit', (code) => fail(new Error(`The thread of the model ended with code ${code}`)));
  const reply = (id) =>
    new Promise((resolve, reject) => {
      if (failure !== undefined) return reject(failure);
      waiting.set(id, { resolve, reject });
      worker.ref();
    });
  let lastId = 0;
  const description = await reply(lastId);
  return {
    ...description,
    run: (inputs) => {
      lastId += 1;
      const result = reply(lastId);
      worker.postMessage({ id: lastId, inputs }, []);
      return result;
    },
    close: () => worker.terminate(),
  };
}

/** For each model, returns whether it is loading or running. */
const busy = [];

/** Ends the process. ONNX Runtime aborts, with a core dump, if its thread is ended while it works. */
export function endProcess() {
  if (busy.some((isBusy) => isBusy())) process.kill(process.pid, 'SIGKILL');
  process.exit();
}

function defaultThreads() {
  return Math.min(4, availableParallelism());
}

if (!isMainThread && workerData?.file !== undefined) await work(workerData);

async function work({ file, expose, floats, optimization, threads }) {
  const { InferenceSession, Tensor } = await runtime();
  const { bytes, exposed } = await readModel(file, { expose, floats });
  const session = await InferenceSession.create(bytes, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: optimization,
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Waiting threads would use the processor of other programs.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
    logSeverityLevel: 3,
  });
  const inputs = session.inputMetadata.map(({ name, type }) => ({ name, type }));
  parentPort.postMessage({ id: 0, result: { inputs, outputs: session.outputNames, exposed } }, []);
  parentPort.on('message', async (message) => {
    const { id } = message;
    try {
      const tensors = Object.entries(message.inputs).map(([name, { type, data, dims }]) => [
        name,
        new Tensor(type, data, dims),
      ]);
      const outputs = await session.run(Object.fromEntries(tensors));
      const result = Object.entries(outputs).map(([name, { data }]) => [name, data]);
      parentPort.postMessage({ id, result: Object.fromEntries(result) }, []);
    } catch (error) {
      parentPort.postMessage({ id, error: error.message }, []);
    }
  });
}

async function runtime() {
  try {
    return (await import('onnxruntime-node')).default;
  } catch (error) {
    throw new Error(`Cannot load onnxruntime-node: ${error.message}`, { cause: error });
  }
}
