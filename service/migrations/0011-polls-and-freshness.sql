-- The date of what a run of enrichment taught, in the vendor's words.
alter table sync_runs add column knowledge_as_of text;

-- Polls of ticketing systems are runs too, several in an hour: those that are old and were followed by a good one are forgotten.
grant delete on sync_runs to rrs_app;
