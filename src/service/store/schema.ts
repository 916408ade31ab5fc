/** The schema of the database. The database stores its version as `user_version`. */
export const SCHEMA_VERSION = 14;

/** The SQL that creates the schema of a new database. */
export const SCHEMA = `
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  tier TEXT NOT NULL,
  webhook_url TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE reservation (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  credits INTEGER NOT NULL CHECK (credits >= 0),
  quota INTEGER NOT NULL CHECK (quota >= 0),
  state TEXT NOT NULL CHECK (state IN ('reserved', 'committed', 'refunded'))
) STRICT;

CREATE INDEX reservation_open ON reservation (account_id) WHERE state = 'reserved';

CREATE TABLE ledger_transaction (
  id INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  kind TEXT NOT NULL CHECK (kind IN ('grant', 'reserve', 'commit', 'refund')),
  reservation_id TEXT REFERENCES reservation (id),
  created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX ledger_transaction_once
  ON ledger_transaction (reservation_id, kind) WHERE reservation_id IS NOT NULL;

CREATE TABLE ledger_entry (
  transaction_id INTEGER NOT NULL REFERENCES ledger_transaction (id),
  unit TEXT NOT NULL CHECK (unit IN ('credits', 'quota')),
  book TEXT NOT NULL CHECK (book IN ('granted', 'available', 'reserved', 'spent')),
  amount INTEGER NOT NULL,
  PRIMARY KEY (transaction_id, unit, book)
) STRICT, WITHOUT ROWID;

CREATE TABLE balance (
  account_id TEXT NOT NULL REFERENCES account (id),
  unit TEXT NOT NULL,
  book TEXT NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (account_id, unit, book),
  CHECK (book = 'granted' OR amount >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_checkpoint (
  account_id TEXT NOT NULL REFERENCES account (id),
  unit TEXT NOT NULL,
  book TEXT NOT NULL,
  amount INTEGER NOT NULL,
  last_transaction_id INTEGER NOT NULL,
  PRIMARY KEY (account_id, unit, book)
) STRICT, WITHOUT ROWID;

CREATE TABLE owner (
  id TEXT PRIMARY KEY,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  boot_id TEXT,
  pid_namespace TEXT,
  process_start TEXT,
  lease_until INTEGER NOT NULL
) STRICT;

CREATE TABLE operation (
  id TEXT PRIMARY KEY REFERENCES reservation (id),
  account_id TEXT NOT NULL REFERENCES account (id),
  endpoint TEXT NOT NULL,
  idempotency_key TEXT,
  fingerprint TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('in_progress', 'completed', 'refunded')),
  owner_id TEXT REFERENCES owner (id),
  request_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- The error message because of which the operation was refunded.
  failure TEXT,
  -- The X-Request-Id sent with an Idempotency-Key, at endpoints where it is an idempotency key too.
  request_key TEXT,
  CHECK ((state = 'in_progress') = (owner_id IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX operation_key
  ON operation (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE INDEX operation_in_progress ON operation (owner_id) WHERE owner_id IS NOT NULL;

CREATE INDEX operation_request_key
  ON operation (account_id, request_key) WHERE request_key IS NOT NULL;

CREATE TABLE secret (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cached_speech (
  id TEXT PRIMARY KEY,
  format TEXT NOT NULL,
  credits_used INTEGER NOT NULL,
  quota_remaining INTEGER,
  expires_at INTEGER NOT NULL,
  unspoken TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX cached_speech_expiry ON cached_speech (expires_at);

CREATE TABLE rate_limit (
  account_id TEXT PRIMARY KEY REFERENCES account (id),
  next_free REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE media_file (
  id TEXT PRIMARY KEY,
  folder TEXT NOT NULL,
  name TEXT NOT NULL,
  content_type TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX media_file_in_folder ON media_file (folder);

CREATE TABLE personal_voice (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES account (id),
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  visibility TEXT NOT NULL CHECK (visibility IN ('private', 'public')),
  reference_text TEXT,
  family TEXT NOT NULL,
  language TEXT NOT NULL,
  languages TEXT NOT NULL,
  engine TEXT NOT NULL,
  engine_voice TEXT NOT NULL,
  pitch REAL NOT NULL,
  speed REAL NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX personal_voice_of_account ON personal_voice (account_id, number);

CREATE INDEX personal_voice_shared ON personal_voice (number) WHERE visibility = 'public';

CREATE TABLE voice_design (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  characters INTEGER NOT NULL,
  credits INTEGER NOT NULL,
  quota_remaining INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX voice_design_expiry ON voice_design (expires_at);

CREATE TABLE voice_candidate (
  design_id TEXT NOT NULL REFERENCES voice_design (id),
  number INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  family TEXT NOT NULL,
  language TEXT NOT NULL,
  engine TEXT NOT NULL,
  engine_voice TEXT NOT NULL,
  pitch REAL NOT NULL,
  speed REAL NOT NULL,
  PRIMARY KEY (design_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE realtime_request (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  request_id TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('simple', 'reliable')),
  fingerprint TEXT NOT NULL,
  format TEXT NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('running', 'completed', 'failed_retryable', 'failed_terminal')),
  owner_id TEXT,
  created_at INTEGER NOT NULL,
  stored_until INTEGER,
  CHECK ((state = 'running') = (owner_id IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX realtime_request_key ON realtime_request (account_id, request_id);

CREATE INDEX realtime_request_stored ON realtime_request (stored_until)
  WHERE stored_until IS NOT NULL;

CREATE TABLE realtime_segment (
  request TEXT NOT NULL REFERENCES realtime_request (id),
  number INTEGER NOT NULL,
  segment_id TEXT NOT NULL,
  sequences TEXT NOT NULL,
  text_digest TEXT NOT NULL,
  characters INTEGER NOT NULL,
  operation_id TEXT NOT NULL REFERENCES operation (id),
  audio_bytes INTEGER,
  audio_frames INTEGER,
  PRIMARY KEY (request, number),
  CHECK ((audio_bytes IS NULL) = (audio_frames IS NULL))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX realtime_segment_id ON realtime_segment (request, segment_id);

CREATE TABLE job (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE REFERENCES operation (id),
  account_id TEXT NOT NULL REFERENCES account (id),
  kind TEXT NOT NULL
    CHECK (kind IN ('speech', 'lip_sync', 'video_dubbing', 'image', 'video')),
  status TEXT NOT NULL
    CHECK (status IN ('pending', 'processing', 'done', 'partial', 'failed')),
  owner_id TEXT REFERENCES owner (id),
  attempts INTEGER NOT NULL,
  progress INTEGER NOT NULL CHECK (progress BETWEEN 0 AND 100),
  order_json TEXT NOT NULL,
  answer_json TEXT NOT NULL,
  result_json TEXT,
  characters INTEGER NOT NULL,
  credits INTEGER NOT NULL,
  error_code TEXT,
  error_message TEXT,
  fault TEXT CHECK (fault IN ('fail', 'partial_fail')),
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  CHECK ((finished_at IS NULL) = (status IN ('pending', 'processing'))),
  CHECK (finished_at IS NULL OR owner_id IS NULL),
  CHECK (kind = 'speech' OR (status = 'done') = (result_json IS NOT NULL))
) STRICT;

CREATE INDEX job_of_account ON job (account_id, kind, number);

CREATE INDEX job_unfinished ON job (number) WHERE finished_at IS NULL;

CREATE TABLE job_segment (
  job_id TEXT NOT NULL REFERENCES job (id),
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  characters INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'success', 'skipped', 'fail')),
  samples INTEGER,
  sample_rate INTEGER,
  PRIMARY KEY (job_id, number),
  CHECK ((status = 'success') = (samples IS NOT NULL)),
  CHECK ((status = 'success') = (sample_rate IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE dubbing (
  operation_id TEXT PRIMARY KEY REFERENCES operation (id),
  speech_file_id TEXT NOT NULL REFERENCES media_file (id),
  speech_credits INTEGER NOT NULL,
  job_id TEXT UNIQUE REFERENCES job (id),
  refusal TEXT,
  CHECK ((job_id IS NULL) = (refusal IS NOT NULL))
) STRICT, WITHOUT ROWID;
`;

/**
 * The SQL that updates a database, by the version that it has. Each step leads to the next version; never change an
 * existing step. No release of foley has made a database with a version below the first.
 */
export const UPDATES: ReadonlyMap<number, string> = new Map([
  // The voices of the engine flite became voices of the engine hibari; the pitch stays as it was.
  [
    13,
    `
  UPDATE personal_voice SET
    pitch = pitch + CASE engine_voice WHEN 'slt' THEN -3.5 WHEN 'awb' THEN -1 ELSE 0 END,
    engine_voice = CASE engine_voice WHEN 'slt' THEN 'clara' WHEN 'awb' THEN 'ewan'
      WHEN 'kal16' THEN 'jonas' ELSE 'martin' END,
    engine = 'hibari'
  WHERE engine = 'flite';
  UPDATE voice_candidate SET
    pitch = pitch + CASE engine_voice WHEN 'slt' THEN -3.5 WHEN 'awb' THEN -1 ELSE 0 END,
    engine_voice = CASE engine_voice WHEN 'slt' THEN 'clara' WHEN 'awb' THEN 'ewan'
      WHEN 'kal16' THEN 'jonas' ELSE 'martin' END,
    engine = 'hibari'
  WHERE engine = 'flite';
  `,
  ],
]);
