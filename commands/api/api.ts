import { Option } from 'commander';
import { readJson } from '../../src/api/client.ts';
import type { RequestSpec, RequestBody } from '../../src/api/request.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { jqOption } from '../../src/cli/flags/lists.ts';
import { listOption } from '../../src/cli/flags/values.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { parseField, isPublic, isRealtime, planCall, retryRules } from './plan-call.ts';
import type { PlannedCall, ApiFlags } from './plan-call.ts';
import type { Payload } from './request-body.ts';
import { readPayload } from './request-body.ts';
import { parseJson, isRecord } from '../../src/api/response.ts';

export const definition: CommandDefinition<ApiFlags> = {
  configure(command) {
    command
      .description(
        'Makes any API call, with the key, retries and errors of every command. Writes the response ' +
          'body to stdout unchanged, and errors to stderr.',
      )
      .usage('<method> <path> [options]')
      .argument('[method]', 'GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS')
      .argument('[path]', 'path below the base URL, beginning with /')
      .addOption(listOption('-F, --field <key=value>', FIELD, (given) => parseField('-F', given)))
      .addOption(listOption('-f, --raw-field <key=value>', RAW, (given) => parseField('-f', given)))
      .addOption(new Option('--body <file>', 'send this file as the body; - is stdin'))
      .addOption(listOption('-H, --header <name:value>', 'set a header', (given) => given))
      .addOption(new Option('--form', 'send the fields as a form, with @file as a file upload'))
      .addOption(new Option('--include', 'print the status line and the headers first'))
      .addOption(jqOption())
      .addHelpText('after', EXAMPLES);
  },
  async run(context, { args, options }) {
    const call = planCall(args, options, context.globals.apiKeyFile);
    const { globals, io } = context;
    if (globals.json === true && call.include) {
      throw usageFailure(
        '--include does not work with --json or --jq: it prints headers, which are not JSON',
        'Leave --json and --jq out.',
      );
    }
    const payload = await readPayload(context, call);
    if ((io.stdoutIsTerminal || globals.json === true) && returnsAudio(call, payload.body)) {
      throw audioFailure(globals.json === true);
    }
    return send(context, call, payload);
  },
};

const FIELD = 'add a typed field: true, false, null, numbers; @file reads a file';
const RAW = 'add a string field';

const EXAMPLES = `
Fields become a JSON body, or the query of a GET. Keys may nest: a[b]=1, a[]=2.

Examples:
  $ foley api GET /api/open/v3/voices -F pageSize=5
  $ foley api POST /api/open/v3/speech/tts -H "Idempotency-Key: a1" \\
      -F text=Hello -F voiceId=… -F speed=0.9 > hello.mp3
  $ foley api POST /api/open/v3/speech/tts --body speech.json > hello.mp3`;

async function send(context: Context, call: PlannedCall, payload: Payload): Promise<CommandResult> {
  const { globals, io } = context;
  io.requireStdout();
  const spec = specOf(context, call, payload);
  const { client } = await context.connect({ publicOnly: isPublic(call.method, call.path) });
  const response = await client.send(spec);
  if (globals.json === true) {
    const isEmpty = response.framing === 'none' || response.contentLength === 0;
    const data = isEmpty ? null : await readJson(response);
    return { data, billed: spec.billed ? 'unknown' : 'no' };
  }
  const { showResponse } = await import('./show-response.ts');
  const billed = spec.billed ? 'unknown' : 'no';
  await showResponse(response, io, { include: call.include, billed });
  return {};
}

function specOf({ signal }: Context, call: PlannedCall, payload: Payload): RequestSpec {
  const { accept = '*/*', contentType, others, requestId } = call.headers;
  return {
    ...payload,
    method: call.method,
    host: isRealtime(call.path) ? 'realtime' : 'base',
    public: isPublic(call.method, call.path),
    accept,
    headers: contentType === undefined ? others : { ...others, 'content-type': contentType },
    requestId,
    signal,
    ...retryRules(call),
  };
}

function audioFailure(json: boolean): Error {
  const hint = 'Redirect stdout to a file: foley api … > speech.mp3';
  return json
    ? usageFailure('the response is audio, which is not JSON', 'Leave --json and --jq out.')
    : usageFailure('the response is audio, which a terminal cannot show', hint);
}

const SPEECH_PATHS = /^(\/api\/open\/v[123]\/speech\/tts|\/v1\/tts|\/v1\/audio\/speech)$/;
const AUDIO_FILE = /\/audio$/;

/**
 * Returns true if a successful response must contain audio. A v1 speech request with `cache: true` returns JSON
 * instead.
 */
export function returnsAudio(
  { method, path }: PlannedCall,
  body: RequestBody | undefined,
): boolean {
  if (method === 'GET') return AUDIO_FILE.test(path);
  return method === 'POST' && SPEECH_PATHS.test(path) && !requestsCache(path, body);
}

function requestsCache(path: string, body: RequestBody | undefined): boolean {
  if (body === undefined || !path.includes('/v1/speech/')) return false;
  const value = parseJson(Buffer.from(body.bytes).toString('utf8'));
  return isRecord(value) && value['cache'] === true;
}
