// HDR10 in real runs: the output states the source's mastering display and light, in one piece and in chunks.
import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { fileFolder } from "../../../test/fixtures.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import { few } from "../../testing/few.ts";
import { makeBoth } from "../../testing/jobs/chunked-encodes.ts";
import { decode, encodeOne, FFPROBE, makeClip, tested } from "../../testing/plan-runs.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";

const run = promisify(execFile);
const DISPLAY = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)";
const PQ = "setparams=color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc:range=tv";

const folder = fileFolder();
beforeAll(async () => {
  const frames = `-f lavfi -i testsrc2=s=128x72:r=25:d=4 -vf format=yuv420p10le,${PQ}`;
  const params = `log-level=error:keyint=50:min-keyint=50:open-gop=0:scenecut=0:master-display=${DISPLAY}:max-cll=1000,400`;
  await makeClip(folder, "pq.mp4", `${frames} -c:v libx265 -preset ultrafast -x265-params ${params} -tag:v hvc1`);
  await makeClip(folder, "pq.ts", "-i pq.mp4 -c copy");
});

/** Metadata of the first frame: coordinates and luminances of the display, the light of the content, the transfer. */
async function stated(file: string): Promise<unknown> {
  const entries = ["-show_entries", "frame=color_transfer:frame_side_data", "-of", "json", file];
  const argv = ["-v", "error", "-select_streams", "v", "-read_intervals", "%+#1", ...entries];
  const { stdout } = await run(FFPROBE, argv, { env: toolEnvironment() });
  const [{ color_transfer, side_data_list }] = JSON.parse(stdout).frames;
  const values = Object.assign({}, ...side_data_list) as Record<string, unknown>;
  const number = (value: unknown): number => {
    const [numerator, denominator = 1] = String(value).split("/").map(Number);
    return Math.round((Number(numerator) / Number(denominator)) * 1000) / 1000;
  };
  const names = ["red_x", "green_y", "blue_x", "white_point_y", "min_luminance", "max_luminance"];
  return [color_transfer, ...[...names, "max_content", "max_average"].map((name) => number(values[name]))];
}

few(1).each(["mp4", "ts"])(
  "states the mastering display and light of the source, also in chunks: %s",
  async (source) => {
    const formats = ["mp4:hevc::pix_fmt=yuv420p10le", "mkv:av1::pix_fmt=yuv420p10le"];
    const requests = formats.map((format) => ({ format }));
    const clip = path.join(folder, `pq.${source}`);
    const { whole, joined } = await makeBoth(clip, requests, [2], (argv) => [...argv]);
    const expected = ["smpte2084", 0.68, 0.69, 0.15, 0.329, 0.005, 1000, 1000, 400];
    for (const { folder, outputs } of [whole, joined]) {
      const files = outputs.map(({ files: [file = ""] }) => path.join(folder, file));
      expect(await Promise.all(files.map(stated))).toEqual(formats.map(() => expected));
    }
  },
);

test("does not state the light of the source where it becomes SDR", async () => {
  const file = await encodeOne(path.join(folder, "pq.mp4"), { format: "mp4" });
  const { stdout } = await run(
    FFPROBE,
    [
      ..."-v error -select_streams v -show_entries stream=color_transfer:frame_side_data=side_data_type".split(" "),
      file,
    ],
    { env: toolEnvironment() },
  );
  expect(stdout).toContain("color_transfer=bt709");
  expect(stdout).not.toMatch(/Mastering|Content light/);
});

test("maps HLG that only a message announces, as in broadcasts, like HLG that the stream states", async () => {
  const tags = "log-level=error:colorprim=bt2020:colormatrix=bt2020nc";
  const hlg = async (name: string, transfer: string): Promise<string> => {
    const make = `-f lavfi -i testsrc2=s=128x72:r=25:d=0.2 -pix_fmt yuv420p10le -c:v libx265 -preset ultrafast`;
    await makeClip(folder, name, `${make} -x265-params ${tags}:${transfer}`);
    return path.join(folder, name);
  };
  const announced = await hlg("announced.ts", "transfer=bt2020-10:atc-sei=18");
  const plain = await hlg("stated.ts", "transfer=arib-std-b67");
  expect((await probeSource(tested.ffprobe, announced)).streams).toMatchObject([{ color_transfer: "arib-std-b67" }]);
  const [first, second] = [await encodeOne(announced, { format: "mp4" }), await encodeOne(plain, { format: "mp4" })];
  const pixels = (file: string): Promise<Buffer> => decode(file, "trim=end_frame=1", "rgb24");
  expect((await pixels(first)).equals(await pixels(second))).toBe(true);
});
