import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { basic, jobBody, newAccount, send } from "../testing/jobs.ts";
import { newLink } from "../testing/upload-links.ts";
import { dueLinks, findLink, insertLink, MAX_KEPT_LINKS, type UploadLinkRow } from "./upload-links.ts";

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

  it("are stored only within the limits of their account, also if two links come at the same time", async () => {
    const { id: accountId, key } = await newAccount();
    const row = await findLink(env.DB, (await newLink(key, { max_size: 60 })).id);
    if (!row) throw new Error("The link is not stored");
    const next: UploadLinkRow = { ...row, id: `${accountId}-new`, maxBytes: 40 };
    expect(await insertLink(env.DB, next, { count: 1, bytes: 100 })).toBe(false);
    expect(await insertLink(env.DB, next, { count: 2, bytes: 99 })).toBe(false);
    expect(await insertLink(env.DB, next, { count: 2, bytes: 100 })).toBe(true);
  });

  it("are swept in equal shares of their accounts", async () => {
    const keys = [(await newAccount()).key, (await newAccount()).key];
    const ids: string[] = [];
    for (const [at, account] of [0, 0, 1].entries()) {
      ids.push((await newLink(keys[account] ?? "")).id);
      await env.DB.prepare("UPDATE upload_links SET check_at = ? WHERE id = ?")
        .bind(at - 9, ids[at])
        .run();
    }
    const due = await dueLinks(env.DB, -1, 2);
    expect(due.map(({ id }) => id).toSorted()).toEqual([ids[0], ids[2]].toSorted());
  });
});
