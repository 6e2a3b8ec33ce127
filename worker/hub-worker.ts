// The hub as a Worker of its own: it keeps the nodes' sockets while the main Worker is deployed. It has no routes.
export { NodeHub } from "./dispatch/node-hub.ts";

export default { fetch: () => new Response(null, { status: 404 }) } satisfies ExportedHandler;
