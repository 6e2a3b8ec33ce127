CREATE TABLE `job_tags` (
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`created_at` integer NOT NULL,
	`id` text NOT NULL,
	PRIMARY KEY(`account_id`, `name`, `value`, `created_at`, `id`)
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
ALTER TABLE `jobs` ADD `tags` text;
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
