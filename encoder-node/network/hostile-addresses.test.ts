import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { ALLOW_SETTINGS, HOSTILE_ADDRESSES, isRefused } from "#shared/testing/hostile-addresses.ts";
import { outcome, READERS, REFUSED, startTrap, WRITERS } from "../testing/processes/network-clients.ts";

const trap = await startTrap();
beforeEach(() => {
  trap.requests = 0;
});
afterAll(() => trap.close());

const CLIENTS = Object.entries({ ...READERS, ...WRITERS });

it.each(CLIENTS)("%s: an allowed address receives a request", async (_, client) => {
  await outcome(client, `http://127.0.0.1:${trap.port}/`, "loopback", trap.folder);
  await outcome(client, `http://localhost:${trap.port}/`, "all", trap.folder);
  expect(trap.requests).toBeGreaterThanOrEqual(2);
});

/** The URL itself, and the same URL with the port of this test's server, if it is a URL. */
const variants = (url: string): string[] => {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return [url];
  parsed.port = String(trap.port);
  parsed.username = "user";
  parsed.password = "hunter2";
  return [url, parsed.href];
};

describe.each(ALLOW_SETTINGS)("under %s", (allow) => {
  const urls = HOSTILE_ADDRESSES.filter((row) => isRefused(row, allow)).flatMap(([url]) => variants(url));

  it.each(Object.entries(READERS))("%s: every hostile address is rejected without a request", async (_, client) => {
    const outcomes = await Promise.all(urls.map((url) => outcome(client, url, allow, trap.folder)));
    expect(outcomes.filter((outcome) => !REFUSED.test(outcome ?? ""))).toEqual([]);
    expect(outcomes.join()).not.toContain("hunter2");
    expect(trap.requests).toBe(0);
  });

  // The Worker builds the URLs of writers from checked endpoints: only hosts can be hostile.
  const hosts = [...new Set(urls.filter((url) => /^https?:/.test(url) && URL.canParse(url)))];
  it.each(Object.entries(WRITERS))("%s: every hostile host is rejected without a request", async (_, client) => {
    expect(hosts.length).toBeGreaterThan(60);
    const outcomes = await Promise.all(hosts.map((url) => outcome(client, url, allow, trap.folder)));
    expect(outcomes.filter((outcome) => !REFUSED.test(outcome ?? ""))).toEqual([]);
    expect(outcomes.join()).not.toContain("hunter2");
    expect(trap.requests).toBe(0);
  });
});

const LOCATIONS = [
  "http://10.0.0.1/",
  "https://10.0.0.1/",
  "https:10.0.0.1",
  "//10.0.0.1/",
  "\\\\10.0.0.1\\",
  "/\\10.0.0.1/",
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166/",
  "//0xa9fea9fe/",
  "http://[::ffff:10.0.0.1]/",
  "http://[fd00:ec2::254]/",
  "http://media.example.com@10.0.0.1/",
  "//media.example.com:80@10.0.0.1\\@media.example.com/",
  `http://0.0.0.0:${trap.port}/`,
  `http://[::]:${trap.port}/`,
  "http://nas.local/",
  "http://metadata.google.internal/",
  "http://",
  "file:///etc/passwd",
  "ftp://127.0.0.1/a.mp4",
  "gopher://127.0.0.1/",
  "data:video/mp4;base64,AAAA",
  "unix:/var/run/docker.sock",
];

describe.each([301, 302, 303, 307, 308])("redirects by %d", (status) => {
  const urls = LOCATIONS.flatMap((location) => [
    trap.redirect(status, location),
    trap.redirect(302, trap.redirect(status, location)),
  ]);

  it.each(Object.entries(READERS))("%s: follows redirects to no hostile address", async (_, client) => {
    const outcomes = await Promise.all(urls.map((url) => outcome(client, url, "loopback", trap.folder)));
    expect(outcomes.filter((outcome) => !REFUSED.test(outcome ?? ""))).toEqual([]);
    expect(trap.requests).toBe(3 * LOCATIONS.length);
  });

  it.each(Object.entries(WRITERS))("%s: follows no redirects", async (_, client) => {
    const url = trap.redirect(status, `http://127.0.0.1:${trap.port}/elsewhere`);
    expect(await outcome(client, url, "loopback", trap.folder)).toMatch(/^storage_/);
    expect(trap.requests).toBe(1);
  });
});
