import { type AddressInfo, connect } from "node:net";
import { expect, it } from "vitest";
import { parseHealthAddress, serveHealth } from "./health.ts";

it("answers health probes: alive, and ready or the reasons why not", async () => {
  let reasons: string[] = [];
  const server = await serveHealth({ host: "127.0.0.1", port: 0 }, () => reasons);
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    return [response.status, await response.json()];
  };
  expect(await get("/health/ready")).toEqual([200, { status: "ready" }]);
  reasons = ["draining"];
  expect(await get("/health/ready?x")).toEqual([503, { status: "not ready", reasons }]);
  expect(await get("/health")).toEqual([200, { status: "ready" }]);
  expect((await get("/metrics"))[0]).toBe(404);
  server.close();
});

it.each([
  ["GET //", "404"],
  ["GET http://[/health", "404"],
  ["OPTIONS *", "404"],
  ["BREW /health", "400"],
  ["CONNECT node:1", ""],
  ["POST /health?%", "200"],
  ["GET \0", "400"],
])("survives the request %j", async (line, status) => {
  const server = await serveHealth({ host: "127.0.0.1", port: 0 }, () => []);
  const send = async (text: string, isAborted = false): Promise<string> => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write(text);
    if (isAborted) socket.resetAndDestroy();
    let answer = "";
    socket.on("data", (data) => (answer += data));
    await new Promise((resolve) => socket.on("error", () => {}).on("close", resolve));
    return answer.split(" ", 2)[1] ?? "";
  };
  const request = `${line} HTTP/1.1\r\nhost: node\r\n\r\n`;
  await send(request, true);
  expect(await send(request)).toBe(status);
  expect(await send("GET /health HTTP/1.1\r\nhost: node\r\n\r\n")).toBe("200");
  server.close();
});

it.each([
  ["8788", { host: "127.0.0.1", port: 8788 }],
  ["0.0.0.0:8788", { host: "0.0.0.0", port: 8788 }],
  ["[::]:8788", { host: "::", port: 8788 }],
  ["", null],
  ["70000", null],
  ["http", null],
])("reads %j as an address", (text, address) => expect(parseHealthAddress(text)).toEqual(address));
