/// <reference lib="dom" />
// The dashboard of a running system in a real browser, signed in by a one-time link.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { launchChromium } from "../players/chromium.ts";
import type { SharedStack } from "../stack.ts";

declare global {
  interface Window {
    axe: typeof axe;
    reportViolation(directive: string, blocked: string, detail: string): void;
  }
}

export type Visit = {
  /** Signs in with the account's API key, or as the operator for this account (default). */
  readonly as?: "client" | "operator";
  /** Path below /dashboard; `/` by default. */
  readonly path?: string;
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  readonly reducedMotion?: boolean;
};

export type DashboardBrowser = {
  readonly browser: Browser;
  /** For example `http://127.0.0.1:8787/dashboard`. */
  readonly url: string;
  /** Opens a page, which is closed after the test, in a new context of the browser, and waits for its title. */
  open(visit?: Visit): Promise<Page>;
  /** A one-time link with the rights of the API key or of the operator. */
  link(as?: "client" | "operator"): Promise<string>;
  /** Problems in any page so far: policy violations, script errors, and requests to other hosts except for images. */
  readonly complaints: string[];
  close(): Promise<void>;
};

/** The dashboard of a system that already runs. Requests to hosts other than `alsoAllowed` are complaints. */
export async function openDashboard(
  stack: Pick<SharedStack, "api" | "apiKey" | "adminToken">,
  alsoAllowed: readonly string[] = [],
): Promise<DashboardBrowser> {
  const browser = await launchChromium();
  const { origin } = new URL(stack.api);
  const complaints: string[] = [];
  const allowed = new Set([origin, ...alsoAllowed]);
  let operators: ReturnType<typeof signIn> | undefined;
  const open = async (visit: Visit = {}): Promise<Page> => {
    const { as = "operator", path = "/" } = visit;
    const session = (as === "operator" && operators) || signIn(browser, await newLink(stack, as));
    if (as === "operator") operators = session;
    const context = await browser.newContext({ ...contextOptions(visit), storageState: await session });
    // Otherwise the page would go on reading the progress of jobs.
    onTestFinished(() => context.close());
    await listen(context, allowed, complaints);
    const page = await context.newPage();
    await page.goto(`${origin}/dashboard${path === "/" ? "" : path}`);
    await page.locator(".rail").waitFor();
    await page.locator("main h1, main h2").first().waitFor();
    return page;
  };
  const close = (): Promise<void> => browser.close();
  return { browser, url: `${origin}/dashboard`, open, link: (as) => newLink(stack, as), complaints, close };
}

/**
 * Follows a one-time link; returns the session. Pages of the operator share one, because a visit of the list of jobs
 * takes a second.
 */
async function signIn(browser: Browser, link: string): Promise<Awaited<ReturnType<BrowserContext["storageState"]>>> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  // Links of an account ask first.
  const answer = page.getByRole("dialog").getByRole("button", { name: /^Sign in as / });
  const rail = page.locator(".rail");
  await answer.or(rail).first().waitFor();
  if (await answer.isVisible()) await answer.click();
  await rail.waitFor();
  const session = await context.storageState();
  await context.close();
  return session;
}

const contextOptions = ({ width = 1280, height = 800, theme = "light", reducedMotion }: Visit) =>
  ({
    viewport: { width, height },
    colorScheme: theme,
    ...(reducedMotion ? { reducedMotion: "reduce" } : {}),
    permissions: ["clipboard-read", "clipboard-write"],
    // Makes numbers and times equal on every machine.
    timezoneId: "UTC",
  }) satisfies BrowserContextOptions;

async function newLink(
  { api, apiKey, adminToken }: Pick<SharedStack, "api" | "apiKey" | "adminToken">,
  as: Visit["as"] = "operator",
): Promise<string> {
  const basic = { authorization: `Basic ${btoa(`${apiKey}:`)}` };
  const account = as === "operator" ? await accountOf(api, basic) : undefined;
  const response = await fetch(`${api}/session/links`, {
    method: "POST",
    headers: as === "operator" ? { authorization: `Bearer ${adminToken}` } : basic,
    body: JSON.stringify({ account }),
  });
  const body = (await response.json()) as { url?: string; message?: string };
  if (body.url === undefined) throw new Error(`No link: ${response.status} ${body.message}`);
  return body.url;
}

/** The id of the key's account. */
async function accountOf(api: string, headers: Record<string, string>): Promise<string | undefined> {
  const response = await fetch(`${api}/session`, { method: "POST", headers });
  const { account } = (await response.json()) as { account: { id: string } | null };
  return account?.id;
}

async function listen(context: BrowserContext, allowed: ReadonlySet<string>, complaints: string[]): Promise<void> {
  await context.exposeFunction("reportViolation", (directive: string, blocked: string, detail: string) => {
    // The port of another test's storage may by now belong to a server that redirects to a host which is blocked.
    const isOnLoopback = directive === "img-src" && blocked.startsWith("http://127.0.0.1:");
    if (isOnLoopback && !allowed.has(new URL(blocked).origin)) return;
    complaints.push(`policy: ${directive} ${blocked} ${detail}`);
  });
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event;
      // Chromium itself adds styles when it merges edited lines. The policy blocks them.
      if (effectiveDirective === "style-src-attr" && !sourceFile) return;
      window.reportViolation(effectiveDirective, blockedURI, `at ${sourceFile}:${lineNumber} ${sample}`);
    });
  });
  context.on("weberror", (error) => complaints.push(`script: ${error.error().stack ?? error.error().message}`));
  context.on("request", (request) => {
    // Thumbnails come from the storages of jobs, which other tests have created.
    if (request.resourceType() === "image") return;
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && !allowed.has(origin)) complaints.push(`other host: ${request.url()}`);
  });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The problems that axe finds on the page: rules and elements. Evaluated code is exempt from the page's policy. */
export async function accessibilityProblems(page: Pick<Page, "evaluate">): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(
        ({ target, failureSummary }) => `${id}: ${target.join(" ")} ${failureSummary?.replaceAll(/\s+/g, " ")}`,
      ),
    );
  });
}

/** Horizontal scroll range of the page, in pixels. */
export const sidewaysPixels = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth));

/** The text in an editor for JSON that shows all its lines. */
export async function editorText(editor: Locator): Promise<string> {
  await editor.waitFor();
  return (await editor.locator(".cm-line").allTextContents()).join("\n");
}
