CREATE TABLE `upload_links` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`status` text NOT NULL,
	`name` text,
	`max_bytes` integer NOT NULL,
	`origins` text NOT NULL,
	`origin` text NOT NULL,
	`sealed` text NOT NULL,
	`has_job` integer NOT NULL,
	`upload_id` text,
	`job_id` text,
	`job_error` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`ended_at` integer,
	`is_announced` integer NOT NULL,
	`webhook` text,
	`check_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `upload_links_by_account` ON `upload_links` (`account_id`,`status`);--> statement-breakpoint
CREATE INDEX `upload_links_by_check` ON `upload_links` (`check_at`);