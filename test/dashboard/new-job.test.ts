/// <reference lib="dom" />
// The page of a new job on a running system: the plan that follows typing, uploads, and imported requests.
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sampleClip } from "../../local/demo/sample.ts";
import { ZENCODER_JOB } from "../../shared/convert/testing/examples.ts";
import { sharedStack } from "../stack.ts";
import { accessibilityProblems, type DashboardBrowser, editorText, openDashboard, sidewaysPixels } from "./browser.ts";

const stack = sharedStack();
/** The sample clip that the service offers for first jobs. */
const SAMPLE = new URL("/assets/sample.mp4", stack.api).href;
let dashboard: DashboardBrowser;
beforeAll(async () => {
  dashboard = await openDashboard(stack);
});
afterAll(async () => {
  await dashboard?.close();
  expect(dashboard?.complaints).toEqual([]);
});

const planOf = (page: Page) => page.getByRole("region", { name: "Planned outputs" });
/** Opens the list of outputs with their formats. */
const openAdvanced = (page: Page) => page.getByText("Advanced", { exact: true }).click();
const goal = (page: Page, name: string) => page.getByRole("checkbox", { name });
const field = (page: Page, name: string) => page.locator(`[data-field="${name}"]`);

it("makes a ladder in three steps: a goal, a URL and Send", async () => {
  const page = await dashboard.open({ path: "/new", theme: "dark" });
  await goal(page, "Streaming that adapts").click();
  await page.getByLabel("URL", { exact: true }).fill(SAMPLE);
  await page.getByText("Public, deleted after a day").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("button", { name: "Send the job" }).click();
  await page.waitForURL(/\/dashboard\/jobs\/\w+$/);
  const job = await stack.waitForJob(page.url().split("/").at(-1) ?? "");
  expect(job).toMatchObject({ status: "job.completed" });
  const [playlist] = job.outputs.find(({ type }) => type === "httpstream")?.urls ?? [];
  const master = await (await fetch(typeof playlist === "object" ? playlist.url : "")).text();
  // The sample has 360 lines: no rendition is larger.
  const sizes = new Set([...master.matchAll(/RESOLUTION=(\d+x\d+)/g)].map(([, size]) => size));
  expect([...sizes]).toEqual(["426x240", "640x360"]);
});

it("plans 300 ms after typing, shows errors at their fields, and keeps all but secrets in the address", async () => {
  const page = await dashboard.open({ path: "/new" });
  await page.getByRole("radio", { name: "720p" }).check();
  await planOf(page).getByText("mp4:1280x720::maxrate=3000k").waitFor();
  const quality = page.getByRole("slider", { name: "Quality" });
  const total = quality.locator("..").getByRole("status");
  expect(await total.textContent()).toBe("≈ 14.8 MB");
  await quality.press("ArrowRight");
  await planOf(page).getByText("mp4:1280x720::quality=5").waitFor();
  await expect.poll(() => total.textContent()).toBe("≈ 21.8 MB");
  await quality.press("ArrowLeft");
  await openAdvanced(page);
  const format = page.getByLabel("Format", { exact: true });
  await format.fill("mp4:72Op");
  const wrong = page.getByText("did you mean `720p`").first();
  await wrong.waitFor();
  expect(await field(page, "outputs.mp4:72Op").getAttribute("aria-invalid")).toBe("true");
  await page.getByRole("button", { name: "Go to the field" }).click();
  expect(await page.evaluate(() => document.activeElement?.getAttribute("data-field"))).toBe("outputs.mp4:72Op");
  expect(await accessibilityProblems(page)).toEqual([]);
  // From here on, use the select lists.
  await format.fill("mp4:480p");
  await page.getByLabel("Size", { exact: true }).selectOption("1080p");
  await page.getByLabel("Rate", { exact: true }).selectOption("quality=4");
  await planOf(page).getByText("mp4:1920x1080::quality=4").waitFor();
  await page.getByLabel("URL", { exact: true }).fill("https://user:hunter2@example.com/a.mov?token=hunter2");
  await page.getByLabel("Where outputs go").selectOption("s3");
  expect(await page.getByText("Public, deleted after a day").count()).toBe(0);
  await page.getByLabel("Secret access key").fill("hunter2");
  await expect.poll(() => page.url()).toContain("'service':'s3'");
  expect(page.url()).not.toContain("hunter2");
  for (const tab of ["JSON", "curl", "TypeScript", "CLI"]) {
    await page.getByRole("tab", { name: tab }).click();
    expect(await page.getByRole("tabpanel").textContent()).not.toContain('"hunter2"');
  }
  await page.reload();
  await expect.poll(() => page.getByLabel("Format", { exact: true }).inputValue()).toBe("mp4:1080p::quality=4");
  expect(await page.getByLabel("URL", { exact: true }).inputValue()).toBe("https://example.com/a.mov");
});

