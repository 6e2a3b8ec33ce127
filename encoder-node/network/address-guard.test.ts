import { request } from "undici";
import { expect, it, test } from "vitest";
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { startServer, untilEnd } from "../../test/fixtures.ts";
import { type Guard, guardedAgent } from "./address-guard.ts";

const server = untilEnd(await startServer((_, response) => response.end("reached")));
const { port } = server;

/** A resolver that gives the next of these answers at each look-up. */
function resolver(...answers: readonly string[][]) {
  const left = [...answers];
  const hosts: string[] = [];
  const resolve: NonNullable<Guard["resolve"]> = (host, _, done) => {
    hosts.push(host);
    done(
      null,
      (left.shift() ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
  return { resolve, asked: hosts };
}

const refuse = (host: string): AppError => new AppError("input_address_not_allowed", host);

async function reach(host: string, allow: AllowPrivate, resolve?: Guard["resolve"]): Promise<string> {
  const agent = guardedAgent({ allow, refuse, ...(resolve ? { resolve } : {}) });
  try {
    const { body } = await request(`http://${host}:${port}/`, { dispatcher: agent });
    return await body.text();
  } finally {
    await agent.destroy();
  }
}

test.each<[string, AllowPrivate]>([
  ["127.0.0.1", "none"],
  ["2130706433", "none"],
  ["[::1]", "none"],
  ["[::ffff:127.0.0.1]", "none"],
  ["localhost", "none"],
  ["10.0.0.1", "loopback"],
  ["169.254.169.254", "all"],
])("%s is refused under %s", async (host, allow) => {
  await expect(reach(host, allow)).rejects.toMatchObject({ name: "AppError", code: "input_address_not_allowed" });
});

test.each<[string, AllowPrivate]>([
  ["127.0.0.1", "loopback"],
  ["localhost", "all"],
])("%s is reached under %s", async (host, allow) => {
  expect(await reach(host, allow)).toBe("reached");
});

it("reaches the operator's own origins wherever they are, and no other port of their hosts", async () => {
  const ownOrigin = (origin: string): AllowPrivate => ({ networks: "none", origins: [origin] });
  expect(await reach("127.0.0.1", ownOrigin(`http://127.0.0.1:${port}`))).toBe("reached");
  const inside = resolver(["127.0.0.1"], ["127.0.0.1"]);
  await expect(reach("127.0.0.1", ownOrigin("http://127.0.0.1:1"), inside.resolve)).rejects.toMatchObject({
    code: "input_address_not_allowed",
  });
});

it("connects only to the addresses that it checked", async () => {
  const mixed = resolver(["10.0.0.1", "127.0.0.1", "169.254.169.254"], ["10.0.0.1"]);
  expect(await reach("example.com", "loopback", mixed.resolve)).toBe("reached");
  expect(mixed.asked).toEqual(["example.com"]);
});

it("refuses a name whose second answer is an internal address", async () => {
  const { resolve } = resolver(["127.0.0.1"], ["10.0.0.1"]);
  const agent = guardedAgent({ allow: "loopback", refuse, resolve });
  const get = async (reset: boolean) =>
    (await request(`http://rebind.example:${port}/`, { dispatcher: agent, reset })).body.text();
  expect(await get(true)).toBe("reached");
  await expect(get(true)).rejects.toMatchObject({ code: "input_address_not_allowed" });
  await agent.destroy();
});
