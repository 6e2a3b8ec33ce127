CREATE TABLE `templates` (
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`sealed` text NOT NULL,
	PRIMARY KEY(`account_id`, `name`, `version`)
);
