import { closeSync, openSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { fileFolder } from "../test/fixtures.ts";
import { Copra } from "./index.ts";
import { fileSource } from "./node.ts";

const folder = fileFolder();

it("reads ranges of files beyond 4 GiB", async () => {
  const path = join(folder, "sparse.mov");
  const at = 4.5 * 2 ** 30;
  writeFileSync(path, "");
  truncateSync(path, 5 * 2 ** 30);
  const file = openSync(path, "r+");
  writeSync(file, "here", at);
  closeSync(file);
  const source = await fileSource(path);
  expect([source.name, source.size]).toEqual(["sparse.mov", 5 * 2 ** 30]);
  const slice = await source.slice(at - 1, at + 4);
  if (!("stream" in slice)) throw new Error("Not a stream");
  expect([slice.size, await new Response(slice.stream()).text()]).toEqual([5, "\0here"]);
});

it("sends parts with their length, repeats them after a failure, and reports the bytes", async () => {
  const path = join(folder, "small.mov");
  writeFileSync(path, "0123456789");
  const url = `${inject("clientService")}/upload/${Math.random().toString().slice(2)}`;
  const sent: number[] = [];
  const onProgress = (_: unknown, bytes: number): void => void sent.push(bytes);
  const upload = await new Copra({ url, key: "k" }).uploads.send(await fileSource(path), { onProgress });
  expect([upload.status, Math.max(...sent), sent.at(-1)]).toEqual(["completed", 10, 10]);
  const requests = await (await fetch(`${url}/requests`)).json();
  const parts = requests.filter(({ method }: { method: string }) => method === "PUT");
  const lengths = parts.map(({ size, headers }: { size: number; headers: object }) => [
    size,
    Object(headers)["content-length"],
  ]);
  expect(lengths.toSorted()).toEqual([
    [2, "2"],
    [4, "4"],
    [4, "4"],
    [4, "4"],
  ]);
});
