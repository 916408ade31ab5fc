import type { MediaTask } from './messages.ts';

/** The tasks of the media child by name; the code of each is loaded when it is asked for. */
export const MEDIA_TASKS = {
  inspect: async (order, tools) =>
    (await import('../inspection/inspect-media.ts')).inspectMedia(order, tools),
  'align-sound': async (order, tools) =>
    (await import('../lipsync/align-sound.ts')).alignSound(order, tools),
  'inspect-picture': async (order, tools) =>
    (await import('../pictures/reference.ts')).inspectPictureTask(order, tools),
  image: async (order, tools) => (await import('../pictures/card.ts')).imageTask(order, tools),
  video: async (order, tools) => (await import('../pictures/video.ts')).videoTask(order, tools),
} as const satisfies Readonly<Record<string, MediaTask>>;

export type MediaTaskName = keyof typeof MEDIA_TASKS;
