import { SignedAudioQuery } from '../../contract/schemas/job.ts';
import { requireQuery } from '../http/query.ts';
import { readMediaFile } from '../media/files/media-file-records.ts';
import { ServiceError } from '../service-error.ts';
import type { Handler } from './call.ts';
import { storedFileAnswer } from './stored-audio.ts';

/** `GET /api/open/media/files/{fileId}`: what the address of a result leads to; it needs no key (ours). */
export const getMediaFile: Handler = async ({ request, parameters }, { links, media, store }) => {
  const { download, expires, signature } = requireQuery(request.url, SignedAudioQuery);
  const { fileId = '' } = parameters;
  if (!links.isGood({ taskId: fileId, download: false }, { expires, signature })) {
    const message = 'This link was not given by this service, or it has expired; ask for a new one';
    throw new ServiceError('ERR_FORBIDDEN', message);
  }
  const record = store.read((db) => readMediaFile(db, fileId));
  const file = record && (await media.folder.find(record.folder, record.name));
  if (record === undefined || file === undefined) {
    throw new ServiceError('ERR_MEDIA_NOT_FOUND', 'The file is gone');
  }
  const [extension = ''] = /\.\w+$/.exec(record.name) ?? [];
  const { contentType } = record;
  const isAttachment = download === '1';
  const name = `${fileId}${extension}`;
  return storedFileAnswer(file, { request, contentType, name, isAttachment });
};
