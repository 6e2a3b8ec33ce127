// Parses a source on the command line: a file, a URL, or an object in a bucket.
import { statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import type { Env } from "../connection/folders.ts";
import { listOption, type Options } from "../context.ts";
import { usageError } from "../exit.ts";
import { folderSection, isFolderFile } from "./folder-file.ts";

export type Source =
  | { readonly kind: "file"; readonly path: string; readonly size: number; readonly mtimeMs: number }
  /** `input` is the section of the request. */
  | { readonly kind: "remote"; readonly input: Readonly<Record<string, unknown>> };

/** The source of a command; null if the command names none. Throws a usage error. */
export function sourceOfCommand(text: string | undefined, env: Env, options: Options): Source | null {
  const headers = listOption(options, "header");
  if (text === undefined && headers.length > 0) throw usageError("--header needs a source at an http(s) URL");
  return text === undefined ? null : sourceOf(text, env, headers);
}

/** Throws a usage error for any other text. */
export function sourceOf(text: string, env: Env, headerLines: readonly string[] = []): Source {
  const headers = headersOf(headerLines);
  if (/^https?:\/\//i.test(text)) return { kind: "remote", input: { url: text, ...headers } };
  if (headerLines.length > 0) throw usageError("--header needs a source at an http(s) URL");
  if (/^s3:\/\//i.test(text)) return { kind: "remote", input: bucketInput(text, env) };
  if (isFolderFile(text)) return { kind: "remote", input: folderSection(text, true) };
  const path = resolve(text);
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status?.isFile())
    throw usageError(`${path} is not a file. A source is a file, an http(s) URL, s3://bucket/key or folder:name/path`);
  if (status.size === 0) throw usageError(`${path} is empty`);
  return { kind: "file", path, size: status.size, mtimeMs: status.mtimeMs };
}

/** The `headers` of an input from lines such as `Authorization: Bearer abc`. Throws a usage error without the value. */
function headersOf(lines: readonly string[]): { headers?: Readonly<Record<string, string>> } {
  if (lines.length === 0) return {};
  const entries = lines.map((line) => {
    const at = line.indexOf(":");
    if (at < 1) throw usageError('--header must be "Name: value"');
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
  });
  return { headers: Object.fromEntries(entries) };
}

function bucketInput(text: string, env: Env): Readonly<Record<string, unknown>> {
  const [, bucket = "", key = ""] = /^s3:\/\/([^/]+)\/(.+)$/i.exec(text) ?? [];
  if (key === "") throw usageError(`"${text}" must be s3://bucket/key`);
  const { AWS_ACCESS_KEY_ID: access_key_id, AWS_SECRET_ACCESS_KEY: secret_access_key } = env;
  const session_token = env.AWS_SESSION_TOKEN;
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || "us-east-1";
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL;
  if (!access_key_id || !secret_access_key) {
    throw usageError("s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment");
  }
  return {
    ...(endpoint ? { service: "s3other", endpoint, force_path_style: true } : { service: "s3" }),
    bucket,
    region,
    key,
    credentials: { access_key_id, secret_access_key, ...(session_token ? { session_token } : {}) },
  };
}

/**
 * Returns a name for the outputs of a source: its file name without extension, limited to characters that are safe in
 * paths.
 */
export function nameOf(text: string): string {
  const path = /^[a-z0-9]+:\/\//i.test(text) && URL.canParse(text) ? decodePath(new URL(text).pathname) : text;
  const name = basename(path.replaceAll("\\", "/"));
  const safe = name
    .slice(0, name.length - extname(name).length)
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")
    .replaceAll(/^[-.]+|(?<![-.])[-.]+$/g, "");
  return safe.slice(0, 100) || "output";
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
