declare namespace Cloudflare {
  interface Env extends import("./env.ts").Env {
    MIGRATIONS: import("cloudflare:test").D1Migration[];
  }
  interface GlobalProps {
    mainModule: typeof import("./index.ts");
  }
}