it("edits the renditions of a stream in a table, and shows errors at their rows", async () => {
  const page = await dashboard.open({ path: "/new" });
  await goal(page, "A video for the web").uncheck();
  await goal(page, "Streaming that adapts").check();
  await openAdvanced(page);
  const ladder = page.getByRole("region", { name: "Renditions" });
  const rows = ladder.locator("tbody");
  await expect.poll(() => rows.nth(1).locator(".number").textContent()).toBe("≤ 7.92 MB");
  // The ladder of the service ends at the size of the source.
  expect(await rows.last().locator(".number").textContent()).toBe("–");
  await page.getByRole("button", { name: "Small" }).click();
  await expect.poll(() => page.getByLabel("Rate of rendition 2").inputValue()).toBe("quality=vmaf88");
  await page.getByLabel("Cap of rendition 2").selectOption("maxrate=1500k");
  const down = page.getByRole("button", { name: "Move down: place of rendition 1" });
  await down.press("Enter");
  await expect.poll(() => page.getByLabel("Height of rendition 2").inputValue()).toBe("360p");
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
    .toBe("Move down: place of rendition 2");
  await page.getByRole("button", { name: "Rendition", exact: true }).click();
  await page.getByRole("button", { name: "Remove rendition 3" }).click();
  await page.getByRole("button", { name: "Text of rendition 3" }).click();
  const text = page.getByLabel("Format of rendition 3");
  expect(await text.inputValue()).toBe("mp4:1080p::quality=4");
  await text.fill("webm:1080p");
  await rows.nth(2).getByText("is not supported in streams").waitFor();
  expect(await text.getAttribute("aria-invalid")).toBe("true");
  expect(await accessibilityProblems(page)).toEqual([]);
  await text.fill("mp4:1080p_hevc");
  await expect.poll(() => rows.nth(2).locator(".number").textContent()).toMatch(/MB/);
  await page.getByRole("tab", { name: "JSON" }).click();
  const json = page.getByLabel("Body of POST /v2/jobs");
  const small = ["mp4:720p:96k:quality=vmaf88,maxrate=1500k", "mp4:360p:64k:quality=vmaf85,maxrate=700k"];
  const variants = async () => JSON.parse(await editorText(json)).outputs.httpstream.variants;
  expect(await variants()).toEqual([...small, "mp4:1080p_hevc"]);
  const handles = ladder.locator(".handle");
  await handles.nth(2).dragTo(handles.first());
  await expect.poll(variants).toEqual(["mp4:1080p_hevc", ...small]);
  // Escape ends the drag, not the page.
  await handles.first().hover();
  await page.mouse.down();
  await handles.nth(2).hover();
  await page.keyboard.press("Escape");
  await page.mouse.up();
  expect(await variants()).toEqual(["mp4:1080p_hevc", ...small]);
  await dragByTouch(page, handles.first(), handles.nth(2));
  await expect.poll(variants).toEqual([...small, "mp4:1080p_hevc"]);
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await sidewaysPixels(page)).toBe(0);
});

it("saves a storage, tests it, and sends jobs to it without its keys", async () => {
  const page = await dashboard.open({ path: "/new" });
  await page.getByRole("tab", { name: "JSON" }).click();
  const json = page.getByLabel("Body of POST /v2/jobs");
  const outputs = { "mp4:240p": { path: "saved.mp4" } };
  const notification = { type: "none" };
  await json.fill(JSON.stringify({ input: { url: SAMPLE }, storage: stack.storage, outputs, notification }));
  await page.getByLabel("Save it as").fill("main");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Test it" }).click();
  await page.getByText("Read from web pages: passed").waitFor();
  expect(await page.getByLabel("Where outputs go").inputValue()).toBe("use:main");
  expect(await accessibilityProblems(page)).toEqual([]);
  await json.press("Control+Enter");
  await page.waitForURL(/\/dashboard\/jobs\/\w+$/);
  expect(await stack.waitForJob(page.url().split("/").at(-1) ?? "")).toMatchObject({ status: "job.completed" });
  await page.goto(`${dashboard.url}/new`);
  await page.getByLabel("Where outputs go").selectOption("Saved: main");
  await page.getByLabel("Folder", { exact: true }).fill("other");
  await expect.poll(() => page.url()).toContain("'use':'main'");
});

