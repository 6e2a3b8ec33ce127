// Files of a package, fetched.

export type Fetched = {
  readonly url: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly cacheControl: string | null;
  readonly bytes: Buffer;
};

export async function fetchFile(url: string): Promise<Fetched> {
  const answer = await fetch(url);
  return {
    url,
    status: answer.status,
    contentType: answer.headers.get("content-type"),
    cacheControl: answer.headers.get("cache-control"),
    bytes: Buffer.from(await answer.arrayBuffer()),
  };
}

/** The text at an address. Throws if there is none. */
export async function textAt(url: string): Promise<string> {
  const { status, bytes } = await fetchFile(url);
  if (status !== 200) throw new Error(`${url} answers ${status}`);
  return bytes.toString();
}
