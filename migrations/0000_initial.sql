CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`sealed_webhook_secret` text NOT NULL,
	`sealed_previous_secret` text,
	`previous_until` integer,
	`max_unfinished_jobs` integer,
	`weight` integer DEFAULT 1 NOT NULL,
	`max_running` integer,
	`max_priority` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `alerts` (
	`name` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL,
	`state` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `api_keys` (
	`digest` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	`scopes` text,
	`expires_at` integer,
	`name` text NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `audit` (
	`id` text NOT NULL,
	`created_at` integer NOT NULL,
	`account_id` text,
	`actor` text NOT NULL,
	`ip` text,
	`action` text NOT NULL,
	`object` text NOT NULL,
	`status` integer NOT NULL,
	PRIMARY KEY(`created_at`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audit_by_account` ON `audit` (`account_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `audit_by_action` ON `audit` (`account_id`,`action`,`created_at`);--> statement-breakpoint
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
CREATE INDEX `idempotency_keys_by_age` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `ingest_tokens` (
	`digest` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`template` text NOT NULL,
	`created_at` integer NOT NULL,
	`key_id` text,
	`expires_at` integer
);
--> statement-breakpoint
CREATE INDEX `ingest_tokens_by_template` ON `ingest_tokens` (`account_id`,`template`);--> statement-breakpoint
CREATE TABLE `job_tags` (
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`created_at` integer NOT NULL,
	`id` text NOT NULL,
	PRIMARY KEY(`account_id`, `name`, `value`, `created_at`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`status` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`completed_at` integer,
	`took_ms` integer,
	`view` text NOT NULL,
	`check_at` integer DEFAULT 0,
	`search` text,
	`usage` text,
	`tags` text,
	`created_by` text,
	`created_from` text
);
--> statement-breakpoint
CREATE INDEX `jobs_by_status` ON `jobs` (`account_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_by_end` ON `jobs` (`account_id`,`status`,`completed_at`,`id`) WHERE "jobs"."completed_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_by_duration` ON `jobs` (`account_id`,`status`,`took_ms`,`id`) WHERE "jobs"."took_ms" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_to_check` ON `jobs` (`check_at`) WHERE "jobs"."check_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_to_expire` ON `jobs` (`completed_at`) WHERE "jobs"."check_at" IS NULL;--> statement-breakpoint
CREATE TABLE `node_tokens` (
	`digest` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
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
CREATE TABLE `templates` (
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`contents` text,
	`sealed` text NOT NULL,
	PRIMARY KEY(`account_id`, `name`, `version`)
);
--> statement-breakpoint
CREATE TABLE `upload_links` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`status` text NOT NULL,
	`name` text,
	`tags` text,
	`max_bytes` integer NOT NULL,
	`origins` text NOT NULL,
	`origin` text NOT NULL,
	`sealed` text,
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
CREATE INDEX `upload_links_by_account` ON `upload_links` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `upload_links_waiting` ON `upload_links` (`account_id`) WHERE "upload_links"."status" = 'waiting';--> statement-breakpoint
CREATE INDEX `upload_links_by_check` ON `upload_links` (`check_at`);--> statement-breakpoint
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
--> statement-breakpoint
CREATE TABLE `usage_tags` (
	`day` integer NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
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
	PRIMARY KEY(`day`, `account_id`, `name`, `value`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `waiting_pools` (
	`name` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE TRIGGER `jobs_tags_inserted` AFTER INSERT ON `jobs` WHEN NEW.tags IS NOT NULL
BEGIN
	INSERT INTO job_tags (account_id, name, value, created_at, id)
	SELECT NEW.account_id, key, value, NEW.created_at, NEW.id FROM json_each(NEW.tags);
END;
--> statement-breakpoint
CREATE TRIGGER `jobs_tags_updated` AFTER UPDATE OF tags ON `jobs` WHEN OLD.tags IS NOT NEW.tags
BEGIN
	DELETE FROM job_tags WHERE (account_id, name, value, created_at, id) IN (
		SELECT OLD.account_id, key, value, OLD.created_at, OLD.id FROM json_each(OLD.tags)
		EXCEPT SELECT NEW.account_id, key, value, NEW.created_at, NEW.id FROM json_each(NEW.tags));
	INSERT INTO job_tags (account_id, name, value, created_at, id)
	SELECT NEW.account_id, key, value, NEW.created_at, NEW.id FROM json_each(NEW.tags)
	EXCEPT SELECT OLD.account_id, key, value, OLD.created_at, OLD.id FROM json_each(OLD.tags);
END;
--> statement-breakpoint
CREATE TRIGGER `jobs_tags_deleted` AFTER DELETE ON `jobs` WHEN OLD.tags IS NOT NULL
BEGIN
	DELETE FROM job_tags WHERE (account_id, name, value, created_at, id) IN (
		SELECT OLD.account_id, key, value, OLD.created_at, OLD.id FROM json_each(OLD.tags));
END;
