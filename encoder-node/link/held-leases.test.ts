import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { LeaseProof } from "#shared/protocol/leases.ts";
import { emptiedFolder } from "../../test/fixtures.ts";
import { silentLog } from "../testing/silent-log.ts";
import { HeldLeases } from "./held-leases.ts";

const folder = join(emptiedFolder(), "leases");

const proofOf = (task: string): LeaseProof => ({ lease: `AAAAAAAAAAAAAA.${task}.1` as never, token: `t-${task}` });

it("leaves only the leases that have not ended to the next process", async () => {
  const first = new HeldLeases(folder, silentLog);
  expect(await first.leftOver()).toEqual([]);
  for (const task of ["a", "b", "c"]) first.add(proofOf(task));
  await first.remove(proofOf("b").lease);
  await first.remove(proofOf("c").lease);
  await expect.poll(() => readdir(folder)).toEqual([`${proofOf("a").lease}.json`]);
  await writeFile(join(folder, "truncated.json"), '{"lease":');
  await writeFile(join(folder, "draft.json.part"), "");
  expect(await new HeldLeases(folder, silentLog).leftOver()).toEqual([proofOf("a")]);
});
