/**
 * The bundled thread of the speech engine. Sources (`src/service/`) and chunks (`dist/chunks/`) are
 * both two folders deep, so that the path is the same for either.
 */
export const FLITE_WORKER_FILE = new URL('../../dist/flite-worker.cjs', import.meta.url);
