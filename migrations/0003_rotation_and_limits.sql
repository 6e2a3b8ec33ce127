ALTER TABLE `accounts` ADD `sealed_previous_secret` text;--> statement-breakpoint
ALTER TABLE `accounts` ADD `previous_until` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `max_unfinished_jobs` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `pepper` text;--> statement-breakpoint
ALTER TABLE `node_tokens` ADD `id` text;--> statement-breakpoint
ALTER TABLE `node_tokens` ADD `pepper` text;--> statement-breakpoint
CREATE INDEX `jobs_unfinished` ON `jobs` (`account_id`) WHERE "jobs"."completed_at" IS NULL;