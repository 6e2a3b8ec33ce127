import { createServer } from "node:net";
import { expect, it } from "vitest";
import { becomesFree, findFree } from "./ports.ts";

it("finds another free port at each call, even if nobody has opened the earlier ports", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => findFree()));
  expect(new Set(ports).size).toBe(20);
  expect(ports).not.toContain(await findFree(...ports));
});

it("waits for a port until no program listens on it", async () => {
  const port = await findFree();
  const server = createServer().listen({ port, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  expect(await becomesFree(port, 0)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
  expect(await becomesFree(port, 0)).toBe(true);
});
