import { expect, it } from "vitest";
import type { Assignment } from "#shared/protocol/tasks.ts";
import { usePresignedScratch } from "./scratch.ts";

const signed = {
  puts: [{ name: "chunk-1-1/track-0.mp4", url: "put" }],
  gets: [{ name: "inspect-1/source-1", url: "get" }],
};

it("uses each URL that came with the assignment once, for ten minutes, and requests all other URLs", async () => {
  let now = 0;
  const requested: unknown[] = [];
  const open = (task: object) =>
    usePresignedScratch(
      { task } as Assignment,
      async (puts, gets) => {
        requested.push([puts, gets]);
        return { puts: [], gets: [] };
      },
      () => now,
    );
  const put = { name: "chunk-1-1/track-0.mp4", sizeBytes: 5 };
  const request = open({ kind: "chunk", signed });
  expect(await request([put], ["inspect-1/source-1"])).toEqual({
    puts: [{ url: "put", headers: {}, offset: 0, sizeBytes: 5 }],
    gets: ["get"],
  });
  expect(requested).toEqual([]);
  await request([put], []);
  const late = open({ kind: "chunk", signed });
  now = 10 * 60_000 + 1;
  await late([], ["inspect-1/source-1"]);
  await open({ kind: "join" })([], ["inspect-1/source-1"]);
  expect(requested).toEqual([
    [[put], []],
    [[], ["inspect-1/source-1"]],
    [[], ["inspect-1/source-1"]],
  ]);
});
