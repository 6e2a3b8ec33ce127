CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`sealed_webhook_secret` text NOT NULL,
	`sealed_previous_secret` text,
	`previous_until` integer,
	`max_unfinished_jobs` integer,
	`weight` integer DEFAULT 1 NOT NULL,
	`max_running` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `api_keys` (
	`digest` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	`id` text,
	`pepper` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `ended_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`account_id` text NOT NULL,
	`key` text NOT NULL,
	`body_digest` text NOT NULL,
	`job_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `key`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`status` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`completed_at` integer,
	`view` text NOT NULL,
	`check_at` integer DEFAULT 0,
	`search` text,
	`usage` text,
	`usage_counted` text
);
--> statement-breakpoint
CREATE INDEX `jobs_by_status` ON `jobs` (`account_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_to_check` ON `jobs` (`check_at`) WHERE "jobs"."check_at" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `node_tokens` (
	`digest` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	`id` text,
	`pepper` text,
	`pool` text DEFAULT 'default' NOT NULL,
	`labels` text DEFAULT '[]' NOT NULL
);
--> statement-breakpoint
CREATE TABLE `session_links` (
	`digest` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sweep_positions` (
	`name` text PRIMARY KEY NOT NULL,
	`position` text,
	`started_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `upload_parts` (
	`upload_id` text NOT NULL,
	`number` integer NOT NULL,
	`size_bytes` integer NOT NULL,
	`etag` text NOT NULL,
	PRIMARY KEY(`upload_id`, `number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `uploads` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`part_bytes` integer NOT NULL,
	`status` text NOT NULL,
	`store` text NOT NULL,
	`multipart_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`jobs` text DEFAULT '[]' NOT NULL
);
--> statement-breakpoint
CREATE INDEX `uploads_by_account` ON `uploads` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `uploads_by_expiry` ON `uploads` (`expires_at`);--> statement-breakpoint
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
