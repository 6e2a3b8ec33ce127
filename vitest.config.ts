import { chmodSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { findCandidates } from "./encoder-node/ffmpeg/discover/locate.ts";
import { mailBinding } from "./local/control-plane/mail.ts";
import { guardedOutbound } from "./local/control-plane/outbound.ts";
import FileOrder from "./test/file-order.ts";
import { PATIENCE_MS } from "./test/patience-ms.ts";

/** Options of every project: projects do not inherit options. */
const COMMON = {
  tags: [{ name: "slow", description: "left out by `npm test`: `npm run test:tables`" }],
  expect: { poll: { timeout: PATIENCE_MS } },
  testTimeout: 900_000,
  hookTimeout: 900_000,
};

/**
 * All tests run npm's ffmpeg, unless FFMPEG_PATH names another one: it is the same on every machine, and starts with an
 * eighth of the processor time of a distribution's, which loads 200 libraries. CI repeats tests with the distribution's.
 */
if (process.env.FFMPEG_PATH === undefined && process.env.FFPROBE_PATH === undefined) {
  const { ffmpeg, ffprobe } = findCandidates({});
  for (const [variable, [packaged]] of Object.entries({ FFMPEG_PATH: ffmpeg, FFPROBE_PATH: ffprobe })) {
    if (packaged === undefined) continue;
    // npm unpacks one of them for its owner alone.
    chmodSync(packaged.path, 0o755);
    process.env[variable] = packaged.path;
  }
}

/** Node loads the modules, from its compile cache. Vite would transform them in each run. */
const BY_NODE = { experimental: { viteModuleRunner: false } };

/** Setup of test files that run in Node itself. */
const IN_NODE = ["./test/patience.ts", "./test/equal-bytes.ts", "./test/processor-time.ts"];

/** Seed of all properties; null: new cases each time. COPRA_SEED repeats the cases of a failed run. */
const PROPERTY_SEED =
  process.env.COPRA_SEED !== undefined ? Number(process.env.COPRA_SEED) : process.env.COPRA_SOAK === "1" ? null : 1;
const PROPERTIES = { provide: { propertySeed: PROPERTY_SEED } };

/**
 * Files share a process. A separate process costs a file of `worker` 2 s of processor time, and a file of `pure` 0.2 s.
 */
const SHARED_PROCESS = { isolate: false, restoreMocks: true, unstubEnvs: true, unstubGlobals: true };

/** The plugin prints at each start that it has been renamed. */
function withoutWarning<Plugin>(make: () => Plugin): Plugin {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return make();
  } finally {
    console.warn = warn;
  }
}

/** The servers for tests in workerd, which cannot start servers. */
const WORKER_SERVICES = [
  "./test/services/worker-assets.ts",
  "./test/services/worker-storage.ts",
  "./test/services/worker-sns.ts",
  "./test/services/worker-answers.ts",
  "./test/services/worker-inbox.ts",
];

/** Tests of a minute, or of many seconds of processor time: `npm run test:slow`, or by name. CI runs all. */
const ONLY_SLOW = process.env.COPRA_SLOW === "1";
const WITH_SLOW = ONLY_SLOW || process.env.COPRA_SOAK === "1" || process.argv.some((word) => word.includes(".slow"));
/** Files named *.soak.test.ts: `npm run test:soak`, or by name. They may take hours. */
const WITH_SOAK = process.env.COPRA_SOAK === "1" || process.argv.some((word) => /soak|worker\/http\/fuzz/.test(word));
/** The faults again, against `copra serve`: `npm run test:slow`, or `COPRA_SERVED=1 npm test -- test/faults`. */
const WITH_SERVED = ONLY_SLOW || process.env.COPRA_SOAK === "1" || process.env.COPRA_SERVED === "1";
/** Some files of `worker` again as at Cloudflare's edge: `npm run test:slow`, or `--project worker-edge`. */
const WITH_EDGE = ONLY_SLOW || process.env.COPRA_SOAK === "1" || process.argv.includes("worker-edge");
const files = (...patterns: string[]): string[] =>
  ONLY_SLOW ? patterns.map((pattern) => pattern.replace("*.", "*.slow.")) : patterns;
const left = (...patterns: string[]): string[] => (WITH_SLOW ? patterns : [...patterns, "**/*.slow.*"]);

/** Most files wait: for timers, browsers, and each other's processes. Slow files encode. A worker takes up to 1 GB. */
const WORKERS = Math.max(1, Math.min(availableParallelism() * (ONLY_SLOW ? 2 : 3), Math.floor(totalmem() / 1e9)));

type S3 = { endpoint: string; accessKeyId: string; secretAccessKey: string };

