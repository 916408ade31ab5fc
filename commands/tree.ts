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
    name: 'profile',
    summary: 'Show or change the account: tier, credits, quota, webhook',
    fallback: 'get',
    children: [
      {
        name: 'get',
        summary: 'Show the account',
        load: async () => (await import('./profile/get.ts')).profileGet,
      },
      {
        name: 'set',
        summary: 'Change the webhook',
        load: async () => (await import('./profile/set.ts')).profileSet,
      },
    ],
  },
  {
    name: 'recover',
    summary: 'Bring back what was paid for and did not arrive',
    load: async () => (await import('./recover.ts')).recoverCommand,
  },
  {
    name: 'api',
    summary: 'Make any call of the interface',
    load: async () => (await import('./api.ts')).api,
  },
  {
    name: 'serve',
    summary: 'Run the embedded service for other programs',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'help',
    summary: 'Show the help of a command, or a topic',
    children: [
      {
        name: 'exit-codes',
        summary: 'What the exit codes mean',
        load: async () => (await import('./help/exit-codes.ts')).exitCodes,
      },
    ],
  },
];
