// Serves operations: authenticates the sender of each request, and notes changes in the audit, as the operation's
// record requires.
import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { Env } from "../../bindings.ts";
import { audited } from "../auth/audited.ts";
import { type AdminEnv, adminAuth, type ClientEnv, clientAuth, monitorAuth } from "../auth/auth.ts";
import type { KeyAccess } from "../auth/scopes.ts";
import { type Access, isForKeys, type Operation, routeParts } from "./operation.ts";

type EnvOf<To> = To extends KeyAccess ? ClientEnv : AdminEnv;
type PathOf<Route> = Route extends `${string} ${infer Path}` ? Path : never;
type Routed = Pick<Operation, "route" | "access">;
type Handler<Record extends Routed> = (
  context: Context<EnvOf<Record["access"]>, PathOf<Record["route"]>>,
) => Response | Promise<Response>;

/** A handler for each operation. Hono serves HEAD by the handler of GET. */
export type Handlers<Records extends Readonly<Record<string, Routed>>> = {
  readonly [Id in keyof Records as Records[Id]["route"] extends `HEAD ${string}` ? never : Id]: Handler<Records[Id]>;
};

/** The routes of operations, in the order of their records. */
export function mount<const Records extends Readonly<Record<string, Operation>>>(
  records: Records,
  handlers: Handlers<Records>,
): Hono<{ Bindings: Env }> {
  const app = new Hono<{ Bindings: Env }>({ strict: false });
  const byId = new Map<string, unknown>(Object.entries(handlers));
  for (const { id, route, access, isUnaudited } of Object.values(records)) {
    const [method, path] = routeParts(route);
    // The types of the parameters say that the handler suits its record.
    const handler = byId.get(id) as MiddlewareHandler | undefined;
    const isChange = method !== "GET" && !isUnaudited && (isForKeys(access) || access === "operator");
    if (handler) app.on(method, [path], ...guards(access), ...(isChange ? [audited(id, path)] : []), handler);
  }
  return app;
}

/** Middleware that authenticates the sender. The handlers of sessions authenticate by themselves. */
function guards(access: Access): MiddlewareHandler[] {
  switch (access) {
    case "anyone":
    case "session":
      return [];
    case "operator":
      return [adminAuth];
    case "monitor":
      return [monitorAuth];
    default:
      return [clientAuth(access)];
  }
}
