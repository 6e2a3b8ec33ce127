import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Env as WorkerEnv } from "./env.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Of the real S3 server that test/worker-storage.ts runs beside the tests. */
    s3: { endpoint: string; accessKeyId: string; secretAccessKey: string };
  }
}

declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {
      MIGRATIONS: D1Migration[];
    }
    interface GlobalProps {
      mainModule: typeof import("./index.ts");
    }
  }
}

await applyD1Migrations(env.DB, env.MIGRATIONS);
