import type { Branch, CommandNode, Leaf } from '../src/cli/command.ts';

const voiceCommands: readonly Branch[] = [
  {
    name: 'voices',
    summary: 'List, preview, create and delete voices',
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
        load: async () => (await import('./voices/get.ts')).voicesGet,
      },
      {
        name: 'create',
        aliases: ['clone'],
        summary: 'Create a voice from recordings',
        load: async () => (await import('./voices/create.ts')).voicesCreate,
      },
      {
        name: 'delete',
        summary: 'Delete one of your own voices',
        load: async () => (await import('./voices/delete.ts')).voicesDelete,
      },
      {
        name: 'preview',
        summary: 'Speak a sample line with each voice',
        load: async () => (await import('./voices/preview.ts')).voicesPreview,
      },
    ],
  },
  {
    name: 'design',
    summary: 'Design a voice from a description',
    children: [
      {
        name: 'create',
        summary: 'Create candidate voices from a description',
        load: async () => (await import('./design/create.ts')).designCreate,
      },
      {
        name: 'preview',
        summary: "Download a candidate's preview",
        load: async () => (await import('./design/preview.ts')).designPreview,
      },
      {
        name: 'save',
        summary: 'Save a candidate of a design as a permanent voice',
        load: async () => (await import('./design/save.ts')).designSave,
      },
    ],
  },
];

function mediaVerbs(kind: 'dub' | 'image' | 'lipsync' | 'video'): readonly Leaf[] {
  const download = `Download a job's ${kind === 'image' ? 'image' : 'video'}`;
  return [
    {
      name: 'get',
      summary: 'Show one job',
      load: async () => (await import('./media/get.ts')).mediaGet(kind),
    },
    {
      name: 'wait',
      summary: 'Wait for jobs and save their results',
      load: async () => (await import('./media/wait.ts')).mediaWait(kind),
    },
    {
      name: 'download',
      summary: download,
      load: async () => (await import('./media/download.ts')).mediaDownload(kind),
    },
  ];
}

const mediaCommands: readonly Branch[] = [
  {
    name: 'lipsync',
    summary: 'Sync the lips of a video to audio',
    fallback: 'list',
    children: [
      {
        name: 'create',
        summary: 'Create a lip-sync job',
        load: async () => (await import('./lipsync/create.ts')).lipsyncCreate,
      },
      {
        name: 'list',
        summary: 'List lip-sync jobs',
        load: async () => (await import('./lipsync/list.ts')).lipsyncList,
      },
      ...mediaVerbs('lipsync'),
    ],
  },
  {
    name: 'dub',
    summary: 'Dub a video with a spoken text and synced lips',
    children: [
      {
        name: 'create',
        summary: 'Create a dubbing job',
        load: async () => (await import('./dub/create.ts')).dubCreate,
      },
      ...mediaVerbs('dub'),
    ],
  },
  {
    name: 'image',
    summary: 'Create images from descriptions',
    children: [
      {
        name: 'create',
        summary: 'Create an image',
        load: async () => (await import('./image/create.ts')).imageCreate,
      },
      {
        name: 'models',
        summary: 'List image models and their prices',
        load: async () => (await import('./media/models.ts')).mediaModels('image'),
      },
      ...mediaVerbs('image'),
    ],
  },
  {
    name: 'video',
    summary: 'Create videos from descriptions',
    children: [
      {
        name: 'create',
        summary: 'Create a video',
        load: async () => (await import('./video/create.ts')).videoCreate,
      },
      {
        name: 'models',
        summary: 'List video models and their prices',
        load: async () => (await import('./media/models.ts')).mediaModels('video'),
      },
      ...mediaVerbs('video'),
    ],
  },
];

