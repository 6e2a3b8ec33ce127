import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { HOSTILE_NAMES } from "#shared/testing/hostile-addresses.ts";
import { startNameServer } from "../../testing/name-server.ts";
import { outcome, READERS, REFUSED, startTrap, WRITERS } from "../../testing/network-clients.ts";

const trap = await startTrap();
const names = new Map(HOSTILE_NAMES);
const nameServer = await startNameServer((name, asked) => {
  // Rebinding: one answer to be checked, another to be used.
  if (name === "rebinds.example.com") return asked === 0 ? ["127.0.0.1"] : ["10.0.0.1"];
  if (name === "mixed.example.com") return ["10.0.0.1", "169.254.169.254", "127.0.0.1", "fd00:ec2::254"];
  return names.get(name) ?? [];
});
beforeEach(() => {
  trap.asked = 0;
  nameServer.asked.length = 0;
});
afterAll(() => {
  nameServer.close();
  return trap.close();
});

const at = (name: string): string => `http://user:hunter2@${name}:${trap.port}/`;

describe.each(Object.entries({ ...READERS, ...WRITERS }))("%s", (_, client) => {
  it("reaches no name whose addresses lie inside", async () => {
    const said = await Promise.all([...names.keys()].map((name) => outcome(client, at(name), "none", trap.folder)));
    expect(said.filter((words) => !REFUSED.test(words ?? ""))).toEqual([]);
    expect(said.join()).not.toContain("hunter2");
    expect(nameServer.asked.toSorted()).toEqual([...names.keys()].toSorted());
    expect(trap.asked).toBe(0);
  });

  it("connects to the address that was checked, and checks each connection", async () => {
    await outcome(client, at("rebinds.example.com"), "loopback", trap.folder);
    const asked = trap.asked;
    expect(asked).toBeGreaterThan(0);
    expect(await outcome(client, at("rebinds.example.com"), "loopback", trap.folder)).toMatch(REFUSED);
    expect(nameServer.asked.length).toBe(2);
    expect(trap.asked).toBe(asked);
  });

  it("reaches of all addresses of a name the allowed ones only", async () => {
    await outcome(client, at("mixed.example.com"), "loopback", trap.folder);
    expect(trap.asked).toBeGreaterThan(0);
    expect(await outcome(client, at("mixed.example.com"), "none", trap.folder)).toMatch(REFUSED);
  });
});

it.each(Object.entries(READERS))("%s: is redirected to no name whose addresses lie inside", async (_, client) => {
  const url = trap.redirect(307, "http://metadata.example.com/latest/meta-data/");
  expect(await outcome(client, url, "loopback", trap.folder)).toMatch(REFUSED);
});
