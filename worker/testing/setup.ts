import "./one-proxy.ts";
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Env as WorkerEnv } from "../bindings.ts";
import { applyMigrations } from "../db/migrate.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of test/services/worker-answers.ts, which sends the answer that the request describes. */
    answers: string;
    /** The receivers of webhooks and e-mail that test/services/worker-inbox.ts runs beside the tests. */
    inbox: { url: string; smtp: string };
    /** The real S3 server that test/services/worker-storage.ts runs beside the tests. */
    s3: { endpoint: string; accessKeyId: string; secretAccessKey: string };
    /** The SNS server that test/services/worker-sns.ts runs beside the tests. */
    sns: { endpoint: string; region: string; accessKeyId: string; secretAccessKey: string };
    /** The container in the Azure emulator that test/services/worker-azure.ts runs beside the tests. */
    azure: { endpoint: string; account: string; key: string; container: string; privateContainer: string };
  }
}

declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {
      /** Allows two requests a minute. */
      TIGHT_RATE: RateLimit;
    }
    interface GlobalProps {
      mainModule: typeof import("../index.ts");
    }
  }
}

// The files of this project share a workerd (vitest.config.ts). Each file starts without objects, rows and stored files
// of other files.
await reset();
await applyMigrations(env.DB);
