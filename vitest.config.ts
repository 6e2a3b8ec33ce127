import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

type S3 = { endpoint: string; accessKeyId: string; secretAccessKey: string };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["shared/**/*.test.ts", "encoder-node/**/*.test.ts", "local/**/*.test.ts"],
          environment: "node",
          testTimeout: 60_000,
          // Clips are made there.
          hookTimeout: 60_000,
        },
      },
      {
        plugins: [
          cloudflareTest(async ({ inject }) => ({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              ratelimits: { TIGHT_RATE: { namespace_id: "2", simple: { limit: 2, period: 60 } } },
              bindings: {
                MIGRATIONS: await readD1Migrations("./migrations"),
                ADMIN_TOKEN: "test-admin-token-of-32-characters",
                FAULTS: process.env.COPRA_FAULTS ?? "1",
                KEY_PEPPER: "test-pepper",
                SEALING_KEYS:
                  "t1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=,t0:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZTA=",
                ALLOW_PRIVATE: "loopback",
                // Nobody: no test may reach Backblaze itself.
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
        ],
        test: {
          name: "worker",
          include: ["worker/**/*.test.ts"],
          globalSetup: [
            "./test/services/worker-storage.ts",
            "./test/services/worker-sns.ts",
            "./test/services/worker-answers.ts",
            "./test/services/worker-azure.ts",
          ],
          setupFiles: ["./worker/testing/setup.ts"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/**/*.test.ts"],
          environment: "node",
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