it("tests, edits, renames and deletes saved storages in the settings, without showing their secrets", async () => {
  await stack.request("PUT", "/storages/archive", stack.storage);
  await stack.request("PUT", "/templates/uses-archive", { storage: { use: "archive" } });
  const page = await dashboard.open({ path: "/settings?tab=storages" });
  const table = page.getByRole("region", { name: "List of saved storages" });
  const row = (name: string) =>
    table.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
  await row("archive").getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("These templates use it: uses-archive").waitFor();
  expect(await dialog.getByLabel("Secret access key").inputValue()).toBe("");
  expect(await accessibilityProblems(page)).toEqual([]);
  await dialog.getByLabel("Bucket", { exact: true }).fill("another");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("its secrets are not used").first().waitFor();
  await dialog.getByLabel("Bucket", { exact: true }).fill((stack.storage as { bucket: string }).bucket);
  await dialog.getByLabel("Name", { exact: true }).fill("movies");
  await dialog.getByLabel("Folder", { exact: true }).fill("movies");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row("movies").getByRole("button", { name: "Test it" }).click();
  await row("movies").getByText("Remove: passed").waitFor();
  expect(await row("archive").count()).toBe(0);
  expect(await accessibilityProblems(page)).toEqual([]);
  const { body } = await stack.request("GET", "/storages/movies");
  expect(body).toMatchObject({ storage: { path: "movies" }, left_out: ["storage.credentials"] });
  await row("movies").getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("movies is deleted").waitFor();
  await row("movies").waitFor({ state: "detached" });
  await stack.request("DELETE", "/templates/uses-archive");
});

it("keeps edited JSON in step with the form", async () => {
  const page = await dashboard.open({ path: "/new" });
  await page.getByRole("tab", { name: "JSON" }).click();
  const json = page.getByLabel("Body of POST /v2/jobs");
  const request = {
    input: { url: "https://example.com/a.mov", extra: 1 },
    storage: { service: "coconut" },
    outputs: { "jpg:320x": [{ path: "a-%02d.jpg", number: 3 }, { path: "b.jpg" }] },
  };
  await json.fill(JSON.stringify(request));
  await expect.poll(() => page.getByLabel("Format", { exact: true }).count()).toBe(2);
  // The service rejects fields that the form does not know. The editor marks them.
  await page.locator(".cm-lintRange-error", { hasText: "extra" }).waitFor();
  expect(await json.getAttribute("aria-invalid")).toBe("true");
  await json.fill(JSON.stringify({ ...request, input: { url: "https://example.com/a.mov" } }));
  await page.getByLabel("Number of images").first().fill("7");
  await expect.poll(async () => JSON.parse(await editorText(json)).outputs["jpg:320x"][0].number).toBe(7);
  await json.fill('{"a"}');
  await page.locator(".cm-lintRange-error", { hasText: "}" }).waitFor();
  await page.getByText(/^Expected ':'/).waitFor();
});

it("completes names and values in the JSON, explains names, and hides secrets when it loses the focus", async () => {
  const page = await dashboard.open({ path: "/new", theme: "dark" });
  await page.getByRole("tab", { name: "JSON" }).click();
  const json = page.getByLabel("Body of POST /v2/jobs");
  await json.fill(" ");
  await json.press("ControlOrMeta+A");
  const choose = async (typed: string, option: RegExp): Promise<void> => {
    await page.keyboard.type(typed);
    // The list follows the typing later: a click could hit another option.
    const matched = page.locator(".cm-completionMatchedText", { hasText: new RegExp(`^${/\w+$/.exec(typed)?.[0]}$`) });
    await page.getByRole("option", { name: option }).filter({ has: matched }).click();
    await page.getByRole("listbox").waitFor({ state: "hidden" });
  };
  await choose('{"st', /^storage/);
  await choose('"ser', /^service/);
  await choose('"az', /^azure$/);
  expect(await editorText(json)).toBe('{"storage": {"service": "azure"}}');
  await choose(', "cred', /^credentials/);
  expect(await accessibilityProblems(page)).toEqual([]);
  await choose('"api', /^api_key/);
  expect(await editorText(json)).toContain('"api_key": ""');
  await page.keyboard.type("hunter2");
  await page.getByText('"api_key"').hover();
  await page.locator(".cm-help").getByText("Access key").waitFor();
  // Tab leaves the editor.
  await page.keyboard.press("Tab");
  await expect.poll(() => editorText(json)).toContain('"api_key": "••••••••"');
  expect(await page.getByLabel("Access key").inputValue()).toBe("hunter2");
  await json.press("ControlOrMeta+Z");
  expect(await editorText(json)).not.toContain("hunter2");
});

