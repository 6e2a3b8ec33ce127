// A request as texts to copy. Secrets are placeholders.
import { shellQuote } from "../../../shared/shell-quote.ts";
import { type Json, KEPT, masked } from "../secrets.ts";
import { isObject } from "./edit.ts";

/** The JSON, in which secrets are `<name>`. */
export const printJson = (request: Json): string => JSON.stringify(withPlaceholders(request), null, 2);

function withPlaceholders(request: Json): unknown {
  const walk = (value: unknown, name: string): unknown => {
    if (value === KEPT) return `<${name}>`;
    if (Array.isArray(value)) return value.map((entry) => walk(entry, name));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, walk(member, key)]));
  };
  return walk(masked(request), "");
}

/** A word that is not a line of the text. */
const endWord = (text: string): string => (text.split("\n").includes("JOB") ? "END_OF_JOB" : "JOB");
const hereDocument = (text: string): string => `<<'${endWord(text)}'\n${text}\n${endWord(text)}`;

export function printCurl(request: Json, service: string): string {
  return `curl -u "$COPRA_KEY:" ${shellQuote(`${service}/v2/jobs`)} -d @- ${hereDocument(printJson(request))}`;
}

/** The source is a local file if it was uploaded. */
export function printCli(request: Json, file: string | null): string {
  const { input, ...rest } = request;
  if (!isObject(input) || !("upload" in input)) return `copra encode -f - ${hereDocument(printJson(request))}`;
  return `copra encode ${shellQuote(file ?? "video.mov")} -f - ${hereDocument(printJson(rest))}`;
}

/** The program reads secrets from the environment. */
export function printTypeScript(request: Json, service: string): string {
  const body = printJson(request)
    .replaceAll(/"<(\w+)>"/g, (_, name: string) => `process.env.${name.toUpperCase()} ?? ""`)
    .replaceAll(/^( *)"([A-Za-z_]\w*)":/gm, "$1$2:");
  return [
    'import { Copra } from "@copra/client";',
    "",
    `const copra = new Copra({ url: ${JSON.stringify(service)}, key: process.env.COPRA_KEY });`,
    `const job = await copra.jobs.create(${body});`,
    "const done = await copra.jobs.wait(job.id);",
  ].join("\n");
}
