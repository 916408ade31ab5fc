import type { StreamedBody } from '../api/request.ts';

/** The same body, of which it is told how much was handed on; each attempt begins at 0 again. */
export function watchedBody(body: StreamedBody, onSent: (bytes: number) => void): StreamedBody {
  return {
    ...body,
    async *open() {
      let sent = 0;
      onSent(sent);
      for await (const chunk of body.open()) {
        // Before it is handed on: of what is not counted yet the service can have nothing.
        sent += chunk.length;
        onSent(sent);
        yield chunk;
      }
    },
  };
}
