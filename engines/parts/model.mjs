// Runs an ONNX model in a worker thread. onnxruntime-node blocks the thread that it runs in, and the
// engine must react to `cancel` meanwhile.

import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { readModel } from './onnx.mjs';
import { messageOf } from './protocol.mjs';

/**
 * @typedef {{ type: 'int64' | 'int32' | 'float32', data: BigInt64Array | Int32Array | Float32Array, dims: number[] }} Input
 * @typedef {Record<string, Input['data']>} Outputs data of each output
 * @typedef {{ inputs: { name: string, type: string }[], outputs: string[], exposed: string[] }} Description
 * `exposed`: the names of the outputs that were added for the operators.
 * @typedef {Description & { run: (inputs: Record<string, Input>) => Promise<Outputs>, close: () => Promise<unknown> }} Model
 * `close` frees the memory.
 * @typedef {{ expose?: string[], floats?: boolean, optimization?: 'all' | 'disabled', threads?: number }} Options
 *   `expose` and `floats`: see onnx.mjs; `optimization`: all changes of the graph by default, which takes time
 *   at the start; `threads`: at most 4 by default
 * @typedef {Required<Options> & { file: string }} WorkerData
 * @typedef {{ id: number } & ({ outputs: Outputs } | { error: string })} Reply
 */

/**
 * Loads a model.
 * @param {string} file
 * @param {Options} options
 * @returns {Promise<Model>}
 * @throws {Error} if onnxruntime-node is not installed or cannot load the model
 */
export async function loadModel(
  file,
  { expose = [], floats = false, optimization = 'all', threads = defaultThreads() } = {},
) {
  // Otherwise ONNX Runtime reports its use, with an id that it stores for the computer.
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { file, expose, floats, optimization, threads },
  });
  /** @type {Map<number, { resolve: (outputs: Outputs) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let isLoading = true;
  busy.push(() => isLoading || waiting.size > 0);
  const description = await descriptionFrom(worker).finally(() => (isLoading = false));
  // An idle worker does not keep the process alive.
  worker.unref();
  /** @type {Error | undefined} */
  let failure;
  /** @param {Error} error */
  const fail = (error) => {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  };
  worker.on('message', (/** @type {Reply} */ reply) => {
    const { resolve, reject } = waiting.get(reply.id) ?? {};
    waiting.delete(reply.id);
    if (waiting.size === 0) worker.unref();
    if ('outputs' in reply) resolve?.(reply.outputs);
    else reject?.(new Error(reply.error));
  });
  worker.on('error', fail);
  worker.on('exit', (code) => fail(endedWith(code)));
  let lastId = 0;
  return {
    ...description,
    run: (inputs) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        worker.ref();
        worker.postMessage({ id: lastId, inputs }, []);
      }),
    close: () => worker.terminate(),
  };
}

/**
 * Waits until the model is loaded.
 * @param {Worker} worker
 * @returns {Promise<Description>}
 */
function descriptionFrom(worker) {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(endedWith(code)));
  });
}

/** @param {number} code */
function endedWith(code) {
  return new Error(`The thread of the model ended with code ${code}`);
}

/**
 * Returns an output of 32-bit numbers.
 * @param {Outputs} outputs
 * @param {string | undefined} name
 * @throws {Error} if the model has no such output
 */
export function floatsOf(outputs, name = '') {
  const data = outputs[name];
  if (data instanceof Float32Array) return data;
  throw new Error(`The model has no output ${name} of 32-bit numbers`);
}

/**
 * Returns an output of any numbers, such as durations.
 * @param {Outputs} outputs
 * @param {string | undefined} name
 * @throws {Error} if the model has no such output
 */
export function numbersOf(outputs, name = '') {
  const data = outputs[name];
  if (data === undefined) throw new Error(`The model has no output ${name}`);
  return Array.from(data, Number);
}

/**
 * For each model, returns whether it is loading or running.
 * @type {(() => boolean)[]}
 */
const busy = [];

/** Ends the process. ONNX Runtime aborts, with a core dump, if its thread is ended while it works. */
export function endProcess() {
  if (busy.some((isBusy) => isBusy())) process.kill(process.pid, 'SIGKILL');
  process.exit();
}

function defaultThreads() {
  return Math.min(4, availableParallelism());
}

if (!isMainThread && parentPort !== null && workerData?.file !== undefined) {
  await work(parentPort, workerData);
}

/**
 * Loads the model, describes it in the first message and answers the others.
 * @param {import('node:worker_threads').MessagePort} port
 * @param {WorkerData} data
 */
async function work(port, { file, expose, floats, optimization, threads }) {
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
  port.postMessage({ inputs, outputs: session.outputNames, exposed }, []);
  port.on(
    'message',
    async (/** @type {{ id: number, inputs: Record<string, Input> }} */ message) => {
      const { id } = message;
      try {
        const tensors = mapValues(
          message.inputs,
          ({ type, data, dims }) => new Tensor(type, data, dims),
        );
        const outputs = mapValues(await session.run(tensors), ({ data }) => data);
        port.postMessage({ id, outputs }, []);
      } catch (error) {
        port.postMessage({ id, error: messageOf(error) }, []);
      }
    },
  );
}

/**
 * @template From, To
 * @param {Readonly<Record<string, From>>} record
 * @param {(value: From) => To} convert
 */
function mapValues(record, convert) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, convert(value)]));
}

async function runtime() {
  try {
    return (await import('onnxruntime-node')).default;
  } catch (error) {
    throw new Error(`Cannot load onnxruntime-node: ${messageOf(error)}`, { cause: error });
  }
}
