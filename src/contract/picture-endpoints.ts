import type { Endpoint } from './endpoint.ts';

/** Endpoints of images and videos (docs/api/media.md). */
export const PICTURE_ENDPOINTS = [
  {
    id: 'getMediaModels',
    method: 'GET',
    path: '/api/open/v1/media/models',
    surface: 'http-v1',
    public: false,
    section: '4.8',
  },
  {
    id: 'createImageJob',
    method: 'POST',
    path: '/api/open/v1/media/images/jobs',
    surface: 'http-v1',
    public: false,
    section: '4.8',
    repeat: 'replay',
    isKeyRequired: true,
  },
  {
    id: 'getImageJob',
    method: 'GET',
    path: '/api/open/v1/media/images/jobs/{jobId}',
    surface: 'http-v1',
    public: false,
    section: '4.8',
  },
  {
    id: 'createVideoJob',
    method: 'POST',
    path: '/api/open/v1/media/videos/jobs',
    surface: 'http-v1',
    public: false,
    section: '4.8',
    repeat: 'replay',
    isKeyRequired: true,
  },
  {
    id: 'getVideoJob',
    method: 'GET',
    path: '/api/open/v1/media/videos/jobs/{jobId}',
    surface: 'http-v1',
    public: false,
    section: '4.8',
  },
] as const satisfies readonly Endpoint[];
