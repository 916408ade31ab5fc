import { availableParallelism } from 'node:os';

/**
 * Bundled script of the worker thread that runs the built-in voice. The relative path is valid both in the sources
 * (`src/service/`) and in the build (`dist/chunks/`).
 */
export const HIBARI_WORKER_FILE = new URL('../../dist/hibari-worker.cjs', import.meta.url);

/** Bundled script of the child process that inspects and makes media files. */
export const MEDIA_CHILD_FILE = new URL('../../dist/media-child.cjs', import.meta.url);

/** Bundled script of the worker thread that encodes the frames of a video. */
export const VIDEO_WORKER_FILE = new URL('../../dist/video-worker.cjs', import.meta.url);

/** Bundled script of the engine host, the process that keeps an engine ready between commands. */
export const ENGINE_HOST_FILE = new URL('../../dist/engine-host.cjs', import.meta.url);

/** The font for titles in pictures. */
export const FONT_FILE = new URL('../../assets/fonts/foley-sans.ttf', import.meta.url);

/** Bundled script of the worker thread that measures uploaded audio. */
export const LISTENER_WORKER_FILE = new URL('../../dist/listener-worker.cjs', import.meta.url);

/** The fontconfig settings for the library that draws text in pictures. */
export const FONT_SETTINGS_FILE = new URL('../../assets/fonts/fonts.conf', import.meta.url);

/** More threads would take more memory than they save time. */
const MOST_THREADS = 4;

/** Returns the number of threads in which the built-in voice speaks. */
export function speakingThreads(): number {
  return Math.min(MOST_THREADS, availableParallelism());
}
