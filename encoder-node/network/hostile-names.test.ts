import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { HOSTILE_NAMES } from "#shared/testing/hostile-addresses.ts";
import { startNameServer } from "../testing/processes/name-server.ts";
import { outcome, READERS, REFUSED, startTrap, WRITERS } from "../testing/processes/network-clients.ts";

const trap = await startTrap();
const names = new Map(HOSTILE_NAMES);
const nameServer = await startNameServer((name, lookups) => {
  // DNS rebinding: the first answer is allowed, the second is not.
  if (name === "rebinds.example.com") return lookups === 0 ? ["127.0.0.1"] : ["10.0.0.1"];
  if (name === "mixed.example.com") return ["10.0.0.1", "169.254.169.254", "127.0.0.1", "fd00:ec2::254"];
  return names.get(name) ?? [];
});
beforeEach(() => {
  trap.requests = 0;
  nameServer.lookups.length = 0;
});
afterAll(() => {
  nameServer.close();
  return trap.close();
});

const at = (name: string): string => `http://user:hunter2@${name}:${trap.port}/`;

describe.each(Object.entries({ ...READERS, ...WRITERS }))("%s", (_, client) => {
  it("connects to no name with internal addresses", async () => {
    const outcomes = await Promise.all([...names.keys()].map((name) => outcome(client, at(name), "none", trap.folder)));
    expect(outcomes.filter((outcome) => !REFUSED.test(outcome ?? ""))).toEqual([]);
    expect(outcomes.join()).not.toContain("hunter2");
    expect(nameServer.lookups.toSorted()).toEqual([...names.keys()].toSorted());
    expect(trap.requests).toBe(0);
  });

  it("connects to the address that was checked, and checks each connection", async () => {
    await outcome(client, at("rebinds.example.com"), "loopback", trap.folder);
    const requests = trap.requests;
    expect(requests).toBeGreaterThan(0);
    expect(await outcome(client, at("rebinds.example.com"), "loopback", trap.folder)).toMatch(REFUSED);
    expect(nameServer.lookups.length).toBe(2);
    expect(trap.requests).toBe(requests);
  });

  it("connects to the allowed addresses of a name only", async () => {
    await outcome(client, at("mixed.example.com"), "loopback", trap.folder);
    expect(trap.requests).toBeGreaterThan(0);
    expect(await outcome(client, at("mixed.example.com"), "none", trap.folder)).toMatch(REFUSED);
  });
});

it.each(Object.entries(READERS))("%s: is not redirected to a name with internal addresses", async (_, client) => {
  const url = trap.redirect(307, "http://metadata.example.com/latest/meta-data/");
  expect(await outcome(client, url, "loopback", trap.folder)).toMatch(REFUSED);
});
