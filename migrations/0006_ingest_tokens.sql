CREATE TABLE `ingest_tokens` (
	`digest` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`template` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `ingest_tokens_by_template` ON `ingest_tokens` (`account_id`,`template`);