/** A project whose tests run in workerd. */
const workerProject = ({
  isEdge = false,
  ...test
}: {
  name: string;
  include: string[];
  exclude?: string[];
  globalSetup: string[];
  /** True if requests leave as at Cloudflare's edge. */
  isEdge?: boolean;
}) => ({
  plugins: [
    withoutWarning(() =>
      cloudflareTest(({ inject }) => ({
        wrangler: { configPath: "./wrangler.toml" },
        miniflare: {
          ...(isEdge ? { outboundService: guardedOutbound("loopback", "edge") } : {}),
          serviceBindings: mailBinding({
            SMTP_URL: inject<{ smtp: string }>("inbox").smtp,
            SMTP_FROM: "copra@example.com",
          }),
          ratelimits: { TIGHT_RATE: { namespace_id: "2", simple: { limit: 2, period: 60 } } },
          bindings: {
            ADMIN_TOKEN: "test-admin-token-of-32-characters",
            // Unset, even if a .dev.vars sets it.
            MASTER_SECRET: "",
            FAULTS: process.env.COPRA_FAULTS ?? "1",
            SEALING_KEYS:
              "t1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=,t0:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZTA=",
            ALLOW_PRIVATE: "loopback",
            OUTBOUND: isEdge ? "edge" : "direct",
            // No program listens there: no test may reach Backblaze itself.
            B2_API_URL: "http://127.0.0.1:9",
            SNS_ENDPOINT: inject<{ endpoint: string }>("sns").endpoint,
            SCRATCH_ENDPOINT: inject<S3>("s3").endpoint,
            SCRATCH_REGION: "us-east-1",
            SCRATCH_BUCKET: "copra-scratch",
            SCRATCH_ACCESS_KEY_ID: inject<S3>("s3").accessKeyId,
            SCRATCH_SECRET_ACCESS_KEY: inject<S3>("s3").secretAccessKey,
          },
        },
      })),
    ),
  ],
  test: {
    ...COMMON,
    ...PROPERTIES,
    ...test,
    setupFiles: ["./test/patience.ts", "./test/equal-bytes.ts", "./test/property-seed.ts", "./worker/testing/setup.ts"],
    // Bundles these modules, so that workerd loads few files instead of hundreds.
    deps: {
      optimizer: {
        ssr: {
          enabled: true,
          include: [
            "aws4fetch",
            "drizzle-orm",
            "drizzle-orm/d1",
            "drizzle-orm/sqlite-core",
            "hono",
            "ipaddr.js",
            "zod",
          ],
        },
      },
    },
  },
});

// test:fast runs `pure` and `worker`. `worker-edge` runs some files of `worker` again behind an emulation of
// Cloudflare's edge, and `worker-soak` has files that take hours. `ffmpeg` runs ffmpeg. `stack` runs
// the whole system, and `served` runs it as `copra serve`.
export default defineConfig({
  test: {
    // Passing tests print nothing; a failing test prints all its logs.
    silent: "passed-only",
    tags: COMMON.tags,
    reporters: ["./test/reporter/quiet-reporter.ts"],
    // After the last test of a file, an object in workerd may still load its module when Vitest closes the channel to
    // the file's process (github.com/vitest-dev/vitest/issues/11153). By then, no test can fail.
    onUnhandledError: ({ name, message }) =>
      name !== "EnvironmentTeardownError" || !message.includes("Closing rpc while"),
    maxWorkers: WORKERS,
    sequence: { sequencer: FileOrder },
    projects: [
      {
        test: {
          name: "pure",
          ...COMMON,
          ...BY_NODE,
          ...PROPERTIES,
          ...SHARED_PROCESS,
          setupFiles: [...IN_NODE, "./test/property-seed.ts"],
          include: files("{shared,encoder-node,local,client,cli,dashboard}/**/*.test.ts", "test/reporter/*.test.ts"),
          exclude: left("**/*.ffmpeg.test.ts"),
          globalSetup: ["./test/services/client-service.ts"],
        },
      },
      workerProject({
        ...SHARED_PROCESS,
        name: "worker",
        // The client runs in workerd, too.
        include: files("worker/**/*.test.ts", "client/client.test.ts"),
        exclude: ["**/*.soak.test.ts"],
        globalSetup: [...WORKER_SERVICES, "./test/services/worker-azure.ts", "./test/services/client-service.ts"],
      }),
      workerProject({
        ...SHARED_PROCESS,
        name: "worker-edge",
        isEdge: true,
        include: WITH_EDGE
          ? [
              "worker/{http-client,storage/s3,storage/azure}/*.test.ts",
              "worker/notify/{webhook,sns}.test.ts",
              "worker/job/decide/storage-check.test.ts",
            ]
          : [],
        globalSetup: [...WORKER_SERVICES, "./test/services/worker-azure.ts"],
      }),
      workerProject({
        name: "worker-soak",
        include: WITH_SOAK ? ["worker/**/*.soak.test.ts"] : [],
        globalSetup: WORKER_SERVICES,
      }),
      {
        test: {
          name: "ffmpeg",
          ...COMMON,
          ...BY_NODE,
          ...SHARED_PROCESS,
          setupFiles: [...IN_NODE, "./test/services/tools-in-sandbox.ts"],
          include: files("{shared,encoder-node,local}/**/*.ffmpeg.test.ts"),
          exclude: left(),
        },
      },
      {
        test: {
          name: "stack",
          ...COMMON,
          ...BY_NODE,
          setupFiles: IN_NODE,
          include: files("test/**/*.test.ts"),
          exclude: left("test/reporter/*.test.ts", ...(WITH_SOAK ? [] : ["**/*.soak.test.ts"])),
          globalSetup: ["./test/services/shared-stack.ts"],
        },
      },
      {
        test: {
          name: "served",
          ...COMMON,
          ...BY_NODE,
          setupFiles: IN_NODE,
          include: WITH_SERVED ? ["test/faults/control-plane.slow.test.ts"] : [],
          env: { COPRA_TEST_STACK: "serve" },
        },
      },
    ],
  },
});
