import type { Branch, CommandDefinition, CommandNode, Leaf } from '../src/cli/command.ts';
import type { ShellName } from './completion/shells.ts';

/** All commands, in the order of the help. The module of a command is loaded only when that command is called. */
export const tree: readonly CommandNode[] = [
  verb('tts', 'Speak text into a file, a pipe or a player', () => import('./tts/tts.ts')),
  noun('jobs', 'Create, list, wait for and download speech jobs', { fallback: 'list' }, [
    verb('create', 'Create a speech job', () => import('./jobs/create.ts')),
    verb('list', 'List speech jobs', () => import('./jobs/list.ts')),
    verb('get', 'Show one job', () => import('./jobs/get.ts')),
    verb('wait', 'Wait for jobs and save their audio', () => import('./jobs/wait.ts')),
    verb('download', "Download a job's audio, or one segment", () => import('./jobs/download.ts')),
  ]),
  verb('batch', 'Speak many texts; run again to resume', () => import('./batch/batch.ts')),
  verb(
    'script',
    'Turn a script into a recording, with a voice per speaker',
    () => import('./script/script.ts'),
  ),
  noun('live', 'Speak text while it is being written', { itself: () => import('./live/live.ts') }, [
    verb(
      'capabilities',
      'Show models and limits of realtime speech',
      () => import('./live/capabilities.ts'),
    ),
    verb(
      'ticket',
      'Print a ticket that lets a web page use realtime speech',
      () => import('./live/ticket.ts'),
    ),
    verb('status', 'Show the state of a realtime request', () => import('./live/status.ts')),
    verb('segment', 'Download the audio of one segment', () => import('./live/segment.ts')),
  ]),
  verb('text', 'Show the text that would be sent and billed', () => import('./text/text.ts')),
  noun('voices', 'List, preview, create and delete voices', { fallback: 'list' }, [
    verb('list', 'List the voices', () => import('./voices/list.ts')),
    verb('get', 'Show one voice', () => import('./voices/get.ts')),
    {
      ...verb('create', 'Create a voice from recordings', () => import('./voices/create.ts')),
      aliases: ['clone'],
    },
    verb('delete', 'Delete one of your own voices', () => import('./voices/delete.ts')),
    verb('preview', 'Speak a sample line with each voice', () => import('./voices/preview.ts')),
  ]),
  noun('design', 'Design a voice from a description', {}, [
    verb(
      'create',
      'Create candidate voices from a description',
      () => import('./design/create.ts'),
    ),
    verb('preview', "Download a candidate's preview", () => import('./design/preview.ts')),
    verb(
      'save',
      'Save a candidate of a design as a permanent voice',
      () => import('./design/save.ts'),
    ),
  ]),
  noun('lipsync', 'Sync the lips of a video to audio', { fallback: 'list' }, [
    verb('create', 'Create a lip-sync job', () => import('./lipsync/create.ts')),
    verb('list', 'List lip-sync jobs', () => import('./lipsync/list.ts')),
    ...mediaVerbs('lipsync'),
  ]),
  noun('dub', 'Dub a video with a spoken text and synced lips', {}, [
    verb('create', 'Create a dubbing job', () => import('./dub/create.ts')),
    ...mediaVerbs('dub'),
  ]),
  noun('image', 'Create images from descriptions', {}, [
    verb('create', 'Create an image', () => import('./image/create.ts')),
    verb('models', 'List image models and their prices', mediaModels('image')),
    ...mediaVerbs('image'),
  ]),
  noun('video', 'Create videos from descriptions', {}, [
    verb('create', 'Create a video', () => import('./video/create.ts')),
    verb('models', 'List video models and their prices', mediaModels('video')),
    ...mediaVerbs('video'),
  ]),
  noun('models', 'List models and show their limits and controls', { fallback: 'list' }, [
    verb('list', 'List the models', () => import('./models/list.ts')),
    verb('get', 'Show one model', () => import('./models/get.ts')),
  ]),
  noun('profile', 'Show or change the account profile', { fallback: 'get' }, [
    verb('get', 'Show tier, credits and API quota', () => import('./profile/get.ts')),
    verb('set', 'Set the webhook URL', () => import('./profile/set.ts')),
  ]),
  verb(
    'captions',
    'Write subtitles from timings, or check subtitles',
    () => import('./captions/captions.ts'),
  ),
  verb('align', 'Write captions for a recording and its text', () => import('./align/align.ts')),
  verb(
    'inspect',
    'Measure an audio file: length, loudness, silence',
    () => import('./inspect/inspect.ts'),
  ),
  verb(
    'recover',
    'Recover billed results that were not delivered',
    () => import('./recover/recover.ts'),
  ),
  noun('reuse', 'List and remove audio that --reuse stored', { fallback: 'list' }, [
    verb('list', 'List the stored audio', () => import('./reuse/list.ts')),
    verb(
      'prune',
      'Remove damaged files, and audio above the maximum size',
      () => import('./reuse/prune.ts'),
    ),
    verb('clear', 'Remove all stored audio', () => import('./reuse/clear.ts')),
  ]),
  noun('auth', 'Log in, log out and list accounts', { fallback: 'list' }, [
    verb('login', 'Store an account: a service and its API key', () => import('./auth/login.ts')),
    verb('logout', 'Remove a stored account', () => import('./auth/logout.ts')),
    verb('status', 'Show the service and API key in use', () => import('./auth/status.ts')),
    verb('list', 'List the stored accounts', () => import('./auth/list.ts')),
  ]),
  noun('config', 'Read and change settings', { fallback: 'list' }, [
    verb('get', 'Print the value of a setting', () => import('./config/get.ts')),
    verb('set', 'Set a setting', () => import('./config/set.ts')),
    verb('unset', 'Remove a setting', () => import('./config/unset.ts')),
    verb('list', 'List settings and where they come from', () => import('./config/list.ts')),
    verb('path', 'Print the path of the settings file', () => import('./config/path.ts')),
  ]),
  verb('api', 'Make any API call', () => import('./api/api.ts')),
  verb('serve', 'Run the embedded service for other programs', () => import('./serve/serve.ts')),
  verb('mcp', 'Serve tools to AI agents (MCP)', () => import('./mcp/mcp.ts')),
  noun('engine', 'Add, list, test, stop and remove speech engines', { fallback: 'list' }, [
    verb(
      'add',
      'Install hibari, kokoro, piper or espeak-ng, or your engine',
      () => import('./engine/add.ts'),
    ),
    verb('list', 'List installed engines', () => import('./engine/list.ts')),
    verb('remove', 'Remove an engine', () => import('./engine/remove.ts')),
    verb('test', 'Test an engine against the engine protocol', () => import('./engine/test.ts')),
    verb(
      'stop',
      'Stop engine processes that foley keeps running',
      () => import('./engine/stop.ts'),
    ),
  ]),
  verb('doctor', 'Check the installation and suggest fixes', () => import('./doctor/doctor.ts')),
  noun('completion', 'Set up shell completion', {}, [
    verb('bash', 'Print the completion script for bash', completionFor('bash')),
    verb('zsh', 'Print the completion script for zsh', completionFor('zsh')),
    verb('fish', 'Print the completion script for fish', completionFor('fish')),
    verb('powershell', 'Print the completion script for PowerShell', completionFor('powershell')),
    verb(
      'install',
      'Install the completion script for your shell',
      () => import('./completion/install.ts'),
    ),
  ]),
  noun('help', 'Show the help of a command, or a topic', {}, [
    verb('exit-codes', 'Show what the exit codes mean', () => import('./help/exit-codes.ts')),
    verb('flags', 'Show the global flags', () => import('./help/flags.ts')),
    verb('man', 'Show the manual page of a command', () => import('./help/man.ts')),
    verb('schema', 'Print the JSON Schema of a command', () => import('./help/schema.ts')),
    verb('skill', 'Print a skill for AI agents', () => import('./help/skill.ts')),
  ]),
];

