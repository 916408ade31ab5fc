import type { Branch } from '../../src/cli/command.ts';

/** The commands of lip sync, dubbing, images and videos (contract, section 8). */
export const mediaCommands: readonly Branch[] = [
  {
    name: 'lipsync',
    summary: 'Put a sound to a video, in time with the lips',
    fallback: 'list',
    children: [
      {
        name: 'create',
        summary: 'Have a sound put to a video',
        load: async () => (await import('../lipsync/create.ts')).lipsyncCreate,
      },
      {
        name: 'list',
        summary: 'List your lip-sync jobs',
        load: async () => (await import('../lipsync/list.ts')).lipsyncList,
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('../media/get.ts')).mediaGet('lipsync'),
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save what they make',
        load: async () => (await import('../media/wait.ts')).mediaWait('lipsync'),
      },
      {
        name: 'download',
        summary: 'Save the video of a job',
        load: async () => (await import('../media/download.ts')).mediaDownload('lipsync'),
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
        load: async () => (await import('../dub/create.ts')).dubCreate,
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('../media/get.ts')).mediaGet('dub'),
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save what they make',
        load: async () => (await import('../media/wait.ts')).mediaWait('dub'),
      },
      {
        name: 'download',
        summary: 'Save the video of a job',
        load: async () => (await import('../media/download.ts')).mediaDownload('dub'),
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
        load: async () => (await import('../image/create.ts')).imageCreate,
      },
      {
        name: 'models',
        summary: 'List the models, with what they cost',
        load: async () => (await import('../media/models.ts')).mediaModels('image'),
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('../media/get.ts')).mediaGet('image'),
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save what they make',
        load: async () => (await import('../media/wait.ts')).mediaWait('image'),
      },
      {
        name: 'download',
        summary: 'Save the picture of a job',
        load: async () => (await import('../media/download.ts')).mediaDownload('image'),
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
        load: async () => (await import('../video/create.ts')).videoCreate,
      },
      {
        name: 'models',
        summary: 'List the models, with what they cost',
        load: async () => (await import('../media/models.ts')).mediaModels('video'),
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('../media/get.ts')).mediaGet('video'),
      },
      {
        name: 'wait',
        summary: 'Wait for jobs, and save what they make',
        load: async () => (await import('../media/wait.ts')).mediaWait('video'),
      },
      {
        name: 'download',
        summary: 'Save the video of a job',
        load: async () => (await import('../media/download.ts')).mediaDownload('video'),
      },
    ],
  },
];
