import type { CommandNode } from '../src/cli/command.ts';
import { mediaCommands } from './media/tree.ts';
import { voiceCommands } from './voices/tree.ts';

/** Every command, in the order of the help. A module is loaded only when its command is called. */
export const tree: readonly CommandNode[] = [
  {
    name: 'tts',
    summary: 'Speak text into a file, a pipe or a player',
    load: async () => (await import('./tts.ts')).tts,
  },
  {
    name: 'jobs',
    summary: 'Speech in the background: create, list, wait, download',
    fallback: 'list',
    children: [
      {
        name: 'create',
        summary: 'Have a text spoken in the background',
        load: async () => (await import('./jobs/create.ts')).jobsCreate,
      },
      {
        name: 'list',
        summary: 'List your jobs',
        load: async () => (await import('./jobs/list.ts')).jobsList,
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('./jobs/get.ts')).jobsGet,
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save their audio',
        load: async () => (await import('./jobs/wait.ts')).jobsWait,
      },
      {
        name: 'download',
        summary: 'Save the audio of a job, or of one segment',
        load: async () => (await import('./jobs/download.ts')).jobsDownload,
      },
    ],
  },
  {
    name: 'batch',
    summary: 'Speak many texts, and go on where it was stopped',
    load: async () => (await import('./batch.ts')).batch,
  },
  {
    name: 'live',
    summary: 'Speak text while it is being written, in one conversation',
    itself: async () => (await import('./live.ts')).live,
    children: [
      {
        name: 'capabilities',
        summary: 'Show what realtime speech can do',
        load: async () => (await import('./live/capabilities.ts')).liveCapabilities,
      },
      {
        name: 'ticket',
        summary: 'Print a ticket for the page of an origin',
        load: async () => (await import('./live/ticket.ts')).liveTicket,
      },
      {
        name: 'status',
        summary: 'Show what became of a realtime request',
        load: async () => (await import('./live/status.ts')).liveStatus,
      },
      {
        name: 'segment',
        summary: 'Save the stored audio of one segment',
        load: async () => (await import('./live/segment.ts')).liveSegment,
      },
    ],
  },
  ...voiceCommands,
  ...mediaCommands,
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
    name: 'captions',
    summary: 'Make subtitles of stored timings, without speaking again',
    load: async () => (await import('./captions.ts')).captions,
  },
  {
    name: 'inspect',
    summary: 'Tell how long, how loud and how still a file of sound is',
    load: async () => (await import('./inspect.ts')).inspect,
  },
  {
    name: 'recover',
    summary: 'Bring back what was paid for and did not arrive',
    load: async () => (await import('./recover.ts')).recoverCommand,
  },
  {
    name: 'auth',
    summary: 'Log in to a hosted service and look at the stored accounts',
    fallback: 'list',
    children: [
      {
        name: 'login',
        summary: 'Store an account: a service and its API key',
        load: async () => (await import('./auth/login.ts')).authLogin,
      },
      {
        name: 'logout',
        summary: 'Remove a stored account',
        load: async () => (await import('./auth/logout.ts')).authLogout,
      },
      {
        name: 'status',
        summary: 'Show which service and which key are used',
        load: async () => (await import('./auth/status.ts')).authStatus,
      },
      {
        name: 'list',
        summary: 'List the stored accounts',
        load: async () => (await import('./auth/list.ts')).authList,
      },
    ],
  },
  {
    name: 'config',
    summary: 'Read and change settings',
    fallback: 'list',
    children: [
      {
        name: 'get',
        summary: 'Print the value of a setting',
        load: async () => (await import('./config/get.ts')).configGet,
      },
      {
        name: 'set',
        summary: 'Set a setting',
        load: async () => (await import('./config/set.ts')).configSet,
      },
      {
        name: 'unset',
        summary: 'Remove a setting',
        load: async () => (await import('./config/unset.ts')).configUnset,
      },
      {
        name: 'list',
        summary: 'List the settings, with --show-origin also where they come from',
        load: async () => (await import('./config/list.ts')).configList,
      },
      {
        name: 'path',
        summary: 'Print where the settings are kept',
        load: async () => (await import('./config/path.ts')).configPath,
      },
    ],
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
    name: 'engine',
    summary: 'Give the embedded service other voices: espeak-ng, or an engine of your own',
    fallback: 'list',
    children: [
      {
        name: 'add',
        summary: 'Install espeak-ng, or add a program that speaks',
        load: async () => (await import('./engine/add.ts')).engineAdd,
      },
      {
        name: 'list',
        summary: 'List the engines that were added',
        load: async () => (await import('./engine/list.ts')).engineList,
      },
      {
        name: 'remove',
        summary: 'Remove an engine that was added',
        load: async () => (await import('./engine/remove.ts')).engineRemove,
      },
    ],
  },
  {
    name: 'doctor',
    summary: 'Check that everything works, and say how to mend what does not',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'completion',
    summary: 'Let the shell complete commands, flags and names',
    children: [
      {
        name: 'bash',
        summary: 'Print the script for bash',
        load: async () => (await import('./completion/print.ts')).completionFor('bash'),
      },
      {
        name: 'zsh',
        summary: 'Print the script for zsh',
        load: async () => (await import('./completion/print.ts')).completionFor('zsh'),
      },
      {
        name: 'fish',
        summary: 'Print the script for fish',
        load: async () => (await import('./completion/print.ts')).completionFor('fish'),
      },
      {
        name: 'powershell',
        summary: 'Print the script for PowerShell',
        load: async () => (await import('./completion/print.ts')).completionFor('powershell'),
      },
      {
        name: 'install',
        summary: 'Put the script where the shell finds it',
        load: async () => (await import('./completion/install.ts')).completionInstall,
      },
      {
        name: 'names',
        hidden: true,
        summary: 'Print the names of one kind that foley remembers',
        load: async () => (await import('./completion/names.ts')).completionNames,
      },
    ],
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
      {
        name: 'flags',
        summary: 'Show the flags that every command has',
        load: async () => (await import('./help/flags.ts')).globalFlags,
      },
    ],
  },
];
