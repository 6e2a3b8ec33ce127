import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { basic, jobBody, newAccount, send } from "../testing/jobs.ts";
import { newLink } from "../testing/upload-links.ts";
import { findLink, insertLink, MAX_KEPT_LINKS, type UploadLinkRow } from "./upload-links.ts";

describe("rows of upload links", () => {
  it("lose the sealed job when the link is revoked", async () => {
    const { key } = await newAccount();
    const { input: _input, ...job } = jobBody();
    const link = await newLink(key, { job });
    expect((await findLink(env.DB, link.id))?.sealed).toEqual(expect.any(String));
    await send(`/v2/upload-links/${link.id}`, { method: "DELETE", headers: basic(key) });
    expect((await findLink(env.DB, link.id))?.sealed).toBeNull();
  });

  it("are deleted after the newest 5,000 ended links", async () => {
    const { id: accountId, key } = await newAccount();
    const live = await newLink(key);
    const row = await findLink(env.DB, live.id);
    if (!row) throw new Error("The link is not stored");
    await env.DB.prepare("UPDATE upload_links SET created_at = 1 WHERE id = ?").bind(live.id).run();
    const insert = env.DB.prepare(
      `WITH RECURSIVE n(at) AS (SELECT 2 UNION ALL SELECT at + 1 FROM n WHERE at < ?)
      INSERT INTO upload_links (id, account_id, status, max_bytes, origins, origin, created_at, expires_at,
        ended_at, is_announced, check_at)
      SELECT ? || at, ?, 'revoked', 1, '[]', '', at, 1, at, 1, 1 FROM n`,
    );
    await insert.bind(MAX_KEPT_LINKS + 50, `${accountId}-`, accountId).run();
    const next: UploadLinkRow = { ...row, id: `${accountId}-new`, createdAt: Date.now() };
    expect(await insertLink(env.DB, next, { count: 1000, bytes: 1e12 })).toBe(true);
    const count = env.DB.prepare("SELECT count(*) AS n FROM upload_links WHERE account_id = ?").bind(accountId);
    expect(await count.first("n")).toBe(MAX_KEPT_LINKS + 2);
    expect(await findLink(env.DB, live.id)).not.toBeNull();
    expect(await findLink(env.DB, `${accountId}-2`)).toBeNull();
  });
});
