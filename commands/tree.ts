import type { Branch, CommandNode } from '../src/cli/command.ts';

/** The commands that list, make and delete voices. */
export const voiceCommands: readonly Branch[] = [
  {
    name: 'voices',
    summary: 'List voices, hear them, make your own and delete them',
    fallback: 'list',
    children: [
      {
        name: 'list',
        summary: 'List the voices',
        load: async () => (await import('./voices/list.ts')).voicesList,
      },
      {
        name: 'get',
        summary: 'Show one voice',
        load: async () => (await import('./voices/voice.ts')).voicesGet,
      },
      {
        name: 'create',
        aliases: ['clone'],
        summary: 'Make a voice of recordings',
        load: async () => (await import('./voices/create.ts')).voicesCreate,
      },
      {
        name: 'delete',
        summary: 'Delete one of your own voices',
        load: async () => (await import('./voices/voice.ts')).voicesDelete,
      },
      {
        name: 'preview',
        summary: 'Speak a line with each of some voices',
        load: async () => (await import('./voices/preview.ts')).voicesPreview,
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
        load: async () => (await import('./design/create.ts')).designCreate,
      },
      {
        name: 'preview',
        summary: 'Save the preview of a candidate',
        load: async () => (await import('./design/preview.ts')).designPreview,
      },
      {
        name: 'save',
        summary: 'Make a permanent voice of a candidate',
        load: async () => (await import('./design/save.ts')).designSave,
      },
    ],
  },
];

/** The commands of lip sync, dubbing, images and videos. */
export const mediaCommands: readonly Branch[] = [
  {
    name: 'lipsync',
    summary: 'Put a sound to a video, in time with the lips',
    fallback: 'list',
    children: [
      {
        name: 'create',
        summary: 'Have a sound put to a video',
        load: async () => (await import('./lipsync/create.ts')).lipsyncCreate,
      },
      {
        name: 'list',
        summary: 'List your lip-sync jobs',
        load: async () => (await import('./lipsync/list.ts')).lipsyncList,
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('./media/media.ts')).mediaGet('lipsync'),
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save what they make',
        load: async () => (await import('./media/media.ts')).mediaWait('lipsync'),
      },
      {
        name: 'download',
        summary: 'Save the video of a job',
        load: async () => (await import('./media/media.ts')).mediaDownload('lipsync'),
      },
    ],
  },
  {
    name: 'dub',
    summary: 'Have a text spoken and put to a video',
    children: [
      {
        name: 'create',
        summary: 'Have a video dubbed',
        load: async () => (await import('./dub/create.ts')).dubCreate,
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('./media/media.ts')).mediaGet('dub'),
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save what they make',
        load: async () => (await import('./media/media.ts')).mediaWait('dub'),
      },
      {
        name: 'download',
        summary: 'Save the video of a job',
        load: async () => (await import('./media/media.ts')).mediaDownload('dub'),
      },
    ],
  },
  {
    name: 'image',
    summary: 'Pictures of what is described',
    children: [
      {
        name: 'create',
        summary: 'Have a picture made',
        load: async () => (await import('./image/create.ts')).imageCreate,
      },
      {
        name: 'models',
        summary: 'List the models, with what they cost',
        load: async () => (await import('./media/media.ts')).mediaModels('image'),
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('./media/media.ts')).mediaGet('image'),
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save what they make',
        load: async () => (await import('./media/media.ts')).mediaWait('image'),
      },
      {
        name: 'download',
        summary: 'Save the picture of a job',
        load: async () => (await import('./media/media.ts')).mediaDownload('image'),
      },
    ],
  },
  {
    name: 'video',
    summary: 'Videos of what is described',
    children: [
      {
        name: 'create',
        summary: 'Have a video made',
        load: async () => (await import('./video/create.ts')).videoCreate,
      },
      {
        name: 'models',
        summary: 'List the models, with what they cost',
        load: async () => (await import('./media/media.ts')).mediaModels('video'),
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('./media/media.ts')).mediaGet('video'),
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save what they make',
        load: async () => (await import('./media/media.ts')).mediaWait('video'),
      },
      {
        name: 'download',
        summary: 'Save the video of a job',
        load: async () => (await import('./media/media.ts')).mediaDownload('video'),
      },
    ],
  },
];

