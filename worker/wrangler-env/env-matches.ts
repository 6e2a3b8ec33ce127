// Compiles only if the Worker's bindings match wrangler.toml. `npm run wrangler:types` writes generated.d.ts from
// wrangler.toml. The types of the objects' calls are the Worker's own. The script also removes the compiler's cache of
// this folder, because TypeScript 7.0 does not check the folder again when only generated.d.ts has changed.
import type { Env } from "../bindings.ts";
import type { SettingsVariables } from "../settings.ts";

type Objects = "JOB" | "HUB" | "ACCOUNT";

/** wrangler.toml binds everything that the Worker expects. */
export const expected = (env: WranglerEnv): Omit<Env, Objects> => env;

type Bound = keyof WranglerEnv;
type Known = keyof Env;
/** A binding of the Worker that is in neither wrangler.toml nor the settings. Only `copra serve` binds MAIL. */
type Unbound = Exclude<Known, Bound | keyof SettingsVariables | "MAIL">;
/** A binding in wrangler.toml that the Worker does not know. */
type Unknown = Exclude<Bound, Known>;

/** Has no properties. If a property is missing here, the compiler names it. */
export const mismatches: Record<Unbound | Unknown, never> = {};
