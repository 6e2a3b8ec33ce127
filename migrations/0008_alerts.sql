CREATE TABLE `alerts` (
	`name` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL,
	`state` text NOT NULL
);
