// The steps that a deploy by wrangler alone leaves to the operator. Until they are done, all requests get 503 with the
// commands.
import type { MiddlewareHandler } from "hono";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { ensureSchema } from "../../db/migrate.ts";
import { log } from "../../log.ts";
import { settingsOf } from "../../settings.ts";
import { errorResponse } from "../responses/json-response.ts";

/** Public: details are in the log. */
type Step = { readonly problem: string; readonly command: string | null };

/** `tee` shows the secret in the terminal: Cloudflare shows it to nobody again. */
const putSecret = (name: string): Step => ({
  problem: `${name} is not set`,
  command: `openssl rand -base64 32 | tee /dev/stderr | npx wrangler secret put ${name}`,
});

/**
 * Missing steps; migrates the database if there are none. Throws AppError(service_unavailable) while the database is
 * unavailable.
 */
export async function missingSteps(env: Env): Promise<readonly Step[]> {
  const hasKeys = env.MASTER_SECRET || env.SEALING_KEYS;
  const missing = [...(hasKeys ? [] : ["MASTER_SECRET"]), ...(env.ADMIN_TOKEN ? [] : ["ADMIN_TOKEN"])];
  if (missing.length > 0) return missing.map(putSecret);
  try {
    settingsOf(env);
  } catch (error) {
    log.error("settings not valid", { error: messageOf(error) });
    return [{ problem: "a setting is not valid, which the log names", command: null }];
  }
  try {
    await ensureSchema(env.DB);
    return [];
  } catch (error) {
    if (error instanceof AppError) throw error;
    log.error("database not migrated", { error: messageOf(error) });
    return [{ problem: "a migration of the database failed, which the log names", command: null }];
  }
}

/** Responds 503 while a step is missing: with a page to browsers, and with JSON to programs. */
export const requireSetup: MiddlewareHandler<{ Bindings: Env }> = async (context, next) => {
  const steps = await missingSteps(context.env);
  if (steps.length === 0) return await next();
  const sentences = steps.map(({ problem, command }) => (command === null ? problem : `${problem}: ${command}`));
  const response = errorResponse(context, "service_unavailable", `The service is not ready: ${sentences.join("; ")}`);
  if (!context.req.header("accept")?.includes("text/html")) return response;
  return context.body(pageOf(steps), response.status as 503, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  });
};

const pageOf = (steps: readonly Step[]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Copra is not ready</title>
<h1>Copra is not ready</h1>
${steps.map(({ problem, command }) => `<p>${problem}${command === null ? "." : `:</p>\n<pre>${command}</pre>`}`).join("\n")}
<p>Run commands in the checkout, keep the secrets that they print, and reload this page.
See <a href="/docs/deploying">deploying</a>.</p>
`;
