import "./one-proxy.ts";
import { applyD1Migrations, type D1Migration, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Env as WorkerEnv } from "../bindings.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where test/services/worker-answers.ts answers as asked. */
    answers: string;
    /** Of the real S3 server that test/services/worker-storage.ts runs beside the tests. */
    s3: { endpoint: string; accessKeyId: string; secretAccessKey: string };
    /** Of the server that speaks SNS, which test/services/worker-sns.ts runs beside the tests. */
    sns: { endpoint: string; region: string; accessKeyId: string; secretAccessKey: string };
    /** Of the container in the Azure emulator that test/services/worker-azure.ts runs beside the tests. */
    azure: { endpoint: string; account: string; key: string; container: string };
  }
}

declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {
      MIGRATIONS: D1Migration[];
      /** Which faults worker/job/faults tries: `long`, a seed, or the name of one. */
      FAULTS: string;
      /** Two requests a minute. */
      TIGHT_RATE: RateLimit;
    }
    interface GlobalProps {
      mainModule: typeof import("../index.ts");
    }
  }
}

// The files of this project share a workerd (vitest.config.ts): each starts without objects, rows and files of others.
await reset();
await applyD1Migrations(env.DB, env.MIGRATIONS);
