import type { Branch } from '../../src/cli/command.ts';

/** The commands that list, make and delete voices (contract, section 8). */
export const voiceCommands: readonly Branch[] = [
  {
    name: 'voices',
    summary: 'List voices, hear them, make your own and delete them',
    fallback: 'list',
    children: [
      {
        name: 'list',
        summary: 'List the voices',
        load: async () => (await import('./list.ts')).voicesList,
      },
      {
        name: 'get',
        summary: 'Show one voice',
        load: async () => (await import('./get.ts')).voicesGet,
      },
      {
        name: 'create',
        aliases: ['clone'],
        summary: 'Make a voice of recordings',
        load: async () => (await import('./create.ts')).voicesCreate,
      },
      {
        name: 'delete',
        summary: 'Delete one of your own voices',
        load: async () => (await import('./delete.ts')).voicesDelete,
      },
      {
        name: 'preview',
        summary: 'Speak a line with each of some voices',
        load: async () => (await import('./preview.ts')).voicesPreview,
      },
    ],
  },
  {
    name: 'design',
    summary: 'Describe a voice in words, hear candidates, keep one',
    children: [
      {
        name: 'create',
        summary: 'Have candidates made for a voice that is described in words',
        load: async () => (await import('../design/create.ts')).designCreate,
      },
      {
        name: 'preview',
        summary: 'Save the preview of a candidate',
        load: async () => (await import('../design/preview.ts')).designPreview,
      },
      {
        name: 'save',
        summary: 'Make a permanent voice of a candidate',
        load: async () => (await import('../design/save.ts')).designSave,
      },
    ],
  },
];
