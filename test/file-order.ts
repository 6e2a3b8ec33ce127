// The order in which test files run.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ROOT } from "../local/home/constants.ts";

/** Files of a minute and more, the longest first. If they started last, a single file would run alone at the end. */
const LONGEST = [
  "test/quick-start.slow.test.ts",
  "encoder-node/tasks/join/chunked-job.slow.ffmpeg.test.ts",
  "encoder-node/tasks/join/chunked-texts.slow.ffmpeg.test.ts",
  "test/late-source.slow.test.ts",
  "test/self-host/self-host.slow.test.ts",
  "test/hostile/bombs.slow.test.ts",
  "test/ultrafast.slow.test.ts",
  "test/hostile/taken-over.slow.test.ts",
  "test/faults/silent-nodes.slow.test.ts",
  "test/cli.slow.test.ts",
  "encoder-node/quality/measure.slow.ffmpeg.test.ts",
  "test/simulation/fleet.slow.test.ts",
  "test/local-stack.slow.test.ts",
  "test/faults/control-plane.slow.test.ts",
  "test/self-host/package.slow.test.ts",
  "test/streams/similar-variants.slow.test.ts",
  "test/dashboard/new-job.test.ts",
  "test/dashboard/lists.test.ts",
  "test/dashboard/shell.test.ts",
  "test/streams/stream-playback.test.ts",
];

const missing = LONGEST.filter((path) => !existsSync(join(ROOT, path)));
if (missing.length > 0) throw new Error(`test/file-order.ts names files that do not exist: ${missing.join(", ")}`);

/** The projects with the longest files. Short files come last, so that all workers end together. */
const FIRST = ["served", "stack", "ffmpeg", "worker"];

/**
 * Keeps the files of a project together, because only then can they share a process. The longest files of a project run
 * first. Then come files that failed or were slow in the last run on this machine, as vitest orders them.
 */
export default class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = [...FIRST, ...this.ctx.projects.map(({ name }) => name)];
    const projectRank = ({ project }: TestSpecification): number => projects.indexOf(project.name);
    const lengthRank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((path) => moduleId.endsWith(`/${path}`));
      return at < 0 ? LONGEST.length : at;
    };
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => projectRank(a) - projectRank(b) || lengthRank(a) - lengthRank(b));
  }
}
