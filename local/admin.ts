// npm run admin: the operator's commands, for any control plane; by default for the local system.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "#shared/log.ts";
import { callOf } from "./admin-call.ts";
import { readSettings } from "./home/settings.ts";

const USAGE = `Usage: npm run admin -- <command> [--url <control plane> --token <admin token>]

  accounts                     list accounts
  accounts create <name>       create one; shows its API key and webhook secret, once
  accounts limit <account> <n> how many unfinished jobs it may have; "default" resets it
  accounts max-running <account> <n>
                               how many of its tasks may run at a time; "default" allows any number
  accounts weight <account> <n>
                               its share of the nodes while other accounts wait, 1 to 1000; 1 for new accounts
  accounts rotate-secret <account>
                               create a new webhook secret; the old one also signs for 24 hours
  reseal                       encrypt all stored secrets with the first of SEALING_KEYS
  keys <account>               list an account's API keys
  keys create <account>        create another; shown once
  keys revoke <key id>         revoke it; requests with it get 401
  node-tokens                  list the tokens of nodes
  node-tokens create <name> [--pool <pool>] [--label <label> …]
                               create one; shown once. Its nodes are in this pool only, and have these labels
  node-tokens revoke <id>      revoke it; its nodes are disconnected at once
  nodes                        list nodes
  nodes show <node>            one node with its capabilities and leases
  nodes cordon <node>          give it no more work; what it runs goes on
  nodes drain <node>           the same, and the node ends when its work is done
  nodes uncordon <node>        give it work again
  autoscale                    for each pool, how many tasks run and wait

Without --url (COPRA_URL) and --token (COPRA_ADMIN_TOKEN) the command goes to the local system of npm start.`;

function target(values: { url?: string; token?: string }): { api: string; token: string } {
  const url = values.url ?? process.env.COPRA_URL;
  const token = values.token ?? process.env.COPRA_ADMIN_TOKEN;
  if (url && token) return { api: `${url.replace(/\/+$/, "")}/v2`, token };
  if (url || token) throw new Error("Give both --url and --token (COPRA_URL and COPRA_ADMIN_TOKEN), or neither");
  const { home } = readSettings(process.env);
  try {
    const { api, adminToken } = JSON.parse(readFileSync(join(home, "stack.json"), "utf8"));
    return { api, token: adminToken };
  } catch {
    throw new Error(`No local system runs in ${home}. Start it with npm start, or give --url and --token`);
  }
}

async function main(): Promise<void> {
  const options = {
    url: { type: "string" },
    token: { type: "string" },
    pool: { type: "string" },
    label: { type: "string", multiple: true },
    help: { type: "boolean", short: "h" },
  } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) return console.log(USAGE);
  const call = callOf(positionals, values);
  if (!call) throw new Error(USAGE);
  const { api, token } = target(values);
  for (let { body } = call; ; ) {
    const response = await fetch(`${api}${call.path}`, {
      method: call.method,
      headers: { authorization: `Bearer ${token}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = JSON.parse(await response.text());
    if (!response.ok) throw new Error(`${answer.message} (${answer.error_code})`);
    console.log(JSON.stringify(answer, null, 2));
    if (!call.paginated || answer.next_cursor === null) return;
    body = { cursor: answer.next_cursor };
  }
}

main().catch((error: unknown) => {
  console.error(messageOf(error));
  process.exitCode = 1;
});
