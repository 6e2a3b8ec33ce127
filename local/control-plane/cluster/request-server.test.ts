import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import { serveOn } from "./request-server.ts";

const folder = fileFolder();
let number = 0;

/** Sends a request as workerd does: to a proxy without a Host header. */
async function send(
  socketPath: string,
  path: string,
  body: string,
): Promise<[status: number | undefined, text: string]> {
  const sent = request({ socketPath, path, method: "POST", headers: { "x-one": "1" }, setHost: false });
  sent.end(body);
  const [response]: IncomingMessage[] = await once(sent, "response");
  return [response?.statusCode, ((await response?.toArray()) ?? []).join("")];
}

it("passes requests to a proxy with their URL, and others with their path, with headers and body", async () => {
  const path = await serveOn(join(folder, `socket-${++number}`), async (message) =>
    Response.json([message.method, message.url, new Map(message.headers).get("x-one"), await message.json()], {
      status: 201,
    }),
  );
  expect(await send(path, "https://example.com/a?b=c", "{}")).toEqual([
    201,
    JSON.stringify(["POST", "https://example.com/a?b=c", "1", {}]),
  ]);
  expect(await send(path, "/mail", "{}")).toEqual([201, JSON.stringify(["POST", "http://local/mail", "1", {}])]);
});

it("responds 502 if the handler throws, takes over the socket of an earlier process, and refuses a long path", async () => {
  const path = join(folder, `socket-${++number}`);
  await serveOn(path, async () => new Response("earlier"));
  await serveOn(path, async (message) => {
    if ((await message.arrayBuffer()).byteLength === 0) throw new Error("no body");
    return new Response(null, { status: 204 });
  });
  expect(await send(path, "/", "")).toEqual([502, ""]);
  expect(await send(path, "/", "x")).toEqual([204, ""]);
  await expect(serveOn(join(folder, "x".repeat(120)), async () => new Response())).rejects.toThrow("is too long");
});
