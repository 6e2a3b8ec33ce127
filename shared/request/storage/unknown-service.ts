// Error message for a missing or unsupported `service`.

import { excerpt } from "../../excerpt.ts";
import { nearest } from "../../nearest.ts";

/** Common other names of the services. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  s3: ["aws", "amazon", "amazons3", "awss3"],
  gcs: ["google", "googlecloud", "googlecloudstorage", "gcp", "gs"],
  dospaces: ["digitalocean", "digitaloceanspaces", "spaces", "do"],
  r2: ["cloudflare", "cloudflarer2"],
  linode: ["akamai"],
  backblaze: ["b2", "backblazeb2"],
  azure: ["azureblob", "azureblobstorage", "microsoft"],
  folder: ["nas", "nfs", "smb", "local", "file", "disk"],
  s3other: ["minio", "ceph", "s3compatible", "custom", "scaleway", "ovh", "hetzner"],
};

/** Returns a sentence about a `<section>.service` that is not in `known`. */
export function unknownService(section: "storage" | "input", service: unknown, known: readonly string[]): string {
  const field = `\`${section}.service\``;
  const allowed = `llowed: ${known.join(", ")}`;
  const otherwise = `; or use \`${section}.url\``;
  if (service === undefined) return `${field} is missing; a${allowed}${otherwise}`;
  if (typeof service !== "string") return `${field} must be a string; a${allowed}`;
  const unknown = `${field} \`${excerpt(service)}\` is not supported`;
  if (/^https?$/i.test(service)) return `${unknown}; for a URL, use \`${section}.url\` without \`service\``;
  const meant = meantBy(service, known);
  return meant === null ? `${unknown}; a${allowed}${otherwise}` : `${unknown}; did you mean \`${meant}\`? A${allowed}`;
}

function meantBy(service: string, known: readonly string[]): string | null {
  const word = service.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const called = known.find((name) => name === word || OTHER_NAMES[name]?.includes(word));
  return called ?? nearest(word, known);
}
