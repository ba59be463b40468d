-- Is the mail of any inbox of an organization work?
CREATE INDEX policies_of_work ON policies (organization_id) WHERE has_work = 1;