type Module = () => Promise<{ readonly definition: CommandDefinition }>;

function verb(name: string, summary: string, load: Module): Leaf {
  return { name, summary, load: async () => (await load()).definition };
}

function noun(
  name: string,
  summary: string,
  { fallback, itself }: { readonly fallback?: string; readonly itself?: Module },
  children: readonly Leaf[],
): Branch {
  return {
    name,
    summary,
    ...(fallback === undefined ? {} : { fallback }),
    ...(itself === undefined ? {} : { itself: async () => (await itself()).definition }),
    children,
  };
}

type MediaNoun = 'dub' | 'image' | 'lipsync' | 'video';

function mediaVerbs(kind: MediaNoun): readonly Leaf[] {
  const result = kind === 'image' ? 'image' : 'video';
  return [
    verb('get', 'Show one job', async () => {
      const { mediaGet } = await import('./media/get.ts');
      return { definition: mediaGet(kind) };
    }),
    verb('wait', 'Wait for jobs and save their results', async () => {
      const { mediaWait } = await import('./media/wait.ts');
      return { definition: mediaWait(kind) };
    }),
    verb('download', `Download a job's ${result}`, async () => {
      const { mediaDownload } = await import('./media/download.ts');
      return { definition: mediaDownload(kind) };
    }),
  ];
}

function mediaModels(kind: 'image' | 'video'): Module {
  return async () => {
    const models = await import('./media/models.ts');
    return { definition: models.mediaModels(kind) };
  };
}

function completionFor(shell: ShellName): Module {
  return async () => {
    const print = await import('./completion/print.ts');
    return { definition: print.completionFor(shell) };
  };
}