it("uploads a dropped file, pauses and resumes, and sends the job", async () => {
  const page = await dashboard.open({ path: "/new" });
  const clip = (await readFile(await sampleClip(stack.home))).toString("base64");
  await page.getByLabel("From", { exact: true }).selectOption("upload");
  let isHeld = true;
  let started = (): void => undefined;
  const uploading = new Promise<void>((resolve) => {
    started = resolve;
  });
  // The first attempt of the part stays pending until the pause.
  await page.route("**/v2/uploads/*/parts/*", async (route) => {
    started();
    if (!isHeld) await route.continue();
  });
  const transfer = await page.evaluateHandle((data) => {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const all = new DataTransfer();
    all.items.add(new File([bytes], "holiday.mp4", { type: "video/mp4" }));
    return all;
  }, clip);
  await page.locator(".drop").dispatchEvent("drop", { dataTransfer: transfer });
  await uploading;
  expect(await page.getByRole("button", { name: "Send the job" }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Pause" }).click();
  isHeld = false;
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("Uploaded", { exact: true }).waitFor();
  // A node has read the file, and the plan is for this file.
  await page.getByText(/^h264 1280 × 720, 29.97 fps · aac 1 ch · 0:10/).waitFor();
  await page.getByText("1280 × 720, 29.97 fps, 0:10", { exact: true }).waitFor();
  await openAdvanced(page);
  await page.getByLabel("Format", { exact: true }).fill("mp4:240p");
  await page.getByRole("button", { name: "Send the job" }).click();
  await page.waitForURL(/\/dashboard\/jobs\/\w+$/);
  const id = page.url().split("/").at(-1) ?? "";
  expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
});

it("reads the source of a URL on request, and plans for it until the URL changes", async () => {
  const page = await dashboard.open({ path: "/new" });
  const url = page.getByLabel("URL", { exact: true });
  await url.fill(SAMPLE);
  await page.getByRole("button", { name: "Read the source" }).click();
  await page.getByText(/^h264 640 × 360, 24 fps · aac 1 ch · 0:06/).waitFor();
  await page.getByText("640 × 360, 24 fps, 0:06", { exact: true }).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await url.fill("https://example.com/other.mov");
  await page.getByText("1920 × 1080, 30 fps, 1:00 (assumed)", { exact: true }).waitFor();
  await url.fill(new URL("/docs", stack.api).href);
  await page.getByRole("button", { name: "Read the source" }).click();
  await page.locator(".read-source").getByText("leads to this service itself, which is no source").waitFor();
});

it("moves a waiting job to the front", async () => {
  const outputs = { "mp4:240p": { path: "a.mp4" } };
  const job = { input: { url: SAMPLE }, outputs, settings: { queue: "nowhere" } };
  const { id: first } = await stack.submit(job);
  const { id } = await stack.submit(job);
  const page = await dashboard.open({ path: `/jobs/${id}` });
  await page.getByText("1 job", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Move to front" }).click();
  await page.getByText("Moved to the front").waitFor();
  await page.getByText("no job", { exact: true }).waitFor();
  for (const each of [id, first]) await stack.request("DELETE", `/jobs/${each}`);
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Jobs" }).click();
  await page.getByRole("heading", { name: "Jobs", level: 1 }).waitFor();
});

it("fills the form from an imported request, and leads to missing fields", async () => {
  const page = await dashboard.open({ path: "/new", theme: "dark" });
  await page.locator("h1").click();
  await page.keyboard.press("p");
  await page.getByLabel(/^Its JSON/).fill(JSON.stringify({ ...ZENCODER_JOB, input: "s3://in-bucket/a.mov" }));
  await page.getByText("Not carried over").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("button", { name: "Use it" }).click();
  await planOf(page).getByText("webm:vp9:x").waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("button", { name: "Send the job" }).click();
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute("data-field")))
    .toBe("input.credentials.access_key_id");
});

it("fits on a phone, with the button to send always in sight", async () => {
  const page = await dashboard.open({ path: "/new", width: 320, height: 640 });
  await goal(page, "Streaming that adapts").check();
  await goal(page, "Only the audio").check();
  await planOf(page).getByText("httpstream").waitFor();
  const isInSight = (button: Element): boolean => {
    const { x, y, width, height } = button.getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2) === button;
  };
  for (const top of [0, 500, 100_000]) {
    await page.evaluate((y) => scrollTo(0, y), top);
    expect(await page.getByRole("button", { name: "Send the job" }).evaluate(isInSight)).toBe(true);
  }
  expect(await sidewaysPixels(page)).toBe(0);
  await openAdvanced(page);
  expect(await sidewaysPixels(page)).toBe(0);
  expect(await accessibilityProblems(page)).toEqual([]);
});

/** Playwright only taps. Chromium itself makes pointer events from these touches. */
async function dragByTouch(page: Page, from: Locator, to: Locator): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const centers = [];
  for (const place of [from, to]) {
    const { x, y, width, height } = (await place.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    centers.push({ x: x + width / 2, y: y + height / 2 });
  }
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: { x: number; y: number }[]) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints });
  await touch("touchStart", centers.slice(0, 1));
  await touch("touchMove", centers.slice(1));
  await touch("touchEnd", []);
}
