-- How far each search for expired rows has come.
CREATE TABLE `sweep_positions` (
	`name` text PRIMARY KEY NOT NULL,
	`position` text,
	`started_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
-- One index for lists of a status, for lists of all, and for the number of unfinished jobs.
CREATE INDEX `jobs_by_status` ON `jobs` (`account_id`,`status`,`created_at`,`id`);--> statement-breakpoint
DROP INDEX `jobs_by_account`;--> statement-breakpoint
DROP INDEX `jobs_unfinished`;
