-- What accounts have used by day: one row for each account and day, in one tree.
CREATE TABLE `usage_days` (
	`day` integer NOT NULL,
	`account_id` text NOT NULL,
	`completed` integer NOT NULL,
	`failed` integer NOT NULL,
	`aborted` integer NOT NULL,
	`audio_ms` integer NOT NULL,
	`sd_ms` integer NOT NULL,
	`hd_ms` integer NOT NULL,
	`uhd_ms` integer NOT NULL,
	`node_ms` integer NOT NULL,
	`stored_bytes` integer NOT NULL,
	`lasted_ms` integer NOT NULL,
	PRIMARY KEY(`day`, `account_id`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `jobs` ADD `usage` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `usage_counted` text;