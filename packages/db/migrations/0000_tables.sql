CREATE TABLE "api_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"scope" jsonb,
	"secret_hash" "bytea" NOT NULL,
	"created_by" text,
	"created_at" bigint NOT NULL,
	"expires_at" bigint,
	"revoked_at" bigint,
	"last_used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "audit" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" bigint NOT NULL,
	"principal" text NOT NULL,
	"tenant_id" text NOT NULL,
	"method" text NOT NULL,
	"outcome" text NOT NULL,
	"target" text,
	"request_id" text NOT NULL,
	"count" integer DEFAULT 1 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "bookings" (
	"pool_id" text NOT NULL,
	"reservation_id" text NOT NULL,
	"unit_key" bigint NOT NULL,
	"during" "int8range" NOT NULL,
	CONSTRAINT "bookings_pk" PRIMARY KEY("reservation_id","unit_key"),
	CONSTRAINT "bookings_window" CHECK (not isempty("bookings"."during") and lower("bookings"."during") is not null and upper("bookings"."during") is not null)
);
--> statement-breakpoint
CREATE TABLE "clock" (
	"one" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"beat_at" bigint,
	"beat_now" bigint,
	"outage_to" bigint DEFAULT 0 NOT NULL,
	"held_since" bigint,
	"accepted_at" bigint,
	CONSTRAINT "clock_one" CHECK ("clock"."one")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"xid" "xid8" DEFAULT pg_current_xact_id() NOT NULL,
	"tenant_id" text NOT NULL,
	"event_id" text NOT NULL,
	"stream" text NOT NULL,
	"pool_id" text,
	"reservation_id" text,
	"seq" bigint NOT NULL,
	"idx" integer NOT NULL,
	"type" text NOT NULL,
	"at" bigint NOT NULL,
	"data" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "gate_batches" (
	"gate_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"batch_id" text NOT NULL,
	"at" bigint NOT NULL,
	CONSTRAINT "gate_batches_pk" PRIMARY KEY("gate_id","seq"),
	CONSTRAINT "gate_batches_batch" UNIQUE("batch_id")
);
--> statement-breakpoint
CREATE TABLE "gates" (
	"id" text PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"last_at" bigint NOT NULL,
	"config_seq" bigint NOT NULL,
	"fleet_seq" bigint NOT NULL,
	"reset_seq" bigint NOT NULL,
	"grace_to" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "maintenance" (
	"id" text PRIMARY KEY NOT NULL,
	"node_id" text NOT NULL,
	"gate_id" text NOT NULL,
	"start" bigint NOT NULL,
	"end" bigint NOT NULL,
	"state" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "maintenance_window" CHECK ("maintenance"."start" < "maintenance"."end"),
	CONSTRAINT "maintenance_state" CHECK ("maintenance"."state" in ('scheduled', 'active', 'ended', 'cancelled'))
);
--> statement-breakpoint
CREATE TABLE "meta" (
	"key" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "nodes" (
	"id" text PRIMARY KEY NOT NULL,
	"site_id" text NOT NULL,
	"gate_id" text NOT NULL,
	"pool_id" text,
	"name" text NOT NULL,
	"address" text,
	"state" text NOT NULL,
	"labels" jsonb NOT NULL,
	"vcpu" integer NOT NULL,
	"memory_gib" integer NOT NULL,
	"hugepages_1gi" integer NOT NULL,
	"topology_gen" bigint NOT NULL,
	"version" bigint NOT NULL,
	"tenant_owned" boolean NOT NULL,
	"removed_at" bigint,
	"seq" bigint NOT NULL,
	CONSTRAINT "nodes_state" CHECK ("nodes"."state" in ('ready', 'provisioning', 'unhealthy', 'maintenance', 'unreachable')),
	CONSTRAINT "nodes_scalars" CHECK ("nodes"."vcpu" >= 0 and "nodes"."memory_gib" >= 0 and "nodes"."hugepages_1gi" >= 0)
);
--> statement-breakpoint
CREATE TABLE "offers" (
	"pool_id" text NOT NULL,
	"tenant_id" text NOT NULL,
	"include_descendants" boolean NOT NULL,
	"priority" integer NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "offers_pk" PRIMARY KEY("pool_id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "outages" (
	"to_at" bigint PRIMARY KEY NOT NULL,
	"from_at" bigint NOT NULL,
	CONSTRAINT "outages_window" CHECK ("outages"."from_at" < "outages"."to_at")
);
--> statement-breakpoint
CREATE TABLE "pool_authz" (
	"pool_id" text NOT NULL,
	"tenant_id" text NOT NULL,
	"gpu_model" text,
	"class" text NOT NULL,
	"sharing" text NOT NULL,
	"region" text NOT NULL,
	"owned" boolean NOT NULL,
	"version" bigint NOT NULL,
	CONSTRAINT "pool_authz_pk" PRIMARY KEY("pool_id","tenant_id")
);
--> statement-breakpoint
CREATE TABLE "pool_due" (
	"gate_id" text PRIMARY KEY NOT NULL,
	"next_at" bigint
);
--> statement-breakpoint
CREATE TABLE "pools" (
	"id" text PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"site_id" text NOT NULL,
	"region" text NOT NULL,
	"class" text NOT NULL,
	"gpu_model" text,
	"sharing" text NOT NULL,
	"agent" text NOT NULL,
	"policy" jsonb NOT NULL,
	"kubernetes_token" "bytea",
	"provider_account_id" text,
	"version" bigint NOT NULL,
	"archived_at" bigint,
	"created_by" text NOT NULL,
	"idempotency_key" text,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "pools_class" CHECK ("pools"."class" in ('metal-host', 'metal-dedicated', 'vps-host', 'provider')),
	CONSTRAINT "pools_sharing" CHECK ("pools"."sharing" in ('exclusive', 'mig', 'timeslice', 'mps')),
	CONSTRAINT "pools_agent" CHECK ("pools"."agent" in ('bcd', 'none'))
);
--> statement-breakpoint
CREATE TABLE "provider_accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "provider_accounts_name" UNIQUE("tenant_id","name")
);
--> statement-breakpoint
CREATE TABLE "quotas" (
	"pool_id" text NOT NULL,
	"tenant_id" text NOT NULL,
	"resource" text NOT NULL,
	"max" bigint NOT NULL,
	"used" bigint DEFAULT 0 NOT NULL,
	"used_at" bigint NOT NULL,
	CONSTRAINT "quotas_pk" PRIMARY KEY("pool_id","tenant_id","resource"),
	CONSTRAINT "quotas_range" CHECK ("quotas"."max" >= 0 and "quotas"."used" >= 0)
);
--> statement-breakpoint
CREATE TABLE "reservation_keys" (
	"tenant_id" text NOT NULL,
	"principal" text NOT NULL,
	"key" text NOT NULL,
	"request_hash" text NOT NULL,
	"reservation_id" text NOT NULL,
	"pool_id" text NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "reservation_keys_pk" PRIMARY KEY("tenant_id","principal","key")
);
--> statement-breakpoint
CREATE TABLE "reservations" (
	"id" text PRIMARY KEY NOT NULL,
	"pool_id" text NOT NULL,
	"tenant_id" text NOT NULL,
	"charged_tenant_id" text NOT NULL,
	"project_id" text,
	"state" text NOT NULL,
	"binding" text NOT NULL,
	"gang" jsonb,
	"node_setup" jsonb,
	"spot" boolean NOT NULL,
	"start" bigint NOT NULL,
	"end" bigint NOT NULL,
	"started_at" bigint,
	"preemption" jsonb,
	"degraded" jsonb,
	"pins" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"lease_seconds" integer,
	"lease_expires_at" bigint,
	"ending_soon_at" bigint,
	"topology" text NOT NULL,
	"devices" jsonb NOT NULL,
	"resources" jsonb NOT NULL,
	"members" jsonb NOT NULL,
	"ended_at" bigint,
	"end_reason" text,
	"version" bigint NOT NULL,
	"created_by" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"seq" bigint NOT NULL,
	CONSTRAINT "reservations_window" CHECK ("reservations"."start" < "reservations"."end"),
	CONSTRAINT "reservations_state" CHECK ("reservations"."state" in ('scheduled', 'active', 'preempting', 'completed', 'released', 'expired', 'preempted', 'terminated')),
	CONSTRAINT "reservations_ended" CHECK (("reservations"."ended_at" is null) = ("reservations"."state" in ('scheduled', 'active', 'preempting'))),
	CONSTRAINT "reservations_begun" CHECK (case "reservations"."state" when 'scheduled' then "reservations"."started_at" is null when 'active' then "reservations"."started_at" is not null else true end),
	CONSTRAINT "reservations_binding" CHECK ("reservations"."binding" in ('hold', 'node'))
);
--> statement-breakpoint
CREATE TABLE "rollups" (
	"pool_id" text NOT NULL,
	"resource" text NOT NULL,
	"total" bigint NOT NULL,
	"allocatable" bigint NOT NULL,
	"allocated" bigint NOT NULL,
	"reserved" bigint NOT NULL,
	"available" bigint NOT NULL,
	"provisioning" bigint NOT NULL,
	"unhealthy" bigint NOT NULL,
	"maintenance" bigint NOT NULL,
	"unreachable" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "rollups_pk" PRIMARY KEY("pool_id","resource")
);
--> statement-breakpoint
CREATE TABLE "servers" (
	"id" text PRIMARY KEY NOT NULL,
	"beat_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sites" (
	"id" text PRIMARY KEY NOT NULL,
	"tenant_id" text NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"region" text NOT NULL,
	"desired_gen" bigint DEFAULT 0 NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "sites_name" UNIQUE("tenant_id","name"),
	CONSTRAINT "sites_kind" CHECK ("sites"."kind" in ('custom', 'platform'))
);
--> statement-breakpoint
CREATE TABLE "streams" (
	"id" text PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tenants" (
	"tenant_id" text PRIMARY KEY NOT NULL,
	"parent_id" text,
	"name" text,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "unit_reservations" (
	"id" text PRIMARY KEY NOT NULL,
	"gate_id" text NOT NULL,
	"node_id" text NOT NULL,
	"status" text NOT NULL,
	"allowed_org_ids" jsonb NOT NULL,
	"managing_org_ids" jsonb NOT NULL,
	"unit_ids" jsonb NOT NULL,
	"released_unit_ids" jsonb NOT NULL,
	"starts_at" bigint NOT NULL,
	"ends_at" bigint,
	"ended_at" bigint,
	"topology_gen" bigint NOT NULL,
	"reason" text,
	"contract_ref" text,
	"created_by" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"seq" bigint NOT NULL,
	CONSTRAINT "unit_reservations_window" CHECK ("unit_reservations"."starts_at" < "unit_reservations"."ends_at"),
	CONSTRAINT "unit_reservations_status" CHECK ("unit_reservations"."status" in ('pending', 'active', 'expired', 'cancelled', 'needs-review')),
	CONSTRAINT "unit_reservations_ended" CHECK (("unit_reservations"."ended_at" is null) = ("unit_reservations"."status" in ('pending', 'active', 'needs-review')))
);
--> statement-breakpoint
CREATE TABLE "unit_terms" (
	"unit_reservation_id" text NOT NULL,
	"unit_key" bigint NOT NULL,
	"during" "int8range" NOT NULL,
	CONSTRAINT "unit_terms_pk" PRIMARY KEY("unit_reservation_id","unit_key"),
	CONSTRAINT "unit_terms_window" CHECK (not isempty("unit_terms"."during") and lower("unit_terms"."during") is not null)
);
--> statement-breakpoint
CREATE TABLE "units" (
	"key" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "units_key_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"node_id" text NOT NULL,
	"gate_id" text NOT NULL,
	"class" text NOT NULL,
	"index" integer NOT NULL,
	"model" text,
	"profile" text,
	"placement" integer,
	"gpu_uuid" text,
	"pci_address" text,
	"memory_gib" integer,
	"nvlink_domain" text,
	"vfio_group" text,
	"parent_unit_id" text,
	"healthy" boolean NOT NULL,
	"removed" boolean NOT NULL,
	"carrier" boolean DEFAULT false NOT NULL,
	"mig_profiles" jsonb,
	"gone_at" bigint,
	CONSTRAINT "units_id" UNIQUE("id"),
	CONSTRAINT "units_class" CHECK ("units"."class" in ('gpu', 'gpu.mig', 'gpu.slot', 'nic.vf', 'disk'))
);
--> statement-breakpoint
CREATE TABLE "waiters" (
	"id" text PRIMARY KEY NOT NULL,
	"pool_id" text NOT NULL,
	"tenant_id" text NOT NULL,
	"ancestors" jsonb NOT NULL,
	"priority" integer NOT NULL,
	"since" bigint NOT NULL,
	"deadline" bigint NOT NULL,
	"server_id" text NOT NULL,
	"key" jsonb,
	"ask" jsonb NOT NULL,
	"done_at" bigint,
	"seq" bigint NOT NULL,
	CONSTRAINT "waiters_window" CHECK ("waiters"."since" < "waiters"."deadline")
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "maintenance" ADD CONSTRAINT "maintenance_node_id_nodes_id_fk" FOREIGN KEY ("node_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "nodes" ADD CONSTRAINT "nodes_site_id_sites_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."sites"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "offers" ADD CONSTRAINT "offers_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pools" ADD CONSTRAINT "pools_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pools" ADD CONSTRAINT "pools_site_id_sites_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."sites"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "pools" ADD CONSTRAINT "pools_provider_account_id_provider_accounts_id_fk" FOREIGN KEY ("provider_account_id") REFERENCES "public"."provider_accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_accounts" ADD CONSTRAINT "provider_accounts_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "quotas" ADD CONSTRAINT "quotas_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sites" ADD CONSTRAINT "sites_tenant_id_tenants_tenant_id_fk" FOREIGN KEY ("tenant_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tenants" ADD CONSTRAINT "tenants_parent_id_tenants_tenant_id_fk" FOREIGN KEY ("parent_id") REFERENCES "public"."tenants"("tenant_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "unit_reservations" ADD CONSTRAINT "unit_reservations_node_id_nodes_id_fk" FOREIGN KEY ("node_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "units" ADD CONSTRAINT "units_node_id_nodes_id_fk" FOREIGN KEY ("node_id") REFERENCES "public"."nodes"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_keys_tenant" ON "api_keys" USING btree ("tenant_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "audit_tenant" ON "audit" USING btree ("tenant_id","id");--> statement-breakpoint
CREATE INDEX "events_feed" ON "events" USING btree ("tenant_id","xid","id");--> statement-breakpoint
CREATE INDEX "maintenance_node" ON "maintenance" USING btree ("node_id");--> statement-breakpoint
CREATE UNIQUE INDEX "nodes_name" ON "nodes" USING btree ("site_id","name") WHERE removed_at is null;--> statement-breakpoint
CREATE INDEX "nodes_gate" ON "nodes" USING btree ("gate_id","seq");--> statement-breakpoint
CREATE INDEX "offers_tenant" ON "offers" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "pool_authz_tenant" ON "pool_authz" USING btree ("tenant_id");--> statement-breakpoint
CREATE INDEX "pool_due_next" ON "pool_due" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "pools_tenant" ON "pools" USING btree ("tenant_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "pools_site" ON "pools" USING btree ("site_id");--> statement-breakpoint
CREATE INDEX "reservations_seq" ON "reservations" USING btree ("pool_id","seq");--> statement-breakpoint
CREATE INDEX "reservations_live" ON "reservations" USING btree ("pool_id") WHERE state in ('scheduled', 'active', 'preempting');--> statement-breakpoint
CREATE INDEX "reservations_tenant" ON "reservations" USING btree ("tenant_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "tenants_parent" ON "tenants" USING btree ("parent_id");--> statement-breakpoint
CREATE INDEX "unit_reservations_seq" ON "unit_reservations" USING btree ("gate_id","seq");--> statement-breakpoint
CREATE INDEX "unit_reservations_node" ON "unit_reservations" USING btree ("node_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "units_node" ON "units" USING btree ("node_id");--> statement-breakpoint
CREATE INDEX "units_gpu_uuid" ON "units" USING btree ("gpu_uuid");--> statement-breakpoint
CREATE INDEX "waiters_seq" ON "waiters" USING btree ("pool_id","seq");--> statement-breakpoint
CREATE INDEX "waiters_done" ON "waiters" USING btree ("pool_id","done_at");