import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Env as WorkerEnv } from "./env.ts";

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
