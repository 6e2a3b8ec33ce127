// The end of a deploy: creates the first account, and shows the operator the next steps.
import { messageOf } from "#shared/log.ts";
import { CopraAdmin } from "../../client/admin.ts";
import { type Access, type Deployed, ensureAccess, isReachable } from "./first-access.ts";
import { type Service, STATE_FILE } from "./state.ts";

export type Opening = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  readonly stateFile?: string;
  /** Sends requests to the deployed service. */
  readonly fetch?: typeof fetch;
};

/** Creates the first account and node token, and prints the next steps. Returns the updated state of the service. */
export async function openService(opening: Opening, service: Service & { url: string }): Promise<Service> {
  const { env, print, stateFile, fetch = globalThis.fetch } = opening;
  const { url } = service;
  const token = env.COPRA_ADMIN_TOKEN || service.secrets.ADMIN_TOKEN || env.ADMIN_TOKEN;
  // The new secrets would be in the log of the build.
  if (env.CI || env.WORKERS_CI) return service;
  if (token === undefined) {
    print(`${url} is deployed. With COPRA_ADMIN_TOKEN, the next deploy also creates the first account and node token`);
    return service;
  }
  if (!(await isReachable({ url, fetch }))) {
    print(`${url} does not answer yet: run npm run deploy again in a minute, for the first account and node token`);
    return service;
  }
  const deployed: Deployed = { url, token, fetch };
  try {
    const { access, isNew } = await ensureAccess(deployed, service.access);
    for (const line of isNew ? await newLines(deployed, access, stateFile) : [`${url}/dashboard`]) print(line);
    return { ...service, access };
  } catch (error) {
    print(`${url} is deployed, but does not accept the admin token that is known here: ${messageOf(error)}`);
    return service;
  }
}

/** Lines that are shown once, with all data that the operator needs. */
async function newLines(deployed: Deployed, access: Access, stateFile = STATE_FILE): Promise<string[]> {
  const { url } = deployed;
  // New access data is shown even without a link.
  const link = await new CopraAdmin(deployed).dashboardLink(access.accountId).catch(() => null);
  return [
    "",
    `Dashboard     ${link?.url ?? `${url}/dashboard`}${link === null ? "" : "   (once, within a minute)"}`,
    ...(access.apiKey === undefined ? [] : [`API key       ${access.apiKey}`]),
    ...(access.webhookSecret === undefined ? [] : [`Webhooks      ${access.webhookSecret}`]),
    ...(access.nodeToken === undefined ? [] : [`Node token    ${access.nodeToken}`]),
    `These and the admin token are in ${stateFile}, which only you can read.`,
    "",
    "On each machine that encodes, with the node token in a file that only its user can read:",
    `  npm run node -- --url ${url} --token-file <file>`,
    "A first job, from here:",
    `  npm run copra -- login ${url}`,
    "  npm run copra -- encode video.mov --to mp4:720p -o out",
  ];
}
