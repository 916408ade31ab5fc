/**
 * The bundled thread of the speech engine. Sources (`src/service/`) and chunks (`dist/chunks/`) are
 * both two folders deep, so that the path is the same for either.
 */
export const FLITE_WORKER_FILE = new URL('../../dist/flite-worker.cjs', import.meta.url);

/** The bundled program that media are read and made in. */
export const MEDIA_CHILD_FILE = new URL('../../dist/media-child.cjs', import.meta.url);

/** The letters of titles in pictures. */
export const FONT_FILE = new URL('../../assets/fonts/foley-sans.ttf', import.meta.url);

/** The bundled thread that listens to uploads. */
export const LISTENER_WORKER_FILE = new URL('../../dist/listener-worker.cjs', import.meta.url);

/** What the library that draws letters goes by. */
export const FONT_SETTINGS_FILE = new URL('../../assets/fonts/fonts.conf', import.meta.url);
