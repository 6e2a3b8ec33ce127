-- How far each search for expired rows has come.
CREATE TABLE `sweep_positions` (
	`name` text PRIMARY KEY NOT NULL,
	`position` text,
	`started_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
-- A key is one row instead of three: without a rowid, and without an index by age. The previous version's sweeper deletes
-- by rowid; until it is replaced it finds this column, and deletes nothing.
CREATE TABLE `keys_without_rowid` (
	`account_id` text NOT NULL,
	`key` text NOT NULL,
	`body_digest` text NOT NULL,
	`job_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`rowid` text GENERATED ALWAYS AS (NULL) VIRTUAL,
	PRIMARY KEY(`account_id`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `keys_without_rowid` (`account_id`, `key`, `body_digest`, `job_id`, `created_at`)
  SELECT `account_id`, `key`, `body_digest`, `job_id`, `created_at` FROM `idempotency_keys` ORDER BY `account_id`, `key`;--> statement-breakpoint
DROP TABLE `idempotency_keys`;--> statement-breakpoint
ALTER TABLE `keys_without_rowid` RENAME TO `idempotency_keys`;--> statement-breakpoint
-- One index for lists of a status, for lists of all, and for the number of unfinished jobs.
CREATE INDEX `jobs_by_status` ON `jobs` (`account_id`,`status`,`created_at`,`id`);--> statement-breakpoint
DROP INDEX `jobs_by_account`;--> statement-breakpoint
DROP INDEX `jobs_unfinished`;
