import { Option } from 'commander';
import { createBrowserTicket } from '../../src/api/resources/realtime.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display, toJson } from '../../src/text/display.ts';
import type { ProtocolFlag } from './flags.ts';
import { protocolOption } from './flags.ts';

interface TicketFlags extends ProtocolFlag {
  readonly origin: string;
}

/** Defines the command `foley live ticket --origin URL` (docs/api/authentication.md, rule 6). */
export const definition: CommandDefinition<TicketFlags> = {
  configure(command) {
    command
      .description(
        'Prints a ticket with which a web page of one origin opens one conversation. It expires soon and ' +
          'works once; the page never sees the API key.',
      )
      .addOption(
        new Option(
          '--origin <url>',
          'origin of the page, such as https://app.example.com (required)',
        )
          .argParser(parseOrigin)
          .makeOptionMandatory(),
      )
      .addOption(protocolOption())
      .addHelpText('after', EXAMPLES);
  },
  async run(context, { options: { origin, protocol = 'v3' } }) {
    const { client } = await context.connect();
    const { signal } = context;
    const { raw, value } = await createBrowserTicket(client, protocol, origin, signal);
    const { ticket } = value;
    return { data: raw, human: () => (ticket === undefined ? toJson(raw, true) : display(ticket)) };
  },
};

const EXAMPLES = `
Examples:
  $ foley live ticket --origin https://app.example.com
  $ foley live ticket --origin https://app.example.com --protocol v2 --json`;

function parseOrigin(given: string): string {
  const isOrigin = URL.canParse(given) && new URL(given).origin === given.replace(/\/$/, '');
  if (isOrigin && given.startsWith('http')) return new URL(given).origin;
  throw usageFailure(
    `--origin is "${given}"; it takes the origin of a web page`,
    'Give scheme, host and port without a path, such as https://app.example.com.',
  );
}
