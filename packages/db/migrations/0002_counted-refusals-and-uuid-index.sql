ALTER TABLE "audit" ADD COLUMN "count" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX "units_gpu_uuid" ON "units" USING btree ("gpu_uuid");