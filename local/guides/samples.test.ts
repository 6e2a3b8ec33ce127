// The samples of all pages send the same request in each language.
import { execFile, execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { requestOfHash } from "../../dashboard/new-job/state.ts";
import { fileFolder, startServer, untilEnd } from "../../test/fixtures.ts";
import { ROOT } from "../home/constants.ts";
import { renderGuide } from "./render-guide.ts";
import { requestOf, SAMPLES } from "./samples.ts";

const run = promisify(execFile);
const folder = fileFolder();
/** As `requests`, which is not everywhere. */
const REQUESTS = `import base64, json, urllib.request
class Response: pass
def send(method, url, auth=None, headers={}, json_body=None):
    request = urllib.request.Request(url, method=method, headers=headers)
    if auth: request.add_header("authorization", "Basic " + base64.b64encode(":".join(auth).encode()).decode())
    data = None if json_body is None else json.dumps(json_body).encode()
    response = Response()
    response.text = urllib.request.urlopen(request, data).read().decode()
    return response
get, post, put, patch, delete = [
    (lambda method: lambda url, json=None, **options: send(method, url, json_body=json, **options))(name)
    for name in ["GET", "POST", "PUT", "PATCH", "DELETE"]]
`;

const server = untilEnd(
  await startServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { authorization, "x-name": name } = request.headers;
    const seen = { method: request.method, url: request.url, authorization, name, body: body && JSON.parse(body) };
    response.end(JSON.stringify(seen));
  }),
);
writeFileSync(join(folder, "requests.py"), REQUESTS);

const COMMANDS = [
  ["a body", `curl -u $API_KEY: "$API/v2/jobs?dry_run=1" -d '{\n  "a": "it\\u0027s {b}", "c": [true, null, 1.5] }'`],
  ["no body", "curl -u $API_KEY: $API/v2/jobs/$ID"],
  ["a method", "curl -u $API_KEY: -X DELETE $API/v2/templates/web"],
  ["headers", 'curl -X POST $API/v2/nodes -H "Authorization: Bearer $API_KEY" \\\n  -H "X-Name: a b"'],
] as const;

const PROGRAMS = { curl: ["bash", "sh"], TypeScript: ["node", "mjs"], Python: ["python3", "py"], PHP: ["php", "php"] };

const isInstalled = (program: string): boolean => {
  try {
    return execFileSync(program, ["--version"]).length > 0;
  } catch {
    return false;
  }
};

/** The request that a sample sends, as the server sees it. */
async function sent(language: keyof typeof PROGRAMS, text: string): Promise<unknown> {
  const [program = "", extension] = PROGRAMS[language];
  const file = join(folder, `sample.${extension}`);
  writeFileSync(file, language === "PHP" ? `<?php\n${text}` : text);
  const env = { ...process.env, API: server.origin, API_KEY: "k-1", ID: "3cl" };
  return JSON.parse((await run(program === "node" ? process.execPath : program, [file], { env })).stdout);
}

describe.each(COMMANDS)("a command with %s", (_, command) => {
  it.each(["TypeScript", "Python", "PHP"] as const)(
    "sends the same request in %s, where it is installed",
    async (language) => {
      const request = requestOf(command);
      if (request === null) throw new Error("not a request");
      const text = SAMPLES[language]?.(request) ?? "";
      expect(text).toContain("v2/");
      if (isInstalled(PROGRAMS[language][0] ?? "") && isInstalled("curl"))
        expect(await sent(language, text)).toEqual(await sent("curl", command));
    },
  );
});

it.each(["curl -N $API/v2/events", "curl $API -d @job.json", "curl $A\ncurl $B", "npm start", "curl -d '{' $API"])(
  "leaves %s as it is",
  (command) => expect(requestOf(command)).toBeNull(),
);

it("opens the first job of the quick start in the form of a new job, without its credentials", () => {
  const { body } = renderGuide("quick-start", readFileSync(join(ROOT, "docs/quick-start.md"), "utf8"), new Set());
  const [, hash = ""] = /href="\/dashboard\/new(#[^"]+)"/.exec(body) ?? [];
  const request = requestOfHash(hash);
  expect(request).toMatchObject({ outputs: { "mp4:720p": { path: "video/720p.mp4" } } });
  expect(JSON.stringify(request)).not.toContain("secret_access_key");
});
