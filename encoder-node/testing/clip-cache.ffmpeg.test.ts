import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { it } from "../../test/fixtures.ts";
import { makeCached } from "./clip-cache.ts";
import { REFERENCE_FFMPEG } from "./plan-runs.ts";

it("makes a clip again if the content of an input file has changed", async ({ folder }) => {
  const bytesAfter = async (text: string): Promise<string> => {
    writeFileSync(join(folder, "a.srt"), `1\n00:00:00,000 --> 00:00:01,000\n${text}\n`);
    await makeCached(REFERENCE_FFMPEG, ["-i", "a.srt"], "b.vtt", folder);
    return readFileSync(join(folder, "b.vtt"), "utf8");
  };
  for (const text of ["one", "two", "one"]) expect(await bytesAfter(text)).toContain(text);
});
