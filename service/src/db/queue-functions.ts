/**
 * What the application role may do with the queue: add jobs, and count those of its organization that wait. It cannot read or change them. The queue belongs to the
 * system role, and so do the functions.
 *
 * Jobs of different organizations take turns. The queue runs jobs in the order of their priority, lowest first. A job comes after the last waiting
 * job of its organization, and not before the job that is next: an organization without waiting jobs starts where the others are now. A thousand
 * jobs of one organization therefore delay the first job of another by one job, not by a thousand. Jobs of no organization are always next.
 *
 * The flags of a job are its kind, and its kind with its organization: workers limit how many of each run at the same time (`jobs/turns.ts`).
 */
export const QUEUE_FUNCTIONS = `
  create index if not exists jobs_of_organization on graphile_worker._private_jobs ((payload ->> 'org_id'), priority) where is_available;

  create or replace function rrs_jobs.add_job(task text, payload json, run_at timestamptz, job_key text, max_attempts integer, kind text) returns void
  language sql security definer set search_path = pg_catalog, pg_temp as $$
    select graphile_worker.add_job(task, payload, null, run_at, max_attempts, job_key, case when payload ->> 'org_id' is null then 0 else least(32767, greatest(
      (select min(j.priority) from graphile_worker._private_jobs j where j.is_available and j.priority > 0 and j.run_at <= now() and j.flags ? kind),
      (select max(j.priority) + 1 from graphile_worker._private_jobs j where j.is_available and j.payload ->> 'org_id' = add_job.payload ->> 'org_id' and j.flags ? kind),
      1)) end, array_remove(array[kind, kind || ' ' || (payload ->> 'org_id')], null))
  $$;

  create or replace function rrs_jobs.count_waiting() returns integer
  language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select count(*)::integer from graphile_worker._private_jobs j where j.is_available and j.payload ->> 'org_id' = current_setting('app.org_id')
  $$;

  revoke all on function rrs_jobs.add_job, rrs_jobs.count_waiting from public;
  grant execute on function rrs_jobs.add_job, rrs_jobs.count_waiting to rrs_app`;
