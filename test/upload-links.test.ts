// Files that pages send to upload links: with tus-js-client, Uppy and @copra/client in a browser, over a bad network.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { type UploadLink as Link, UploadLink } from "#shared/api/upload-links.ts";
import { upload } from "../client/index.ts";
import { fileSource } from "../client/node.ts";
import { ROOT } from "../local/home/constants.ts";
import { fileFolder } from "./fixtures.ts";
import { makeClip } from "./media.ts";
import { launchChromium } from "./players/chromium.ts";
import { startUnreliableProxy, type UnreliableProxy } from "./services/unreliable-proxy.ts";
import { startUploadSite } from "./services/upload-site.ts";
import { sharedStack } from "./stack.ts";

const stack = sharedStack();
const MIB = 2 ** 20;
const CHUNK = 5 * MIB;
const folder = fileFolder();
let proxy: UnreliableProxy;
let site: Awaited<ReturnType<typeof startUploadSite>>;
let browser: Browser;
/** A clip, and bytes that readers skip, so that it has three full parts and a short part. */
let file: string;
let bytes: Buffer;

/** A box of MP4 that readers skip (ISO/IEC 14496-12, 8.1.2). */
function freeBox(sizeBytes: number): Buffer {
  const box = Buffer.alloc(sizeBytes, 7);
  box.writeUInt32BE(sizeBytes, 0);
  box.write("free", 4, "latin1");
  return box;
}

