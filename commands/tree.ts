import type { CommandNode } from '../src/cli/command.ts';

/** Every command, in the order of the help. A module is loaded only when its command is called. */
export const tree: readonly CommandNode[] = [
  {
    name: 'tts',
    summary: 'Speak text into a file, a pipe or a player',
    load: async () => (await import('./tts.ts')).tts,
  },
  {
    name: 'voices',
    summary: 'List and look up voices',
    children: [
      {
        name: 'list',
        summary: 'List the voices',
        load: async () => (await import('./voices/list.ts')).voicesList,
      },
      {
        name: 'get',
        summary: 'Show one voice',
        load: async () => (await import('./voices/get.ts')).voicesGet,
      },
    ],
  },
  {
    name: 'models',
    summary: 'List and look up models, with their formats, limits and controls',
    fallback: 'list',
    children: [
      {
        name: 'list',
        summary: 'List the models',
        load: async () => (await import('./models/list.ts')).modelsList,
      },
      {
        name: 'get',
        summary: 'Show one model',
        load: async () => (await import('./models/get.ts')).modelsGet,
      },
    ],
  },
  {
    name: 'serve',
    summary: 'Run the embedded service for other programs',
    load: async () => (await import('./serve.ts')).serve,
  },
];
