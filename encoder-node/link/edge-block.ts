// Requests that Cloudflare blocks in front of a control plane on the operator's own host.

type Head = { readonly status: number; readonly server: unknown; readonly contentType: string | null | undefined };

/** Advice for the operator when Cloudflare responds instead of the control plane; null for other responses. */
export const edgeBlock = ({ status, server, contentType }: Head): string | null =>
  status === 403 && server === "cloudflare" && !contentType?.startsWith("application/json")
    ? 'Cloudflare refused the request before it reached the control plane (HTTP 403): skip Browser Integrity Check for this host by a WAF rule, and switch off Bot Fight Mode (docs/deploying.md, "Your own host")'
    : null;
