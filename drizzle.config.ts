import { defineConfig } from "drizzle-kit";

// This driver also writes migrations.js, which the Worker bundles (worker/db/migrate.ts).
export default defineConfig({
  dialect: "sqlite",
  driver: "durable-sqlite",
  schema: "./worker/db/schema.ts",
  out: "./migrations",
});
