import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { startTrap } from "../testing/processes/network-clients.ts";

const [proxy, server] = [await startTrap(), await startTrap()];
afterAll(() => Promise.all([proxy.close(), server.close()]));

/** With a proxy this node would check the proxy's address, and the proxy could connect to any address. */
it("the address guard ignores proxies in the environment", async () => {
  const proxies = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"];
  const setting = `http://127.0.0.1:${proxy.port}`;
  const env = {
    ...process.env,
    ...Object.fromEntries(proxies.map((name) => [name, setting])),
    NODE_USE_ENV_PROXY: "1",
    NO_PROXY: "",
    no_proxy: "",
  };
  const urls = [`http://127.0.0.1:${server.port}/`, "http://10.0.0.1/", "https://10.0.0.1/", "http://nosuch.invalid/"];
  const clients = new URL("../testing/processes/network-clients.ts", import.meta.url).href;
  const script = `
    const { READERS, WRITERS, outcome } = await import(${JSON.stringify(clients)});
    const folder = ${JSON.stringify(server.folder)};
    // As for requests to the control plane, where the operator may use a proxy.
    await fetch("http://nosuch.invalid/").catch(() => undefined);
    for (const client of Object.values({ ...READERS, ...WRITERS }))
      for (const url of ${JSON.stringify(urls)}) await outcome(client, url, "loopback", folder);
  `;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], { env });
  expect(proxy.requests).toBe(1);
  expect(server.requests).toBeGreaterThanOrEqual(7);
});
