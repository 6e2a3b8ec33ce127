// The pages about frameworks: their templates are valid, and the code for Next.js runs.
import { execFileSync } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, transform } from "esbuild";
import { expect, vi } from "vitest";
import { UploadLinkBody } from "#shared/api/upload-links.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { fileFolder, it } from "../../test/fixtures.ts";
import { ROOT } from "../home/constants.ts";

const PAGES = ["rails", "laravel", "nextjs"] as const;
const folder = fileFolder();

/** The code blocks of a page in a language. */
function blocks(page: string, language: string): string[] {
  const text = readFileSync(join(ROOT, "docs", `${page}.md`), "utf8");
  return [...text.matchAll(/```(\w+)\n(.*?)\n```/gs)].flatMap(([, name, code = ""]) =>
    name === language ? [code] : [],
  );
}

it.each(PAGES)("the template on the page %s is a valid job", (page) => {
  const [template = ""] = blocks(page, "json");
  const body = JSON.parse(template.replaceAll("{{ vars.id }}", "42").replaceAll("…", "X"));
  const parsed = parseJobRequest({ ...body, input: { upload: "h2Ks9dQ0aLwE4nRb7TcX" } }, "none");
  expect(parsed.ok ? "" : parsed.error.message).toBe("");
});

const CHECKS = [
  ["rails", "ruby", ["ruby", "-c"]],
  ["laravel", "php", ["php", "-l"]],
] as const;
it.each(CHECKS)("the code on the page %s is valid %s, where the language is installed", (page, language, check) => {
  const [command, option] = check;
  const isInstalled = (): boolean => {
    try {
      return execFileSync(command, ["--version"]).length > 0;
    } catch {
      return false;
    }
  };
  const codes = blocks(page, language);
  expect(codes.length).toBeGreaterThan(2);
  if (!isInstalled()) return;
  for (const [at, code] of codes.entries()) {
    const file = join(folder, `${page}-${at}`);
    writeFileSync(file, code);
    execFileSync(command, [option, file]);
  }
});

/** The handler of a route for Next.js. */
async function routeOf(path: string): Promise<(request: Request) => Promise<Response>> {
  const code = blocks("nextjs", "ts").find((block) => block.startsWith(`// ${path}`)) ?? "";
  const file = join(folder, `${path.replaceAll("/", "-")}.mjs`);
  await build({
    stdin: { contents: code, loader: "ts", resolveDir: ROOT },
    bundle: true,
    format: "esm",
    platform: "neutral",
    outfile: file,
    alias: {
      "@copra/client": join(ROOT, "client", "index.ts"),
      "@copra/client/webhook": join(ROOT, "client", "webhook.ts"),
    },
  });
  return (await import(pathToFileURL(file).href)).POST;
}

it("the page for Next.js is valid TypeScript", async () => {
  const [page = ""] = blocks("nextjs", "tsx");
  expect((await transform(page, { loader: "tsx" })).code).toContain("UploadPage");
});

it("the backend for Next.js creates an upload link", async ({ server }) => {
  const bodies: unknown[] = [];
  server.handle(async (request, response) => {
    bodies.push(JSON.parse(Buffer.concat(await request.toArray()).toString()));
    response.writeHead(201, { "content-type": "application/json" }).end('{"tus_url":"https://copra.example.com/tus"}');
  });
  vi.stubEnv("COPRA_URL", server.origin);
  vi.stubEnv("COPRA_KEY", "k-test");
  vi.stubEnv("APP_ORIGIN", "https://app.example.com");
  const POST = await routeOf("app/api/upload-links/route.ts");
  const response = await POST(new Request("https://app.example.com/api/upload-links", { method: "POST" }));
  expect(await response.json()).toEqual({ id: expect.any(String), tus_url: "https://copra.example.com/tus" });
  expect(UploadLinkBody.parse(bodies[0])).toMatchObject({ origins: ["https://app.example.com"] });
});

it("the webhook for Next.js accepts signed events only", async () => {
  const key = randomBytes(32);
  vi.stubEnv("COPRA_WEBHOOK_SECRET", `whsec_${key.toString("base64")}`);
  const logged = vi.spyOn(console, "log").mockReturnValue(undefined);
  const POST = await routeOf("app/api/copra/route.ts");
  const body = JSON.stringify({ event: "job.completed", data: { outputs: [] } });
  const sent = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", key).update(`msg_1.${sent}.${body}`).digest("base64");
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": sent, "webhook-signature": `v1,${signature}` };
  const url = "https://app.example.com/api/copra?video=42";
  expect((await POST(new Request(url, { method: "POST", headers, body }))).status).toBe(204);
  expect(logged).toHaveBeenCalledWith("42", "job.completed", []);
  expect((await POST(new Request(url, { method: "POST", headers, body: `${body} ` }))).status).toBe(401);
  expect((await POST(new Request(url, { method: "POST", body }))).status).toBe(401);
});
