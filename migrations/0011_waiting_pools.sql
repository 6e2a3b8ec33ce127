CREATE TABLE `waiting_pools` (
	`name` text PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
);
