ALTER TABLE `jobs` ADD `check_at` integer DEFAULT 0;--> statement-breakpoint
-- Jobs that live are asked after at once. Of those that ended longer ago than any retention (365 days and one for clearing)
-- nothing is left; the others are spread over a week, behind those that live.
UPDATE `jobs` SET `check_at` = CASE
  WHEN `completed_at` < (unixepoch() - 366 * 86400) * 1000 THEN NULL
  ELSE (unixepoch() + 86400 + abs(random() % (7 * 86400))) * 1000
END WHERE `completed_at` IS NOT NULL;--> statement-breakpoint
CREATE INDEX `jobs_to_check` ON `jobs` (`check_at`) WHERE "jobs"."check_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `keys_by_age` ON `idempotency_keys` (`created_at`);