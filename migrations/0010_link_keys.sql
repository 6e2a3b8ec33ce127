PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_upload_links` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`status` text NOT NULL,
	`name` text,
	`tags` text,
	`max_bytes` integer NOT NULL,
	`origins` text NOT NULL,
	`origin` text NOT NULL,
	`sealed` text,
	`has_job` integer NOT NULL,
	`upload_id` text,
	`job_id` text,
	`job_error` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`ended_at` integer,
	`is_announced` integer NOT NULL,
	`check_at` integer NOT NULL,
	`key_id` text,
	`refused_origin` text
);
--> statement-breakpoint
INSERT INTO `__new_upload_links`("id", "account_id", "status", "name", "tags", "max_bytes", "origins", "origin", "sealed", "has_job", "upload_id", "job_id", "job_error", "created_at", "expires_at", "ended_at", "is_announced", "check_at", "key_id", "refused_origin") SELECT "id", "account_id", "status", "name", "tags", "max_bytes", "origins", "origin", "sealed", "has_job", "upload_id", "job_id", "job_error", "created_at", "expires_at", "ended_at", "is_announced", "check_at", NULL, NULL FROM `upload_links`;--> statement-breakpoint
DROP TABLE `upload_links`;--> statement-breakpoint
ALTER TABLE `__new_upload_links` RENAME TO `upload_links`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `upload_links_by_account` ON `upload_links` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `upload_links_waiting` ON `upload_links` (`account_id`) WHERE "upload_links"."status" = 'waiting';--> statement-breakpoint
CREATE INDEX `upload_links_by_check` ON `upload_links` (`check_at`);--> statement-breakpoint
ALTER TABLE `ingest_tokens` ADD `key_id` text;--> statement-breakpoint
ALTER TABLE `ingest_tokens` ADD `expires_at` integer;