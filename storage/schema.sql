-- The whole store, as a new installation gets it. Upgrades take the steps in migrations/;
-- a test proves that both roads end in the same schema.
--
-- Times are integer milliseconds since 1970 (UTC). Lists and maps are JSON text. Ids are the
-- prefixed ones of the API. Every CHECK over a status repeats a table of storage/states.py
-- (also proven by a test).

-- Tenants -----------------------------------------------------------------------------------

CREATE TABLE organizations (
  id                 TEXT PRIMARY KEY,
  name               TEXT NOT NULL,
  plan               TEXT NOT NULL,
  sending_status     TEXT NOT NULL CHECK (sending_status IN ('approved', 'pending', 'paused')),
  sending_reason     TEXT,
  sending_action     TEXT,
  sending_tripped_at INTEGER,
  tripwire_tripped_at INTEGER,
  created_at         INTEGER NOT NULL,
  reputation_baseline TEXT,                      -- what the circuit breaker has forgiven (storage/usage.py)
  reviewers          TEXT NOT NULL DEFAULT 'keys' CHECK (reviewers IN ('keys', 'members')), -- who decides what is held
  is_watched         INTEGER NOT NULL DEFAULT 0 CHECK (is_watched IN (0, 1)), -- with each message that it sends (storage/tenants/circuit_breaker.py)
  deleted_at         INTEGER,                    -- closed since then, and going bit by bit (storage/tenants/erasure.py)
  erased             TEXT                        -- JSON: how many of each kind have gone
) STRICT;
CREATE INDEX organizations_deleted ON organizations (id) WHERE deleted_at IS NOT NULL;

CREATE TABLE members (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  email           TEXT NOT NULL,
  name            TEXT,
  role            TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  joined_at       INTEGER NOT NULL,
  UNIQUE (organization_id, email)
) STRICT;
CREATE INDEX members_by_email ON members (email);
CREATE INDEX members_by_organization ON members (organization_id, joined_at, id);

-- What lets a member in once: the link's secret is stored nowhere (storage/tenants/console_sessions.py).
CREATE TABLE console_links (
  token_hash      BLOB PRIMARY KEY,              -- SHA-256
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  member_id       TEXT NOT NULL REFERENCES members (id),
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  used_at         INTEGER                        -- it is kept for a day, so that a second use is told
) STRICT, WITHOUT ROWID;
CREATE INDEX console_links_by_member ON console_links (member_id, created_at);
CREATE INDEX console_links_by_end ON console_links (expires_at);

-- A browser in which a member is signed in. Ended ones are deleted.
CREATE TABLE console_sessions (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  member_id       TEXT NOT NULL REFERENCES members (id),
  token_hash      BLOB NOT NULL UNIQUE,          -- SHA-256 of what the cookie holds, which is stored nowhere
  created_at      INTEGER NOT NULL,
  last_used_at    INTEGER NOT NULL,
  expires_at      INTEGER NOT NULL,
  address         TEXT NOT NULL,                 -- where it was signed in from, and by which browser
  user_agent      TEXT NOT NULL
) STRICT;
CREATE INDEX console_sessions_by_member ON console_sessions (member_id, id);
CREATE INDEX console_sessions_by_organization ON console_sessions (organization_id, id);
CREATE INDEX console_sessions_by_end ON console_sessions (expires_at);

