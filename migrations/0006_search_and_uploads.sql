-- The stored parts of uploads.
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
ALTER TABLE `jobs` ADD `search` text;