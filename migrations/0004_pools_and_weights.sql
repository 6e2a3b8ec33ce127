ALTER TABLE `accounts` ADD `weight` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `max_running` integer;--> statement-breakpoint
ALTER TABLE `node_tokens` ADD `pool` text DEFAULT 'default' NOT NULL;--> statement-breakpoint
ALTER TABLE `node_tokens` ADD `labels` text DEFAULT '[]' NOT NULL;