CREATE TABLE agents (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name            TEXT NOT NULL,
  created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX agents_by_organization ON agents (organization_id, id);

CREATE TABLE api_keys (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  inbox_id        TEXT REFERENCES inboxes (id),
  name            TEXT NOT NULL,
  key_prefix      TEXT NOT NULL,
  key_hash        BLOB NOT NULL UNIQUE,          -- SHA-256 of the raw key, which is stored nowhere
  mode            TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  scopes          TEXT NOT NULL,
  is_active       INTEGER NOT NULL DEFAULT 1,
  last_used_at    INTEGER,
  created_at      INTEGER NOT NULL,
  minted_by       TEXT,                          -- a key; NULL: the operator or a member made it, or it is from before 0030
  withdraws_mail  INTEGER NOT NULL DEFAULT 0     -- revoked with its mail, which may wait still (storage/mail/withdrawal.py)
) STRICT;
CREATE INDEX api_keys_by_organization ON api_keys (organization_id, id);
CREATE INDEX api_keys_to_withdraw ON api_keys (organization_id, id) WHERE withdraws_mail = 1;

-- Which master key everything sealed is sealed under (storage/upkeep/rotation.py); one row.
CREATE TABLE master_key (
  fingerprint BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Keys that the server made for itself, such as the one that signs unsubscribe links.
CREATE TABLE server_secrets (
  name   TEXT PRIMARY KEY,
  secret BLOB NOT NULL                           -- sealed under the master key
) STRICT, WITHOUT ROWID;

-- What the operator has switched off (`maild queue pause`).
CREATE TABLE switched_off (
  name  TEXT PRIMARY KEY,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Destinations that the operator asked to try now (`maild queue retry`): a back-off that began before ends. Kept a day.
CREATE TABLE retries_asked (
  destination TEXT PRIMARY KEY,
  asked_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX retries_asked_by_time ON retries_asked (asked_at);

-- Addresses ---------------------------------------------------------------------------------

CREATE TABLE domains (
  id                TEXT PRIMARY KEY,
  organization_id   TEXT NOT NULL REFERENCES organizations (id),
  domain_name       TEXT NOT NULL,
  status            TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'failed', 'deleted')),
  challenge         TEXT NOT NULL,
  mx_status         INTEGER NOT NULL DEFAULT 0,
  spf_status        INTEGER NOT NULL DEFAULT 0,
  dkim_status       INTEGER NOT NULL DEFAULT 0,
  dmarc_status      INTEGER NOT NULL DEFAULT 0,
  ownership_status  INTEGER NOT NULL DEFAULT 0,
  observed          TEXT NOT NULL DEFAULT '{}',
  daily_cap         INTEGER,
  verified_at       INTEGER,
  last_checked_at   INTEGER,
  failing_since     INTEGER,
  created_at        INTEGER NOT NULL,
  deleted_at        INTEGER
) STRICT;
CREATE INDEX domains_by_organization ON domains (organization_id, id);
CREATE UNIQUE INDEX domains_live ON domains (organization_id, domain_name) WHERE status <> 'deleted';
CREATE UNIQUE INDEX domains_verified ON domains (domain_name) WHERE status = 'verified';
CREATE INDEX domains_by_check ON domains (coalesce(last_checked_at, 0)) WHERE status = 'verified';
CREATE INDEX domains_pending ON domains (domain_name) WHERE status = 'pending';
CREATE INDEX domains_waiting ON domains (coalesce(failing_since, created_at)) WHERE status = 'pending';

-- What other hosts report about a domain (DMARC and TLS), summed up (storage/domains/domain_reports.py).
CREATE TABLE domain_reports (
  id              TEXT PRIMARY KEY,
  domain_id       TEXT REFERENCES domains (id),  -- NULL: of none, but
  shared_domain   TEXT,                          -- a shared domain's name
  kind            TEXT NOT NULL CHECK (kind IN ('dmarc', 'tls')),
  reporter        TEXT NOT NULL,
  report_id       TEXT NOT NULL,
  verified_domain TEXT,                          -- of who sent it; NULL: nobody knows
  begin_at        INTEGER NOT NULL,
  end_at          INTEGER NOT NULL,
  total           INTEGER NOT NULL,
  passed          INTEGER NOT NULL,
  is_truncated    INTEGER NOT NULL,
  detail          TEXT NOT NULL,
  message_id      TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  CHECK ((domain_id IS NULL) <> (shared_domain IS NULL))
) STRICT;
CREATE INDEX domain_reports_by_domain ON domain_reports (domain_id, id);
CREATE INDEX domain_reports_by_shared_domain ON domain_reports (shared_domain, id) WHERE shared_domain IS NOT NULL;
CREATE UNIQUE INDEX domain_reports_once ON domain_reports
  (coalesce(domain_id, shared_domain), kind, reporter, report_id, begin_at, coalesce(verified_domain, ''));
CREATE INDEX domain_reports_by_age ON domain_reports (created_at);

CREATE TABLE dkim_keys (
  domain_name TEXT NOT NULL,
  selector    TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('active', 'published', 'retired')),
  private_key BLOB NOT NULL,                     -- PKCS#8 DER, sealed under the master key
  public_key  TEXT NOT NULL,                     -- the p= of the record, base64: SubjectPublicKeyInfo, of ed25519 32 octets
  created_at  INTEGER NOT NULL,
  algorithm   TEXT NOT NULL DEFAULT 'rsa' CHECK (algorithm IN ('rsa', 'ed25519')),
  PRIMARY KEY (domain_name, selector)
) STRICT;
CREATE UNIQUE INDEX dkim_keys_active ON dkim_keys (domain_name, algorithm) WHERE status = 'active';

CREATE TABLE inboxes (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  address         TEXT NOT NULL,                 -- lower case, domain as A-label: the comparison key
  username        TEXT NOT NULL,
  domain          TEXT NOT NULL,
  name            TEXT,
  agent_id        TEXT REFERENCES agents (id) ON DELETE SET NULL,
  metadata        TEXT NOT NULL DEFAULT '{}',
  is_active       INTEGER NOT NULL DEFAULT 1,
  is_operator     INTEGER NOT NULL DEFAULT 0,    -- receives postmaster@ and abuse@ of every domain
  unread_count    INTEGER NOT NULL DEFAULT 0,
  last_message_at INTEGER,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  deactivated_at  INTEGER,
  withdraws_mail  INTEGER NOT NULL DEFAULT 0     -- deactivated, and what waited in it may wait still (storage/mail/withdrawal.py)
) STRICT;
CREATE UNIQUE INDEX inboxes_live_address ON inboxes (address) WHERE is_active = 1;
CREATE INDEX inboxes_quarantined ON inboxes (address, deactivated_at) WHERE is_active = 0;
CREATE INDEX inboxes_by_organization ON inboxes (organization_id, is_active, id);
CREATE INDEX inboxes_by_agent ON inboxes (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX inboxes_to_withdraw ON inboxes (organization_id, id) WHERE withdraws_mail = 1;
CREATE INDEX inboxes_by_domain ON inboxes (domain, organization_id) WHERE is_active = 1;
CREATE INDEX inboxes_ever_by_domain ON inboxes (domain, organization_id);
CREATE UNIQUE INDEX inboxes_operator ON inboxes (is_operator) WHERE is_operator = 1;

-- Addresses of deleted organizations that nobody may have yet (storage/mail/resting_addresses.py).
CREATE TABLE resting_addresses (
  address_hash TEXT PRIMARY KEY,                 -- SHA-256, in hexadecimal digits
  until        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX resting_addresses_by_end ON resting_addresses (until);

-- How many an organization has of what its plan limits, kept as they come and go: whoever asks reads none of them.
CREATE TABLE organization_counts (
  organization_id TEXT NOT NULL,
  counted         TEXT NOT NULL,                 -- 'inboxes' that are active, 'open_drafts'
  amount          INTEGER NOT NULL,
  PRIMARY KEY (organization_id, counted)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER inboxes_come_into_the_count AFTER INSERT ON inboxes WHEN NEW.is_active BEGIN
  INSERT INTO organization_counts (organization_id, counted, amount) VALUES (NEW.organization_id, 'inboxes', 1)
    ON CONFLICT (organization_id, counted) DO UPDATE SET amount = amount + 1;
END;
CREATE TRIGGER inboxes_go_from_the_count AFTER UPDATE OF is_active ON inboxes WHEN OLD.is_active AND NOT NEW.is_active BEGIN
  UPDATE organization_counts SET amount = amount - 1 WHERE organization_id = OLD.organization_id AND counted = 'inboxes';
END;

CREATE TABLE suppressions (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  email           TEXT NOT NULL,                 -- comparison key
  reason          TEXT NOT NULL CHECK (reason IN ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
  source          TEXT NOT NULL CHECK (source IN ('api', 'bounce', 'feedback_loop', 'list_unsubscribe')),
  created_at      INTEGER NOT NULL,
  UNIQUE (organization_id, email)
) STRICT;
CREATE INDEX suppressions_by_organization ON suppressions (organization_id, id);
CREATE INDEX suppressions_by_reason ON suppressions (organization_id, reason, id);

-- Mail --------------------------------------------------------------------------------------

CREATE TABLE blobs (
  id         TEXT PRIMARY KEY,
  size_bytes INTEGER NOT NULL,
  sha256     BLOB NOT NULL,
  data       BLOB,                               -- NULL: the bytes are a file of this id
  refs       INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  transaction_digest BLOB                        -- of the SMTP transaction that brought them; NULL: unknown, or none did
) STRICT;
CREATE INDEX blobs_in_files ON blobs (id) WHERE data IS NULL;

CREATE TABLE threads (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  inbox_id        TEXT NOT NULL REFERENCES inboxes (id),
  subject         TEXT NOT NULL,
  base_subject    TEXT NOT NULL,
  snippet         TEXT NOT NULL,
  participants    TEXT NOT NULL,
  message_count   INTEGER NOT NULL,
  unread_count    INTEGER NOT NULL,
  last_message_at INTEGER NOT NULL,
  is_archived     INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL
) STRICT;
-- Wider than listing needs: those that are unread are found among others in the index alone.
CREATE INDEX threads_by_inbox ON threads (inbox_id, is_archived, last_message_at DESC, id DESC, unread_count);
CREATE INDEX threads_by_organization ON threads
  (organization_id, is_archived, last_message_at DESC, id DESC, unread_count);
CREATE INDEX threads_by_subject ON threads (inbox_id, base_subject, last_message_at DESC);

-- Message-IDs that References begin with and that no message has: what ticket systems call a conversation.
CREATE TABLE thread_names (
  inbox_id  TEXT NOT NULL,
  name      TEXT NOT NULL,
  thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  PRIMARY KEY (inbox_id, name, thread_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_names_by_thread ON thread_names (thread_id);

CREATE TABLE messages (
  id                TEXT PRIMARY KEY,
  organization_id   TEXT NOT NULL,
  inbox_id          TEXT NOT NULL REFERENCES inboxes (id),
  thread_id         TEXT REFERENCES threads (id), -- NULL: held, and so in no conversation yet
  direction         TEXT NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  mode              TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status            TEXT NOT NULL CHECK (status IN ('received', 'held', 'scheduled', 'queued', 'sent', 'delivered', 'failed', 'cancelled')),
  from_address      TEXT NOT NULL,
  from_name         TEXT,
  to_addresses      TEXT NOT NULL,
  cc_addresses      TEXT NOT NULL,
  bcc_addresses     TEXT NOT NULL,
  reply_to          TEXT,
  subject           TEXT NOT NULL,
  snippet           TEXT NOT NULL,
  text_body         TEXT,                        -- NULL and text_slices set: too large for the row
  text_slices       TEXT,
  html_slices       TEXT,
  extracted_apart   TEXT,                        -- the new words, where text_body does not begin with them
  message_id_header TEXT,
  in_reply_to       TEXT,
  reference_ids     TEXT NOT NULL DEFAULT '[]',
  labels            TEXT NOT NULL DEFAULT '[]',
  is_auto_reply     INTEGER NOT NULL DEFAULT 0,
  is_spam           INTEGER NOT NULL DEFAULT 0,
  auth              TEXT,
  trace             BLOB,                        -- header lines put before the stored bytes on reading
  blob_id           TEXT REFERENCES blobs (id),
  size_bytes        INTEGER NOT NULL,
  header_length     INTEGER NOT NULL,
  envelope_from     TEXT NOT NULL,               -- '' of what we send: one for each destination, made of bounce_token
  bounce_token      TEXT,
  failure_reason    TEXT,
  scheduled_at      INTEGER,
  sent_at           INTEGER,
  created_at        INTEGER NOT NULL,
  unsubscribe       INTEGER NOT NULL DEFAULT 0,  -- every recipient gets a copy with a link of its own
  counted_at        INTEGER,                     -- when it was counted against the plan; NULL: at created_at
  from_domain_shown TEXT,                        -- the author's domain as people write it, where that is no A-label
  reply_to_addresses TEXT,                       -- where Reply-To names several
  authors           TEXT,                        -- whom From names together, where there is no one author
  org_domains       TEXT,                        -- JSON: domain → its organization's; of a verified author and a foreign Reply-To
  forward_of        TEXT,                        -- the message that it forwards
  if_last           TEXT,                        -- sent unless the conversation went on after this message
  authority         TEXT,                        -- of the key that sent it: 'reply' where it may only answer
  submitted_by      TEXT,                        -- that key; NULL: nobody's, or from before this was kept
  held_at           INTEGER,                     -- came in, and is not there before it is released: storage/visibility.py
  extracted_length  INTEGER,                     -- how many characters of text_body the new words are, else
  extracted_text    TEXT AS (coalesce(extracted_apart, substr(text_body, 1, extracted_length))), -- NULL: all of text_body
  delivered_to      TEXT,                        -- by which address of its inbox it came in
  mailing_list      TEXT                         -- JSON: by which list, as it says itself
) STRICT;
-- Wider than listing needs: mail is counted, and passed over by direction, in the index alone. What is held is not in
-- them, so who does not ask for what is visible finds nothing by them, and who does passes over none of it.
CREATE INDEX messages_by_inbox ON messages (inbox_id, id DESC, direction) WHERE held_at IS NULL;
CREATE INDEX messages_by_organization ON messages (organization_id, id DESC, inbox_id, direction, mode) WHERE held_at IS NULL;
CREATE INDEX messages_by_thread ON messages (thread_id, id);
CREATE INDEX messages_by_header ON messages (inbox_id, message_id_header) WHERE message_id_header IS NOT NULL AND held_at IS NULL;
CREATE INDEX messages_held_by_inbox ON messages (inbox_id, id DESC) WHERE held_at IS NOT NULL;
CREATE INDEX messages_held_by_organization ON messages (organization_id, id DESC) WHERE held_at IS NOT NULL;
CREATE UNIQUE INDEX messages_by_bounce_token ON messages (bounce_token) WHERE bounce_token IS NOT NULL;
CREATE INDEX messages_scheduled ON messages (scheduled_at) WHERE status = 'scheduled';
CREATE INDEX messages_scheduled_by_organization ON messages (organization_id, scheduled_at) WHERE status = 'scheduled';
CREATE INDEX messages_by_blob ON messages (blob_id) WHERE blob_id IS NOT NULL;
-- Who has the label `unread` (storage/searching/labels.py); the conditions are those of dialect.holds_word.
CREATE INDEX messages_unread_by_inbox ON messages (inbox_id, id DESC)
  WHERE instr(labels, '["unread"') = 1 OR instr(labels, ',"unread"') > 0;
CREATE INDEX messages_unread_by_organization ON messages (organization_id, id DESC)
  WHERE instr(labels, '["unread"') = 1 OR instr(labels, ',"unread"') > 0;
-- What few are (storage/searching/search_scope.py). With OR, for SQLite makes a table of a longer list at each change of
-- a row.
CREATE INDEX messages_unsettled_by_inbox ON messages (inbox_id, status, id DESC) WHERE held_at IS NULL
  AND (status = 'held' OR status = 'scheduled' OR status = 'queued' OR status = 'failed' OR status = 'cancelled');
CREATE INDEX messages_unsettled_by_organization ON messages (organization_id, status, id DESC) WHERE held_at IS NULL
  AND (status = 'held' OR status = 'scheduled' OR status = 'queued' OR status = 'failed' OR status = 'cancelled');
CREATE INDEX messages_spam_by_inbox ON messages (inbox_id, id DESC) WHERE held_at IS NULL AND is_spam = 1;
CREATE INDEX messages_spam_by_organization ON messages (organization_id, id DESC) WHERE held_at IS NULL AND is_spam = 1;
CREATE INDEX messages_auto_replies_by_inbox ON messages (inbox_id, id DESC) WHERE held_at IS NULL AND is_auto_reply = 1;
CREATE INDEX messages_auto_replies_by_organization ON messages (organization_id, id DESC)
  WHERE held_at IS NULL AND is_auto_reply = 1;
-- What a message says never changes, so what was rendered of it can be kept (storage/shown/kept_json.py).
CREATE TRIGGER messages_are_as_they_came BEFORE UPDATE OF
  id, organization_id, inbox_id, direction, mode, from_address, from_name, to_addresses, cc_addresses,
  bcc_addresses, reply_to, subject, snippet, text_body, extracted_apart, message_id_header, in_reply_to, reference_ids,
  is_auto_reply, is_spam, auth, created_at, from_domain_shown, reply_to_addresses, forward_of, extracted_length,
  delivered_to, mailing_list
ON messages BEGIN
  SELECT RAISE(ABORT, 'what a message says does not change');
END;
CREATE TRIGGER messages_stay_in_their_thread BEFORE UPDATE OF thread_id ON messages WHEN OLD.thread_id IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'a message stays in its thread');
END;
CREATE TRIGGER messages_stay_visible BEFORE UPDATE OF held_at ON messages WHEN OLD.held_at IS NULL BEGIN
  SELECT RAISE(ABORT, 'a message that was visible is not held');
END;

-- What the rest of a held message's arrival needs, when it is released (storage/mail/held_mail.py).
CREATE TABLE held_mail (
  message_id   TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  inbox_id     TEXT NOT NULL,
  thread_id    TEXT NOT NULL,                    -- where it will be: a thread that is there, or the id of one to come
  header       TEXT,                             -- its Message-ID
  conversation TEXT NOT NULL,                    -- JSON: what its conversation is found by
  rejected_at  INTEGER                           -- it stays held, and is deleted some time later
) STRICT, WITHOUT ROWID;
CREATE INDEX held_mail_by_header ON held_mail (inbox_id, header) WHERE header IS NOT NULL;
CREATE INDEX held_mail_rejected ON held_mail (rejected_at) WHERE rejected_at IS NOT NULL;

-- Which messages have a label; all labels but `unread` (storage/searching/labels.py).
CREATE TABLE message_labels (
  inbox_id        TEXT NOT NULL,
  label           TEXT NOT NULL,
  message_id      TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  PRIMARY KEY (inbox_id, label, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_labels_by_organization ON message_labels (organization_id, label, message_id);

-- How far an organization's ids and its messages' created_at were ever apart, where it was more than a minute
-- (storage/id_spans.py).
CREATE TABLE id_drifts (
  organization_id TEXT PRIMARY KEY,
  drift_ms        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The stored bytes of an organization's messages (storage/usage.py).
CREATE TABLE stored_bytes (
  organization_id TEXT PRIMARY KEY,
  bytes           INTEGER NOT NULL,
  held            INTEGER NOT NULL DEFAULT 0     -- of these, of messages that are held
) STRICT, WITHOUT ROWID;

CREATE TABLE attachments (
  id           TEXT PRIMARY KEY,
  message_id   TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  position     INTEGER NOT NULL,
  filename     TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes   INTEGER NOT NULL,
  content_id   TEXT,
  is_inline    INTEGER NOT NULL,
  slice_offset INTEGER NOT NULL,
  slice_length INTEGER NOT NULL,
  encoding     TEXT NOT NULL CHECK (encoding IN ('identity', 'base64', 'quoted-printable', 'uuencode'))
) STRICT;
CREATE INDEX attachments_by_message ON attachments (message_id, position);
CREATE TRIGGER attachments_are_as_they_came BEFORE UPDATE ON attachments BEGIN
  SELECT RAISE(ABORT, 'an attachment does not change');
END;
CREATE TRIGGER attachments_go_with_their_message BEFORE DELETE ON attachments
WHEN EXISTS (SELECT 1 FROM messages WHERE id = OLD.message_id) BEGIN
  SELECT RAISE(ABORT, 'an attachment goes with its message');
END;

-- Message-IDs that smarthosts gave to what was sent (storage/sending/relay_message_ids.py).
CREATE TABLE relay_message_ids (
  inbox_id          TEXT NOT NULL,
  message_id_header TEXT NOT NULL,
  message_id        TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  PRIMARY KEY (inbox_id, message_id_header, message_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX relay_message_ids_by_message ON relay_message_ids (message_id);

-- What is left of a message that was deleted after a host took it, for reports about it (storage/sending/deleted_mail.py).
CREATE TABLE deleted_mail (
  bounce_token    TEXT PRIMARY KEY,
  message_id      TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  inbox_id        TEXT NOT NULL,
  from_address    TEXT NOT NULL,
  envelope_from   TEXT NOT NULL,
  sent_at         INTEGER NOT NULL,
  recipients      TEXT NOT NULL,                 -- JSON: [position, address, domain, whether a report about it counts] of each
  deleted_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_mail_by_organization ON deleted_mail (organization_id);
CREATE INDEX deleted_mail_by_age ON deleted_mail (deleted_at);

-- Whose code or link was handed out, to one caller each (storage/agents/code_claims.py).
CREATE TABLE code_claims (
  message_id      TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  id              TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  key_id          TEXT NOT NULL,
  kind            TEXT NOT NULL CHECK (kind IN ('code', 'link')),
  created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE drafts (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  inbox_id        TEXT NOT NULL REFERENCES inboxes (id),
  to_addresses    TEXT NOT NULL,
  cc_addresses    TEXT NOT NULL,
  bcc_addresses   TEXT NOT NULL,
  subject         TEXT NOT NULL,
  text_body       TEXT,
  html_body       TEXT,
  in_reply_to     TEXT,
  thread_id       TEXT,
  status          TEXT NOT NULL CHECK (status IN ('draft', 'sent', 'discarded')),
  message_id      TEXT,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  sent_at         INTEGER,
  discarded_at    INTEGER,
  if_last         TEXT,                          -- see messages
  claim_id        TEXT,                          -- sent only while this claim lives
  complete_claim  INTEGER NOT NULL DEFAULT 0,    -- which is done by it
  mode            TEXT NOT NULL DEFAULT 'live' CHECK (mode IN ('live', 'test'))  -- of the key that wrote it
) STRICT;
CREATE INDEX drafts_by_organization ON drafts (organization_id, status, id);
CREATE INDEX drafts_newest ON drafts (organization_id, id);
CREATE INDEX drafts_by_inbox ON drafts (inbox_id, id);
CREATE INDEX drafts_of_inbox ON drafts (inbox_id, status, id);

CREATE TRIGGER open_drafts_come_into_the_count AFTER INSERT ON drafts WHEN NEW.status = 'draft' BEGIN
  INSERT INTO organization_counts (organization_id, counted, amount) VALUES (NEW.organization_id, 'open_drafts', 1)
    ON CONFLICT (organization_id, counted) DO UPDATE SET amount = amount + 1;
END;
CREATE TRIGGER open_drafts_go_from_the_count AFTER UPDATE OF status ON drafts WHEN OLD.status = 'draft' AND NEW.status <> 'draft' BEGIN
  UPDATE organization_counts SET amount = amount - 1 WHERE organization_id = OLD.organization_id AND counted = 'open_drafts';
END;
CREATE TRIGGER open_drafts_leave_the_count_with_their_row AFTER DELETE ON drafts WHEN OLD.status = 'draft' BEGIN
  UPDATE organization_counts SET amount = amount - 1 WHERE organization_id = OLD.organization_id AND counted = 'open_drafts';
END;

-- What an inbox's mail may and may not do, as its organization wants it (storage/agents/policies.py).
CREATE TABLE policies (
  owner_id        TEXT PRIMARY KEY,              -- an organization or an inbox
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  version         INTEGER NOT NULL,
  document        TEXT NOT NULL,                 -- JSON, whole
  has_work        INTEGER NOT NULL,              -- of the document, what each arrival asks
  updated_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX policies_by_organization ON policies (organization_id, has_work);

-- Whom an organization's inboxes write to, and who writes to them (storage/agents/rules.py).
CREATE TABLE rules (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  inbox_id        TEXT,                          -- NULL: every inbox
  direction       TEXT NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  action          TEXT NOT NULL CHECK (action IN ('allow', 'block', 'hold')),
  value           TEXT NOT NULL,                 -- a comparison key without its tag, a domain, or `*.` and a domain
  note            TEXT,
  created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_by_organization ON rules (organization_id, id);
CREATE INDEX rules_by_value ON rules (organization_id, direction, value);

-- Whom an inbox has written to (storage/mail/correspondents.py).
CREATE TABLE correspondents (
  inbox_id        TEXT NOT NULL,
  address         TEXT NOT NULL,                 -- comparison key
  mode            TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  first_sent_at   INTEGER NOT NULL,              -- 0: before this was kept
  PRIMARY KEY (inbox_id, address, mode)
) STRICT, WITHOUT ROWID;
CREATE INDEX correspondents_by_time ON correspondents (inbox_id, mode, first_sent_at);

-- Mail that is held until somebody has decided about it (storage/agents/reviews.py).
CREATE TABLE reviews (
  id              TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  inbox_id        TEXT NOT NULL,
  message_id      TEXT NOT NULL UNIQUE,          -- it may be deleted since
  direction       TEXT NOT NULL CHECK (direction IN ('inbound', 'outbound')),
  mode            TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status          TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'withdrawn')),
  reasons         TEXT NOT NULL,                 -- JSON: why it is held
  warnings        TEXT NOT NULL,                 -- JSON: what looked wrong in it, as the API shows it
  submitted_by    TEXT,                          -- a key; NULL: it came in
  is_told         INTEGER NOT NULL,              -- 0: somebody is still to be told of it by mail
  expires_at      INTEGER NOT NULL,
  resolved_by     TEXT,                          -- a key, a member, 'operator'; NULL: its time was over
  resolved_at     INTEGER,
  note            TEXT,
  created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX reviews_by_organization ON reviews (organization_id, direction, status, id);
CREATE INDEX reviews_by_inbox ON reviews (inbox_id, direction, status, id);
CREATE INDEX reviews_by_end ON reviews (expires_at) WHERE status = 'pending';
CREATE INDEX reviews_untold ON reviews (organization_id, id) WHERE is_told = 0;

-- When an address was last told of what an organization holds, and up to which review (storage/agents/review_digests.py).
CREATE TABLE review_digests (
  organization_id TEXT NOT NULL,
  address         TEXT NOT NULL,
  sent_at         INTEGER NOT NULL,
  review_id       TEXT NOT NULL,
  PRIMARY KEY (organization_id, address)
) STRICT, WITHOUT ROWID;

-- Work --------------------------------------------------------------------------------------

-- Mail that waits to be worked on; a row goes when its message is done (storage/agents/work.py). Of a conversation one row is
-- the head, which is offered, claimed or put off; the others are behind it.
CREATE TABLE work_items (
  seq             INTEGER PRIMARY KEY,           -- the order of commits
  message_id      TEXT NOT NULL UNIQUE REFERENCES messages (id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL,
  inbox_id        TEXT NOT NULL,
  thread_id       TEXT NOT NULL,
  mode            TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  status          TEXT NOT NULL CHECK (status IN ('behind', 'ready', 'claimed', 'delayed', 'dead')),
  attempts        INTEGER NOT NULL DEFAULT 0,
  ready_at        INTEGER                        -- of delayed ones
) STRICT;
CREATE INDEX work_ready ON work_items (inbox_id, mode, seq) WHERE status = 'ready';
CREATE UNIQUE INDEX work_heads ON work_items (thread_id, mode) WHERE status IN ('ready', 'claimed', 'delayed');
CREATE INDEX work_behind ON work_items (thread_id, mode, seq) WHERE status = 'behind';
CREATE INDEX work_delayed ON work_items (ready_at) WHERE status = 'delayed';

-- Who works on a message, and until when nobody else does (storage/agents/claims.py).
CREATE TABLE claims (
  id               TEXT PRIMARY KEY,
  organization_id  TEXT NOT NULL,
  inbox_id         TEXT NOT NULL,
  thread_id        TEXT NOT NULL,
  message_id       TEXT NOT NULL,                -- it may be deleted since
  key_id           TEXT NOT NULL,
  mode             TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  holder           TEXT,
  status           TEXT NOT NULL CHECK (status IN ('live', 'released', 'expired', 'done', 'dead')),
  attempt          INTEGER NOT NULL,
  lease_expires_at INTEGER NOT NULL,
  created_at       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX claims_live ON claims (thread_id, mode) WHERE status = 'live';
CREATE INDEX claims_by_lease ON claims (lease_expires_at) WHERE status = 'live';
CREATE INDEX claims_by_key ON claims (key_id) WHERE status = 'live';
CREATE INDEX claims_by_organization ON claims (organization_id, status, id);
CREATE INDEX claims_by_inbox ON claims (inbox_id, status, id);
CREATE INDEX claims_by_age ON claims (created_at) WHERE status <> 'live';

-- Search ------------------------------------------------------------------------------------

-- Messages that are committed and not indexed yet: search reads them one by one.
CREATE TABLE search_tail (
  organization_id TEXT NOT NULL,
  message_id      TEXT NOT NULL,
  body_bytes      INTEGER NOT NULL DEFAULT 0,    -- of the raw message, less its attachments
  PRIMARY KEY (organization_id, message_id)
) STRICT, WITHOUT ROWID;

-- What a message says, where neither its text_body nor its extracted_text is that.
CREATE TABLE search_words (
  message_id TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  words      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Messages that were deleted (and ids of inboxes and organizations, without words): what the index is to let go of. It is a file of its own (storage/searching/search_index.py).
CREATE TABLE search_gone (
  message_id TEXT PRIMARY KEY,
  inbox_id   TEXT NOT NULL,
  words      TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row, or none yet: which index belongs to this store.
CREATE TABLE search_mark (
  mark TEXT NOT NULL
) STRICT;

-- What was found in messages that may be an attack on their reader (storage/mail/evidence.py); none: not looked at yet.
CREATE TABLE message_evidence (
  message_id        TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  version           INTEGER NOT NULL,              -- of what was looked for
  risk              TEXT NOT NULL CHECK (risk IN ('none', 'low', 'medium', 'high')),
  hidden_characters INTEGER NOT NULL,
  is_truncated      INTEGER NOT NULL,
  items             TEXT NOT NULL                  -- JSON, as the API shows them
) STRICT;
-- One row, or none yet: the event up to which mail that came in was looked at.
CREATE TABLE evidence_mark (
  seq INTEGER NOT NULL
) STRICT;

-- Sending -----------------------------------------------------------------------------------

-- One row a recipient; the rows that are queued or deferred are the outbound queue.
CREATE TABLE recipients (
  message_id      TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  position        INTEGER NOT NULL,
  organization_id TEXT NOT NULL,
  address         TEXT NOT NULL,
  domain          TEXT NOT NULL,                 -- destination: A-label, lower case
  kind            TEXT NOT NULL CHECK (kind IN ('to', 'cc', 'bcc')),
  status          TEXT NOT NULL CHECK (status IN ('queued', 'deferred', 'sent', 'delivered', 'bounced', 'failed', 'suppressed')),
  attempts        INTEGER NOT NULL DEFAULT 0,
  last_attempt_at INTEGER,
  next_attempt_at INTEGER,
  expires_at      INTEGER NOT NULL,
  lease           TEXT,                          -- the process run that is delivering it now
  remote_host     TEXT,
  smtp_code       INTEGER,
  enhanced_code   TEXT,
  response        TEXT,
  tls             TEXT,
  complained_at   INTEGER,                       -- said to be spam; counted once
  held_at         INTEGER,                       -- by the operator, since when; its time to expire rests
  PRIMARY KEY (message_id, position)
) STRICT, WITHOUT ROWID;
-- Wider than the order needs: whoever walks over the queue finds in the index alone what it asks of each place, the
-- index's own condition too.
CREATE INDEX recipients_due ON recipients (next_attempt_at, message_id, position, domain, organization_id, status, lease)
  WHERE status IN ('queued', 'deferred') AND lease IS NULL;
CREATE INDEX recipients_leased ON recipients (lease) WHERE lease IS NOT NULL;

CREATE TABLE delivery_attempts (
  message_id    TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  position      INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  outcome       TEXT NOT NULL,
  remote_host   TEXT,
  smtp_code     INTEGER,
  enhanced_code TEXT,
  response      TEXT,
  tls           TEXT,
  duration_ms   INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  has_left      INTEGER,                         -- a host was told MAIL FROM; NULL: not known, from before 0009
  next_attempt_at INTEGER,                       -- of a deferral: when it was to be tried again; NULL also from before 0019
  PRIMARY KEY (message_id, position, attempt)
) STRICT, WITHOUT ROWID;

-- What is kept of an attempt beside its verdicts (storage/sending/attempts.py). Not WITHOUT ROWID: rows of a KiB lie in pages of
-- a table side by side, in those of an index each would have one of its own.
CREATE TABLE delivery_evidence (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  position   INTEGER NOT NULL,                   -- of the first recipient that it is about
  attempt    INTEGER NOT NULL,
  shared     TEXT,                               -- JSON: position and attempt of each other one, NULL: there is none
  evidence   TEXT NOT NULL,                      -- JSON: maild/message/delivery_evidence.py
  PRIMARY KEY (message_id, position, attempt)
) STRICT;

-- Recipients of the last minutes, for the bulk tripwire.
CREATE TABLE recent_recipients (
  organization_id TEXT NOT NULL,
  address         TEXT NOT NULL,
  seen_at         INTEGER NOT NULL,
  PRIMARY KEY (organization_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX recent_recipients_by_age ON recent_recipients (organization_id, seen_at);
CREATE TABLE recent_recipient_counts (
  organization_id TEXT PRIMARY KEY,
  addresses       INTEGER NOT NULL               -- rows of recent_recipients
) STRICT, WITHOUT ROWID;
CREATE TRIGGER recent_recipients_come_into_the_count AFTER INSERT ON recent_recipients BEGIN
  INSERT INTO recent_recipient_counts (organization_id, addresses) VALUES (NEW.organization_id, 1)
    ON CONFLICT (organization_id) DO UPDATE SET addresses = addresses + 1;
END;
CREATE TRIGGER recent_recipients_go_from_the_count AFTER DELETE ON recent_recipients BEGIN
  UPDATE recent_recipient_counts SET addresses = addresses - 1 WHERE organization_id = OLD.organization_id;
END;

-- What was answered to sends under an Idempotency-Key.
CREATE TABLE idempotency (
  organization_id TEXT NOT NULL,
  endpoint        TEXT NOT NULL,
  key             TEXT NOT NULL,
  request_hash    BLOB NOT NULL,
  answer          TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  message_id      TEXT,                          -- whose words the answer has: deleting it blanks them
  PRIMARY KEY (organization_id, endpoint, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);
CREATE INDEX idempotency_by_message ON idempotency (message_id);

-- Counters by period ('2026-11-21' a UTC day, '2026-11' a month) and scope ('' the
-- organization, else a domain name).
CREATE TABLE usage (
  organization_id TEXT NOT NULL,
  scope           TEXT NOT NULL,
  period          TEXT NOT NULL,
  metric          TEXT NOT NULL CHECK (metric IN ('messages', 'received', 'delivered', 'bounced', 'complained')),
  value           INTEGER NOT NULL,
  PRIMARY KEY (organization_id, scope, period, metric)
) STRICT, WITHOUT ROWID;

-- Requests of an organization in each second, for the rate limit after a restart.
CREATE TABLE rate_windows (
  organization_id TEXT NOT NULL,
  second          INTEGER NOT NULL,
  requests        INTEGER NOT NULL,
  PRIMARY KEY (organization_id, second)
) STRICT, WITHOUT ROWID;

-- Events ------------------------------------------------------------------------------------

-- The outbox: written in the transaction of the change it tells of. Bodies of messages are not
-- copied here: they are read from the message when the event is rendered, so that deleting a
-- message deletes its words everywhere.
CREATE TABLE events (
  seq             INTEGER PRIMARY KEY,
  id              TEXT NOT NULL UNIQUE,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  inbox_id        TEXT,
  message_id      TEXT,
  type            TEXT NOT NULL,
  mode            TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  data            TEXT NOT NULL,
  created_at      INTEGER NOT NULL
) STRICT;
-- Wider than the order needs: a reader of some types, or of one inbox, passes over the rest in the index alone.
CREATE INDEX events_by_organization ON events (organization_id, seq, type, inbox_id);
CREATE INDEX events_by_type ON events (organization_id, type, created_at, mode, inbox_id);
CREATE INDEX events_by_age ON events (created_at);
CREATE INDEX events_by_message ON events (message_id) WHERE message_id IS NOT NULL;

-- Up to where the log has lost events of an inbox ('': of none) and a type by their age
-- (storage/upkeep/retention.py). An empty type: of any inbox and type, from before these were told apart.
CREATE TABLE events_gone (
  organization_id TEXT NOT NULL,
  inbox_id        TEXT NOT NULL,
  type            TEXT NOT NULL,
  seq             INTEGER NOT NULL,
  event_id        TEXT NOT NULL,
  PRIMARY KEY (organization_id, inbox_id, type)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_gone_by_position ON events_gone (organization_id, seq);
CREATE INDEX events_gone_by_id ON events_gone (organization_id, event_id);

CREATE TABLE webhooks (
  id                    TEXT PRIMARY KEY,
  organization_id       TEXT NOT NULL REFERENCES organizations (id),
  url                   TEXT NOT NULL,
  subscribed_events     TEXT NOT NULL,
  is_active             INTEGER NOT NULL DEFAULT 1,
  secret                BLOB NOT NULL,           -- sealed under the master key
  previous_secret       BLOB,
  previous_secret_until INTEGER,
  created_at            INTEGER NOT NULL,
  updated_at            INTEGER NOT NULL,
  deleted_at            INTEGER
) STRICT;
CREATE INDEX webhooks_by_organization ON webhooks (organization_id, id) WHERE deleted_at IS NULL;

-- One row for each event and webhook subscribed to it.
CREATE TABLE webhook_deliveries (
  webhook_id      TEXT NOT NULL REFERENCES webhooks (id),
  event_seq       INTEGER NOT NULL REFERENCES events (seq) ON DELETE CASCADE,
  status          TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'halted')),
  attempts        INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER,
  lease           TEXT,
  PRIMARY KEY (webhook_id, event_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook_id, next_attempt_at) WHERE status = 'pending' AND lease IS NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (lease) WHERE lease IS NOT NULL;
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_seq);

CREATE TABLE webhook_attempts (
  id              TEXT PRIMARY KEY,              -- X-Svc-Delivery: a hash of webhook, event and attempt
  webhook_id      TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  event_id        TEXT,
  event_type      TEXT NOT NULL,
  attempt         INTEGER NOT NULL,
  request_headers TEXT NOT NULL,
  response_status INTEGER,
  response_body   TEXT,
  is_successful   INTEGER NOT NULL,
  error           TEXT,
  duration_ms     INTEGER NOT NULL,
  next_attempt_at INTEGER,
  created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_attempts_by_organization ON webhook_attempts (organization_id, created_at DESC, id DESC);
CREATE INDEX webhook_attempts_by_age ON webhook_attempts (created_at);

-- Policies of mail domains for TLS that were fetched (storage/sending/sts_policies.py).
CREATE TABLE sts_policies (
  domain     TEXT PRIMARY KEY,
  policy_id  TEXT NOT NULL,
  mode       TEXT NOT NULL CHECK (mode IN ('enforce', 'testing', 'none')),
  mx         TEXT NOT NULL,
  max_age_s  INTEGER NOT NULL,
  fetched_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sts_policies_by_age ON sts_policies (fetched_at);
CREATE INDEX sts_policies_by_end ON sts_policies (expires_at);

-- Messages of a day to a group of mail hosts, by the section that is warmed up (storage/sending/warm_up_counts.py).
CREATE TABLE warm_up_counts (
  day        TEXT NOT NULL,
  section    TEXT NOT NULL,
  host_group TEXT NOT NULL,
  messages   INTEGER NOT NULL,
  PRIMARY KEY (day, section, host_group)
) STRICT, WITHOUT ROWID;

-- What the outbound sessions of a day were like, for reports to the domains (storage/sending/tls_sessions.py).
CREATE TABLE tls_sessions (
  day          INTEGER NOT NULL,                 -- since 1970-01-01 (UTC)
  domain       TEXT NOT NULL,                    -- an A-label
  policy_type  TEXT NOT NULL,
  policy       TEXT NOT NULL,                    -- JSON: its strings, its patterns of mail hosts
  result_type  TEXT NOT NULL,                    -- '': TLS as the policy wants it
  mx_host      TEXT NOT NULL,
  receiving_ip TEXT NOT NULL,
  sending_ip   TEXT NOT NULL,
  reason       TEXT NOT NULL,
  sessions     INTEGER NOT NULL,
  PRIMARY KEY (day, domain, policy_type, policy, result_type, mx_host, receiving_ip, sending_ip, reason)
) STRICT, WITHOUT ROWID;
-- The reports that were sent of them.
CREATE TABLE tls_reports_sent (
  day         INTEGER NOT NULL,
  domain      TEXT NOT NULL,
  destination TEXT NOT NULL,                     -- a URI
  message_id  TEXT,                              -- NULL: it went by HTTPS
  PRIMARY KEY (day, domain, destination)
) STRICT, WITHOUT ROWID;
CREATE INDEX tls_report_mails ON tls_reports_sent (message_id);

-- Messages that came by SMTP, and whose 250 the client has not heard (storage/mail/unheard_replies.py).
CREATE TABLE unheard_replies (
  transaction_digest BLOB PRIMARY KEY,           -- as in blobs
  message_id         TEXT NOT NULL,              -- what the 250 named
  noted_at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX unheard_replies_by_age ON unheard_replies (noted_at);
-- Of older messages than this id it is known whether they are among them.
CREATE TABLE replies_settled (
  is_one  INTEGER PRIMARY KEY CHECK (is_one = 1),
  through TEXT NOT NULL
) STRICT;

-- Audit -------------------------------------------------------------------------------------

-- Who did what, in chains of hashes (storage/audit/chain.py); one row in the transaction of each act.
CREATE TABLE audit (
  organization_id TEXT NOT NULL,
  seq             INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  type            TEXT NOT NULL,
  actor           TEXT NOT NULL,
  subject         TEXT,
  request_id      TEXT,
  details         TEXT NOT NULL,                -- canonical JSON, without words of mail
  hash            BLOB NOT NULL,
  PRIMARY KEY (organization_id, seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER audit_stays_as_it_was BEFORE UPDATE ON audit BEGIN
  SELECT RAISE(ABORT, 'the audit log does not change');
END;
-- What commands did that can't read the master key: the daemon puts it into the chains.
CREATE TABLE audit_waiting (
  seq             INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  type            TEXT NOT NULL,
  actor           TEXT NOT NULL,
  subject         TEXT,
  details         TEXT NOT NULL
) STRICT;
