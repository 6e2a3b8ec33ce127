// What the operator does: accounts with their API keys, and node tokens. Secrets are shown once, in these answers.

import { Hono } from "hono";
import * as z from "zod";
import { newApiKey, newNodeToken, randomText } from "#shared/ids.ts";
import { digestOf, insertAccount, insertNodeToken } from "../../db/credentials.ts";
import { settingsOf } from "../../env.ts";
import { newWebhookSecret } from "../../notify/signature.ts";
import { seal } from "../../storage/sealed-secret.ts";
import { adminAuth, type NodeEnv } from "../auth.ts";
import { answer } from "../problem.ts";
import { readBody } from "../read-body.ts";

const Named = z.object({ name: z.string().trim().min(1).max(100) });
const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));

export const admin = new Hono<NodeEnv>({ strict: false })
  .use(adminAuth)
  .post("/accounts", async (context) => {
    const { name } = await readBody(context.req, Named, "json_not_valid");
    const { keyPepper, sealingKeys } = settingsOf(context.env);
    const id = randomText(14, randomBytes);
    const apiKey = newApiKey(randomBytes);
    const webhookSecret = newWebhookSecret(randomBytes(32));
    const sealedWebhookSecret = await seal(webhookSecret, `account:${id}`, sealingKeys);
    const account = { id, name, sealedWebhookSecret, createdAt: Date.now() };
    await insertAccount(context.env.DB, account, await digestOf(apiKey, keyPepper));
    return answer(context, { account_id: id, api_key: apiKey, webhook_secret: webhookSecret }, 201);
  })
  .post("/node-tokens", async (context) => {
    const { name } = await readBody(context.req, Named, "json_not_valid");
    const token = newNodeToken(randomBytes);
    const digest = await digestOf(token, settingsOf(context.env).keyPepper);
    await insertNodeToken(context.env.DB, { digest, name, createdAt: Date.now() });
    return answer(context, { node_token: token }, 201);
  });
