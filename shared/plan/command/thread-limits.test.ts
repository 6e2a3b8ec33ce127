import { expect, it } from "vitest";
import { withThreads } from "./thread-limits.ts";

it.each<[string, number, string]>([
  ["-i a -c:v libx264 b", 4, "-threads 4 -i a -threads:v 6 -c:v libx264 b"],
  ["-i a -c:v libx264 b", 32, "-threads 16 -i a -threads:v 48 -c:v libx264 b"],
  ["-i a -c:v libvpx-vp9 b", 32, "-threads 16 -i a -threads:v 16 -c:v libvpx-vp9 b"],
  [
    "-i a -c:v libx265 -x265-params info=0 b",
    4,
    "-threads 4 -i a -threads:v 4 -c:v libx265 -x265-params info=0:pools=4 b",
  ],
  [
    "-i a -filter_complex [0:0]null[v] -map [v] -c:v libx264 b",
    0,
    "-threads 1 -i a -filter_complex_threads 1 -filter_complex [0:0]null[v] -map [v] -threads:v 1 -c:v libx264 b",
  ],
])("limits %s to %i cores", (argv, cores, limited) => {
  expect(withThreads(argv.split(" "), cores).join(" ")).toBe(limited);
});
