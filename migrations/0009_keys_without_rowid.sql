-- The other half, and what was written since 0008. The previous version's sweeper deletes by rowid; until it is replaced it
-- finds a column of this name, and deletes nothing.
INSERT OR REPLACE INTO `keys_without_rowid` (`account_id`, `key`, `body_digest`, `job_id`, `created_at`)
  SELECT `account_id`, `key`, `body_digest`, `job_id`, `created_at` FROM `idempotency_keys`
  WHERE `created_at` % 2 = 1 OR `created_at` > (SELECT coalesce(max(`created_at`), 0) FROM `keys_without_rowid`) - 3600000 ORDER BY +`account_id`, +`key`;--> statement-breakpoint
DROP TABLE `idempotency_keys`;--> statement-breakpoint
ALTER TABLE `keys_without_rowid` RENAME TO `idempotency_keys`;
