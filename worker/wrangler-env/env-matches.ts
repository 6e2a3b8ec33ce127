// Compiles only if the Worker's bindings are those of wrangler.toml: `npm run wrangler:types` writes generated.d.ts
// from it. The types of the objects' calls are the Worker's own. That script also removes what the compiler remembers
// of this folder, because TypeScript 7.0 does not check it again when only generated.d.ts has changed.
import type { Env } from "../bindings.ts";
import type { SettingsVariables } from "../settings.ts";

type Objects = "JOB" | "HUB" | "ACCOUNT";

/** What wrangler.toml binds is what the Worker expects. */
export const expected = (env: WranglerEnv): Omit<Env, Objects> => env;

type Bound = keyof WranglerEnv;
type Known = keyof Env;
/** A binding of the Worker that is in neither wrangler.toml nor the settings. */
type Unbound = Exclude<Known, Bound | keyof SettingsVariables>;
/** What wrangler.toml binds and the Worker does not know. */
type Unknown = Exclude<Bound, Known>;

/** Has no properties; else the compiler names the one that is missing here. */
export const mismatches: Record<Unbound | Unknown, never> = {};
