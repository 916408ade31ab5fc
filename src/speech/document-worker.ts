// Entry point of a worker thread that reads a large document or lexicon, or applies a lexicon: only a thread can be stopped
// while it computes.

import { parentPort, workerData } from 'node:worker_threads';
import { decodeMarkup } from '../text/formats/decode-markup.ts';
import { DocumentError } from '../text/formats/document-error.ts';
import { TextEncodingError } from '../text/decode.ts';
import { readDocument } from '../text/formats/read-document.ts';
import { readLexicon } from '../text/formats/read-lexicon.ts';
import { Lexicon } from '../text/lexicon.ts';
import type { ThreadReply, ThreadTask } from './document-thread.ts';

if (parentPort === null) throw new Error('This file runs as a worker thread only.');
const port = parentPort;
const task: ThreadTask = workerData;
void run().then((reply) => port.postMessage(reply));

async function run(): Promise<ThreadReply> {
  const notices: string[] = [];
  try {
    if (task.kind === 'lexicon') {
      return { kind: 'lexicon', entries: await readLexicon(decodeMarkup(task.bytes)) };
    }
    if (task.kind === 'replacement') {
      return { kind: 'replacement', spoken: new Lexicon(task.entries).apply(task.source) };
    }
    const { bytes, code, format, mayNotice } = task;
    const onNotice = mayNotice ? (sentence: string) => notices.push(sentence) : undefined;
    const parts = await readDocument(format, bytes, code, onNotice);
    return { kind: 'document', parts, notices };
  } catch (error) {
    if (error instanceof DocumentError) {
      const { hint, line, message: problem } = error;
      return { kind: 'problem', problem, hint, line };
    }
    if (!(error instanceof TextEncodingError)) throw error;
    const { byte, byteOffset, fault, line } = error;
    return { kind: 'encoding', fault, byteOffset, line, byte };
  }
}