/** Every command, in the order of the help. A module is loaded only when its command is called. */
export const tree: readonly CommandNode[] = [
  {
    name: 'tts',
    summary: 'Speak text into a file, a pipe or a player',
    load: async () => (await import('./tts/tts.ts')).tts,
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
        load: async () => (await import('./jobs/list.ts')).jobsGet,
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save their audio',
        load: async () => (await import('./jobs/wait.ts')).jobsWait,
      },
      {
        name: 'download',
        summary: 'Save the audio of a job, or of one segment',
        load: async () => (await import('./jobs/wait.ts')).jobsDownload,
      },
    ],
  },
  {
    name: 'batch',
    summary: 'Speak many texts, and go on where it was stopped',
    load: async () => (await import('./batch/batch.ts')).batch,
  },
  {
    name: 'live',
    summary: 'Speak text while it is being written',
    itself: async () => (await import('./live/live.ts')).live,
    children: [
      {
        name: 'capabilities',
        summary: 'Show models and limits of realtime speech',
        load: async () => (await import('./live/subcommands.ts')).liveCapabilities,
      },
      {
        name: 'ticket',
        summary: 'Print a browser ticket for one origin',
        load: async () => (await import('./live/subcommands.ts')).liveTicket,
      },
      {
        name: 'status',
        summary: 'Show the state of a realtime request',
        load: async () => (await import('./live/subcommands.ts')).liveStatus,
      },
      {
        name: 'segment',
        summary: 'Save the stored audio of one segment',
        load: async () => (await import('./live/subcommands.ts')).liveSegment,
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
        load: async () => (await import('./models/models.ts')).modelsList,
      },
      {
        name: 'get',
        summary: 'Show one model',
        load: async () => (await import('./models/models.ts')).modelsGet,
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
        load: async () => (await import('./profile/profile.ts')).profileGet,
      },
      {
        name: 'set',
        summary: 'Change the webhook',
        load: async () => (await import('./profile/profile.ts')).profileSet,
      },
    ],
  },
  {
    name: 'captions',
    summary: 'Make subtitles of stored timings, without speaking again',
    load: async () => (await import('./captions/captions.ts')).captions,
  },
  {
    name: 'inspect',
    summary: 'Tell how long, how loud and how still a file of sound is',
    load: async () => (await import('./inspect/inspect.ts')).inspect,
  },
  {
    name: 'recover',
    summary: 'Bring back what was paid for and did not arrive',
    load: async () => (await import('./recover/recover.ts')).recoverCommand,
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
        load: async () => (await import('./auth/accounts.ts')).authLogout,
      },
      {
        name: 'status',
        summary: 'Show which service and which key are used',
        load: async () => (await import('./auth/accounts.ts')).authStatus,
      },
      {
        name: 'list',
        summary: 'List the stored accounts',
        load: async () => (await import('./auth/accounts.ts')).authList,
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
        load: async () => (await import('./config/config.ts')).configGet,
      },
      {
        name: 'set',
        summary: 'Set a setting',
        load: async () => (await import('./config/config.ts')).configSet,
      },
      {
        name: 'unset',
        summary: 'Remove a setting',
        load: async () => (await import('./config/config.ts')).configUnset,
      },
      {
        name: 'list',
        summary: 'List the settings, with --show-origin also where they come from',
        load: async () => (await import('./config/config.ts')).configList,
      },
      {
        name: 'path',
        summary: 'Print where the settings are kept',
        load: async () => (await import('./config/config.ts')).configPath,
      },
    ],
  },
  {
    name: 'api',
    summary: 'Make any call of the interface',
    load: async () => (await import('./api/api.ts')).api,
  },
  {
    name: 'serve',
    summary: 'Run the embedded service for other programs',
    load: async () => (await import('./serve/serve.ts')).serve,
  },
  {
    name: 'engine',
    summary: 'Give the embedded service other voices: espeak-ng, or an engine of your own',
    fallback: 'list',
    children: [
      {
        name: 'add',
        summary: 'Install espeak-ng, or add a program that speaks',
        load: async () => (await import('./engine/engine.ts')).engineAdd,
      },
      {
        name: 'list',
        summary: 'List the engines that were added',
        load: async () => (await import('./engine/engine.ts')).engineList,
      },
      {
        name: 'remove',
        summary: 'Remove an engine that was added',
        load: async () => (await import('./engine/engine.ts')).engineRemove,
      },
    ],
  },
  {
    name: 'doctor',
    summary: 'Check that everything works, and say how to mend what does not',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  {
    name: 'completion',
    summary: 'Let the shell complete commands, flags and names',
    children: [
      {
        name: 'bash',
        summary: 'Print the script for bash',
        load: async () => (await import('./completion/completion.ts')).completionFor('bash'),
      },
      {
        name: 'zsh',
        summary: 'Print the script for zsh',
        load: async () => (await import('./completion/completion.ts')).completionFor('zsh'),
      },
      {
        name: 'fish',
        summary: 'Print the script for fish',
        load: async () => (await import('./completion/completion.ts')).completionFor('fish'),
      },
      {
        name: 'powershell',
        summary: 'Print the script for PowerShell',
        load: async () => (await import('./completion/completion.ts')).completionFor('powershell'),
      },
      {
        name: 'install',
        summary: 'Put the script where the shell finds it',
        load: async () => (await import('./completion/completion.ts')).completionInstall,
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
        load: async () => (await import('./help/topics.ts')).exitCodes,
      },
      {
        name: 'flags',
        summary: 'Show the flags that every command has',
        load: async () => (await import('./help/topics.ts')).globalFlags,
      },
    ],
  },
];