beforeAll(async () => {
  bytes = Buffer.concat([readFileSync(await makeClip("ntsc.mp4", folder)), freeBox(16 * MIB)]);
  file = join(folder, "holiday.mp4");
  writeFileSync(file, bytes);
  [proxy, site, browser] = await Promise.all([
    startUnreliableProxy(new URL(stack.api).origin),
    startUploadSite(),
    launchChromium(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
  await proxy?.close();
});

/** A link whose requests pass the proxy. */
async function newLink(changes: object = {}): Promise<Link> {
  const body = { max_size: 100 * MIB, origins: [site.origin], ...changes };
  const created = await stack.request("POST", "/upload-links", body);
  const link = UploadLink.parse(created.body);
  const through = (url: string): string => proxy.origin + new URL(url).pathname;
  return { ...link, url: through(link.url), tus_url: through(link.tus_url) };
}
const linkNow = async ({ id }: Link): Promise<Link> =>
  UploadLink.parse((await stack.request("GET", `/upload-links/${id}`)).body);

/** The stored file. */
async function storedBytes(link: Link): Promise<Buffer> {
  const { upload: received } = await linkNow(link);
  const { body } = await stack.request("GET", `/uploads/${received?.id}`);
  return Buffer.from(await (await fetch((body as { url: string }).url)).arrayBuffer());
}

async function openPage(context?: BrowserContext): Promise<Page> {
  const page = await (context ?? browser).newPage();
  onTestFinished(() => page.close());
  await choose(page);
  return page;
}

/** Loads the page, and chooses the file. */
async function choose(page: Page, path = file): Promise<void> {
  await page.goto(site.origin);
  await page.waitForFunction("window.ready");
  await page.setInputFiles("input", path);
}

const sendTus = (page: Page, { tus_url }: Link, options: object = { chunkSize: CHUNK }): Promise<string> =>
  page.evaluate(`window.tus(${JSON.stringify(tus_url)}, ${JSON.stringify(options)})`);

/** Breaks in the middle of parts, before the first response, and before the response to a whole part. */
const BREAKS = [
  { afterBytes: 1, lose: "response" },
  { afterBytes: 2 * MIB, lose: "request" },
  { afterBytes: 7 * MIB + 64 * 1024, lose: "response" },
  { afterBytes: 9 * MIB, lose: "request" },
  { afterBytes: 15 * MIB, lose: "request" },
] as const;

it("tus-js-client completes a file over a network that breaks off, and its job runs once", async () => {
  const job = {
    storage: stack.storage,
    outputs: { "jpg:160x": { path: "links/a.jpg" } },
    notification: { type: "none" },
  };
  const link = await newLink({ job });
  const page = await openPage();
  proxy.plan(BREAKS);
  expect(await sendTus(page, link)).toBe("done");
  expect(proxy.breaks()).toBe(BREAKS.length);
  expect((await storedBytes(link)).equals(bytes)).toBe(true);
  const ended = await linkNow(link);
  expect(ended).toMatchObject({ status: "completed", upload: { name: "holiday.mp4", size: bytes.length } });
  expect((await stack.waitForJob(String(ended.job))).status).toBe("job.completed");
  // The same file again: nothing is sent, and no other job starts.
  expect(await sendTus(page, link)).toBe("done");
  expect((await linkNow(link)).job).toBe(ended.job);
});

it("Uppy completes a file over a network that breaks off", async () => {
  const link = await newLink();
  const page = await openPage();
  proxy.plan(BREAKS);
  expect(await page.evaluate(`window.uppy(${JSON.stringify(link.tus_url)}, ${CHUNK})`)).toBe("done");
  expect(proxy.breaks()).toBe(BREAKS.length);
  expect((await storedBytes(link)).equals(bytes)).toBe(true);
});

it("@copra/client completes a file from a page, over a network that breaks off", async () => {
  const link = await newLink();
  const page = await openPage();
  proxy.plan(BREAKS.slice(0, 4));
  expect(await page.evaluate(`window.plain(${JSON.stringify(link.url)})`)).toBe("done");
  expect(proxy.breaks()).toBe(4);
  expect((await storedBytes(link)).equals(bytes)).toBe(true);
});

it("@copra/client sends a file from Node without an API key", async () => {
  const link = await newLink({ origins: [] });
  proxy.plan(BREAKS.slice(0, 4));
  const sent: number[] = [];
  const done = await upload(await fileSource(file), link, { onProgress: (_, count) => sent.push(count) });
  expect([done.status, done.name, sent.at(-1)]).toEqual(["completed", "holiday.mp4", bytes.length]);
  expect(proxy.breaks()).toBe(4);
  expect((await storedBytes(link)).equals(bytes)).toBe(true);
});

it("continues after a reload of the page", async () => {
  const link = await newLink();
  const page = await openPage();
  proxy.plan([]);
  // The page is reloaded while its third part is sent.
  void sendTus(page, link).catch(() => undefined);
  await page.waitForFunction(`window.sentBytes > ${2 * CHUNK}`);
  await choose(page);
  const before = (await linkNow(link)).upload?.id;
  expect(before).toBeDefined();
  expect(await sendTus(page, link)).toBe("done");
  expect((await linkNow(link)).upload?.id).toBe(before);
  expect((await storedBytes(link)).equals(bytes)).toBe(true);
});

it("stores one file when two tabs send it at the same time", async () => {
  const link = await newLink();
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const tabs = [await openPage(context), await openPage(context)];
  proxy.plan([]);
  const sent = await Promise.all(tabs.map((page) => sendTus(page, link)));
  expect(sent).toContain("done");
  expect((await linkNow(link)).status).toBe("completed");
  expect((await storedBytes(link)).equals(bytes)).toBe(true);
});

it("examples/upload-page.ts sends a video from its page, and shows the job", async () => {
  const program = spawn(process.execPath, [join(ROOT, "examples", "upload-page.ts")], {
    env: {
      ...process.env,
      COPRA_URL: new URL(stack.api).origin,
      COPRA_KEY: stack.apiKey,
      COPRA_STORAGE: JSON.stringify(stack.storage),
      COPRA_WEBHOOK: "http://127.0.0.1:9/",
      PORT: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void program.kill());
  const [line] = await once(createInterface(program.stdout), "line");
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(String(line).replace("open ", ""));
  await page.setInputFiles("input", file);
  await page.waitForFunction("document.querySelector('output').value !== ''");
  const message = await page.evaluate<string>("document.querySelector('output').value");
  expect(message).toMatch(/^The job is \w{14}$/);
  expect((await stack.waitForJob(message.replace("The job is ", ""))).status).toBe("job.completed");
});

it("shows the page why a link refuses its file", async () => {
  const other = join(folder, "other.mp4");
  writeFileSync(other, bytes.subarray(0, CHUNK + 1));
  const page = await openPage();
  proxy.plan([]);
  const once = { chunkSize: CHUNK, retryDelays: [] };
  const used = await newLink();
  await choose(page, other);
  expect(await sendTus(page, used)).toBe("done");
  await choose(page);
  expect(await sendTus(page, used, once)).toBe("409");
  expect(await sendTus(page, await newLink({ max_size: CHUNK }), once)).toBe("413");
  const revoked = await newLink();
  await stack.request("DELETE", `/upload-links/${revoked.id}`);
  expect(await sendTus(page, revoked, once)).toBe("410");
  expect(await page.evaluate(`window.plain(${JSON.stringify(revoked.url)})`)).toBe("upload_link_ended 410");
  expect(await sendTus(page, await newLink({ origins: ["https://app.example.com"] }), once)).toMatch(
    /failed to|error/i,
  );
});

it("names the right part size to the page, and continues with it", async () => {
  const link = await newLink();
  const page = await openPage();
  proxy.plan([]);
  expect(await sendTus(page, link, { chunkSize: MIB, retryDelays: [] })).toBe("400");
  expect(await sendTus(page, link)).toBe("done");
  expect((await linkNow(link)).upload?.part_size).toBe(CHUNK);
});