/** All commands, in the order of the help. The module of a command is loaded only when that command is called. */
export const tree: readonly CommandNode[] = [
  {
    name: 'tts',
    summary: 'Speak text into a file, a pipe or a player',
    load: async () => (await import('./tts/tts.ts')).tts,
  },
  {
    name: 'jobs',
    summary: 'Create, list, wait for and download speech jobs',
    fallback: 'list',
    children: [
      {
        name: 'create',
        summary: 'Create a speech job',
        load: async () => (await import('./jobs/create.ts')).jobsCreate,
      },
      {
        name: 'list',
        summary: 'List speech jobs',
        load: async () => (await import('./jobs/list.ts')).jobsList,
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('./jobs/get.ts')).jobsGet,
      },
      {
        name: 'wait',
        summary: 'Wait for jobs and save their audio',
        load: async () => (await import('./jobs/wait.ts')).jobsWait,
      },
      {
        name: 'download',
        summary: "Download a job's audio, or one segment",
        load: async () => (await import('./jobs/download.ts')).jobsDownload,
      },
    ],
  },
  {
    name: 'batch',
    summary: 'Speak many texts; run again to resume',
    load: async () => (await import('./batch/batch.ts')).batch,
  },
  {
    name: 'script',
    summary: 'Turn a script into a recording, with a voice per speaker',
    load: async () => (await import('./script/script.ts')).script,
  },
  {
    name: 'live',
    summary: 'Speak text while it is being written',
    itself: async () => (await import('./live/live.ts')).live,
    children: [
      {
        name: 'capabilities',
        summary: 'Show models and limits of realtime speech',
        load: async () => (await import('./live/capabilities.ts')).liveCapabilities,
      },
      {
        name: 'ticket',
        summary: 'Print a ticket that lets a web page use realtime speech',
        load: async () => (await import('./live/ticket.ts')).liveTicket,
      },
      {
        name: 'status',
        summary: 'Show the state of a realtime request',
        load: async () => (await import('./live/status.ts')).liveStatus,
      },
      {
        name: 'segment',
        summary: 'Download the audio of one segment',
        load: async () => (await import('./live/segment.ts')).liveSegment,
      },
    ],
  },
  {
    name: 'text',
    summary: 'Show the text that would be sent and billed',
    load: async () => (await import('./text/text.ts')).text,
  },
  ...voiceCommands,
  ...mediaCommands,
  {
    name: 'models',
    summary: 'List models and show their limits and controls',
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
    summary: 'Show or change the account profile',
    fallback: 'get',
    children: [
      {
        name: 'get',
        summary: 'Show tier, credits and quota',
        load: async () => (await import('./profile/get.ts')).profileGet,
      },
      {
        name: 'set',
        summary: 'Set the webhook URL',
        load: async () => (await import('./profile/set.ts')).profileSet,
      },
    ],
  },
  {
    name: 'captions',
    summary: 'Write subtitles from timings, or check subtitles',
    load: async () => (await import('./captions/captions.ts')).captions,
  },
  {
    name: 'align',
    summary: 'Write captions for a recording and its text',
    load: async () => (await import('./align/align.ts')).align,
  },
  {
    name: 'inspect',
    summary: 'Measure an audio file: length, loudness, silence',
    load: async () => (await import('./inspect/inspect.ts')).inspect,
  },
  {
    name: 'recover',
    summary: 'Recover billed results that were not delivered',
    load: async () => (await import('./recover/recover.ts')).recoverCommand,
  },
  {
    name: 'auth',
    summary: 'Log in, log out and list accounts',
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
        summary: 'Show the service and API key in use',
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
        summary: 'List settings and where they come from',
        load: async () => (await import('./config/list.ts')).configList,
      },
      {
        name: 'path',
        summary: 'Print the path of the settings file',
        load: async () => (await import('./config/path.ts')).configPath,
      },
    ],
  },
  {
    name: 'api',
    summary: 'Make any API call',
    load: async () => (await import('./api/api.ts')).api,
  },
  {
    name: 'serve',
    summary: 'Run the embedded service for other programs',
    load: async () => (await import('./serve/serve.ts')).serve,
  },
  {
    name: 'engine',
    summary: 'Add, list, test, stop and remove speech engines',
    fallback: 'list',
    children: [
      {
        name: 'add',
        summary: 'Install hibari, kokoro, piper or espeak-ng, or your engine',
        load: async () => (await import('./engine/add.ts')).engineAdd,
      },
      {
        name: 'list',
        summary: 'List installed engines',
        load: async () => (await import('./engine/list.ts')).engineList,
      },
      {
        name: 'remove',
        summary: 'Remove an engine',
        load: async () => (await import('./engine/remove.ts')).engineRemove,
      },
      {
        name: 'test',
        summary: 'Test an engine against the engine protocol',
        load: async () => (await import('./engine/test.ts')).engineTest,
      },
      {
        name: 'stop',
        summary: 'Stop engine processes that foley keeps running',
        load: async () => (await import('./engine/stop.ts')).engineStop,
      },
    ],
  },
  {
    name: 'doctor',
    summary: 'Check the installation and suggest fixes',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  {
    name: 'completion',
    summary: 'Set up shell completion',
    children: [
      {
        name: 'bash',
        summary: 'Print the completion script for bash',
        load: async () => (await import('./completion/print.ts')).completionFor('bash'),
      },
      {
        name: 'zsh',
        summary: 'Print the completion script for zsh',
        load: async () => (await import('./completion/print.ts')).completionFor('zsh'),
      },
      {
        name: 'fish',
        summary: 'Print the completion script for fish',
        load: async () => (await import('./completion/print.ts')).completionFor('fish'),
      },
      {
        name: 'powershell',
        summary: 'Print the completion script for PowerShell',
        load: async () => (await import('./completion/print.ts')).completionFor('powershell'),
      },
      {
        name: 'install',
        summary: 'Install the completion script for your shell',
        load: async () => (await import('./completion/install.ts')).completionInstall,
      },
    ],
  },
  {
    name: 'help',
    summary: 'Show the help of a command, or a topic',
    children: [
      {
        name: 'exit-codes',
        summary: 'Show what the exit codes mean',
        load: async () => (await import('./help/exit-codes.ts')).exitCodes,
      },
      {
        name: 'flags',
        summary: 'Show the global flags',
        load: async () => (await import('./help/flags.ts')).globalFlags,
      },
      {
        name: 'man',
        summary: 'Show the manual page of a command',
        load: async () => (await import('./help/man.ts')).man,
      },
    ],
  },
];
