-- What a source wants ignored: few sightings, so that the findings of them are found without a look at the others.
create index sightings_suppressed on sightings (org_id, finding_id) where suppressed and state = 'present';
