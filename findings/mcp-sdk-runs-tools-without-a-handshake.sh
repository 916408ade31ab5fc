#!/usr/bin/env bash
# One would guess: a server on stdio refuses a tool call that comes before `initialize`, and names an unknown argument in a
# JSON-RPC error.
# @modelcontextprotocol/server 2.4.0 answers a call that is the very first message: it is taken for one of a client of 2025,
# without a name, a version or capabilities. Wrong arguments are no error of the protocol either, but a result whose
# `isError` is true; only an unknown tool is an error (-32602).
# It matters to foley: a budget or a folder may not be set up when the handshake is over, because there may be none, and
# what foley says of wrong arguments comes as a result, too.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --silent --ignore-scripts @modelcontextprotocol/server@2.4.0 >>npm.log
cat >server.mjs <<'CODE'
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
serveStdio(() => {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  const properties = { n: { type: 'integer' } };
  const inputSchema = fromJsonSchema({ type: 'object', properties, required: ['n'], additionalProperties: false });
  server.registerTool('double', { inputSchema }, ({ n }) => ({ content: [{ type: 'text', text: String(2 * n) }] }));
  return server;
});
CODE
call() { printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$1" "$2" | node server.mjs; }
call double '{"n":2}' | tee right.txt
call double '{"n":2,"m":1}' | tee wrong.txt
call triple '{"n":2}' | tee unknown.txt
grep -q '"text":"4"' right.txt
grep -q '"isError":true' wrong.txt
grep -q '"error":{"code":-32602' unknown.txt
