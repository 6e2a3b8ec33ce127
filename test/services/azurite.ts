// Azurite, Microsoft's emulator of Azure Blob Storage, in a separate process. It checks signatures as Azure does.
import { spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";

/** Anybody can read the blobs of `container`, and nobody those of `privateContainer`. */
export type AzureContainer = {
  endpoint: string;
  account: string;
  key: string;
  container: string;
  privateContainer: string;
};

export type Azurite = AzureContainer & { stop(): Promise<void> };

const require = createRequire(import.meta.url);
const VERSION = "2020-12-06";

/** Starts Azurite on a free port with two containers. Stores nothing on disk. */
export async function startAzurite(): Promise<Azurite> {
  const [account, container, privateContainer] = ["copratest", "videos", "originals"];
  const key = randomBytes(32).toString("base64");
  const entry = require.resolve("azurite/dist/src/blob/main.js");
  const options = ["--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry"];
  const child = spawn(process.execPath, [entry, ...options, "--silent"], {
    cwd: tmpdir(),
    env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${key}` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface(child.stdout)) {
    const [origin] = /http:\/\/127\.0\.0\.1:\d+$/.exec(line) ?? [];
    if (!line.includes("listens") || !origin) continue;
    const azure = { endpoint: `${origin}/${account}`, account, key, container, privateContainer };
    await createContainer(azure, { "x-ms-blob-public-access": "blob" });
    await createContainer({ ...azure, container: privateContainer });
    const stop = async (): Promise<void> => {
      child.kill();
      await once(child, "exit");
    };
    return { ...azure, stop };
  }
  throw new Error("Azurite ended before it listened");
}

/** Create Container, authorized by the account's key ("Authorize with Shared Key"). */
async function createContainer(
  { endpoint, account, key, container }: AzureContainer,
  access: Readonly<Record<string, string>> = {},
): Promise<void> {
  const signed = { ...access, "x-ms-date": new Date().toUTCString(), "x-ms-version": VERSION };
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}`);
  const resource = `/${account}${new URL(endpoint).pathname}/${container}`;
  // Eleven headers that are not sent follow the method.
  const text = ["PUT", ...new Array<string>(11).fill(""), ...lines, resource, "restype:container"].join("\n");
  const signature = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
  const headers = { ...signed, authorization: `SharedKey ${account}:${signature}` };
  const answer = await fetch(`${endpoint}/${container}?restype=container`, { method: "PUT", headers });
  if (!answer.ok) throw new Error(`Azurite made no container: ${answer.status} ${await answer.text()}`);
}
