#!/usr/bin/env bash
# One would guess: a server of the Model Context Protocol that agrees to the revision 2025-03-26 answers JSON-RPC batches,
# which that revision says all implementations must receive, or refuses them with an error.
# @modelcontextprotocol/server 2.4.0 agrees to 2025-03-26 on stdio, and drops a batch without a word: neither of its two
# requests gets an answer or an error, and the request after it is answered.
# It matters to foley: a client of 2025 that batches waits for a tool of `foley mcp` until its own limit. docs/guides/agents.md
# says so, since the server cannot see what the SDK dropped.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >npm.log
npm install --silent --ignore-scripts @modelcontextprotocol/server@2.4.0 >>npm.log
cat >server.mjs <<'CODE'
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
serveStdio(() => new McpServer({ name: 'server', version: '1.0.0' }));
CODE
printf '%s\n' \
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"client","version":"1.0.0"}}}' \
  '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
  '[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]' \
  '{"jsonrpc":"2.0","id":4,"method":"ping"}' | node server.mjs >answers.txt
cat answers.txt
grep -q '"protocolVersion":"2025-03-26"' answers.txt
[ "$(grep -o '"id":[0-9]' answers.txt | tr '\n' ' ')" = '"id":1 "id":4 ' ]
