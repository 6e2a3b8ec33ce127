ALTER TABLE `jobs` ADD `took_ms` integer;--> statement-breakpoint
CREATE INDEX `jobs_by_end` ON `jobs` (`account_id`,`status`,`completed_at`,`id`) WHERE "jobs"."completed_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_by_duration` ON `jobs` (`account_id`,`status`,`took_ms`,`id`) WHERE "jobs"."took_ms" IS NOT NULL;