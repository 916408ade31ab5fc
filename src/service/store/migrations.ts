/**
 * The SQL steps that update the schema of a database. The database stores the number of applied steps as
 * `user_version`. A new database gets their result at once (generated-schema.ts). Never change an existing step:
 * add a new one, and run `npm run generate`.
 */
export const MIGRATIONS: readonly string[] = [
  `
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
    CHECK ((state = 'in_progress') = (owner_id IS NOT NULL))
  ) STRICT;

  CREATE UNIQUE INDEX operation_key
    ON operation (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX operation_in_progress ON operation (owner_id) WHERE owner_id IS NOT NULL;
  `,
  `
  CREATE TABLE job (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE REFERENCES operation (id),
    account_id TEXT NOT NULL REFERENCES account (id),
    status TEXT NOT NULL
      CHECK (status IN ('pending', 'processing', 'success', 'partial_fail', 'fail')),
    owner_id TEXT REFERENCES owner (id),
    attempts INTEGER NOT NULL,
    voice_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    format TEXT NOT NULL,
    speed REAL NOT NULL,
    pitch REAL NOT NULL,
    gain_db REAL NOT NULL,
    ignored TEXT NOT NULL,
    characters INTEGER NOT NULL,
    credits INTEGER NOT NULL,
    text_preview TEXT NOT NULL,
    text_fingerprint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    CHECK ((finished_at IS NULL) = (status IN ('pending', 'processing'))),
    CHECK (finished_at IS NULL OR owner_id IS NULL)
  ) STRICT;

  CREATE INDEX job_of_account ON job (account_id, number);
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

  CREATE TABLE secret (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE cached_speech (
    id TEXT PRIMARY KEY,
    format TEXT NOT NULL,
    credits_used INTEGER NOT NULL,
    quota_remaining INTEGER,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX cached_speech_expiry ON cached_speech (expires_at);
  `,
  `
  ALTER TABLE job ADD COLUMN fault TEXT CHECK (fault IN ('fail', 'partial_fail'));

  CREATE TABLE rate_limit (
    account_id TEXT PRIMARY KEY REFERENCES account (id),
    next_free REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE media_job (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE REFERENCES operation (id),
    account_id TEXT NOT NULL REFERENCES account (id),
    kind TEXT NOT NULL CHECK (kind IN ('lip_sync', 'video_dubbing', 'image', 'video')),
    status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
    owner_id TEXT REFERENCES owner (id),
    attempts INTEGER NOT NULL,
    progress INTEGER NOT NULL CHECK (progress BETWEEN 0 AND 100),
    work TEXT NOT NULL,
    answer TEXT NOT NULL,
    result TEXT,
    error_code TEXT,
    error_message TEXT,
    credits INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    is_to_fail INTEGER NOT NULL CHECK (is_to_fail IN (0, 1)),
    CHECK ((finished_at IS NULL) = (status IN ('pending', 'processing'))),
    CHECK (finished_at IS NULL OR owner_id IS NULL),
    CHECK ((status = 'completed') = (result IS NOT NULL)),
    CHECK ((status = 'failed') = (error_code IS NOT NULL)),
    CHECK ((error_code IS NULL) = (error_message IS NULL))
  ) STRICT;

  CREATE INDEX media_job_of_account ON media_job (account_id, kind, number);
  CREATE INDEX media_job_unfinished ON media_job (number) WHERE finished_at IS NULL;

  CREATE TABLE media_file (
    id TEXT PRIMARY KEY,
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    content_type TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX media_file_in_folder ON media_file (folder);

  CREATE TABLE dubbing (
    operation_id TEXT PRIMARY KEY REFERENCES operation (id),
    speech_file_id TEXT NOT NULL REFERENCES media_file (id),
    speech_credits INTEGER NOT NULL,
    job_id TEXT UNIQUE REFERENCES media_job (id),
    refusal TEXT,
    CHECK ((job_id IS NULL) = (refusal IS NOT NULL))
  ) STRICT, WITHOUT ROWID;
  `,
  `
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
    melody REAL NOT NULL,
    formants REAL NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE INDEX personal_voice_of_account ON personal_voice (account_id, number);
  CREATE INDEX personal_voice_shared ON personal_voice (number) WHERE visibility = 'public';
  CREATE INDEX job_unfinished_voice ON job (voice_id) WHERE finished_at IS NULL;

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
    melody REAL NOT NULL,
    formants REAL NOT NULL,
    PRIMARY KEY (design_id, number)
  ) STRICT, WITHOUT ROWID;
  `,
  `
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
  `,
  // The error message because of which an operation was refunded.
  `
  ALTER TABLE operation ADD COLUMN failure TEXT;
  `,
  // The X-Request-Id sent with an Idempotency-Key, at endpoints where it is an idempotency key too.
  `
  ALTER TABLE operation ADD COLUMN request_key TEXT;

  CREATE INDEX operation_request_key
    ON operation (account_id, request_key) WHERE request_key IS NOT NULL;
  `,
  `
  ALTER TABLE personal_voice DROP COLUMN melody;
  ALTER TABLE personal_voice DROP COLUMN formants;
  ALTER TABLE voice_candidate DROP COLUMN melody;
  ALTER TABLE voice_candidate DROP COLUMN formants;
  `,
  // The error code of a failed job, unless the engine failed.
  `
  ALTER TABLE job ADD COLUMN error_code TEXT;
  `,
  // One table for jobs of every kind. The `number` of a job changes, but not the order of jobs.
  `
  ALTER TABLE job RENAME TO speech_job;
  ALTER TABLE job_segment RENAME TO speech_job_segment;
  ALTER TABLE dubbing RENAME TO dubbing_of_media_job;
  DROP INDEX job_of_account;
  DROP INDEX job_unfinished;
  DROP INDEX job_unfinished_voice;

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

  INSERT INTO job (id, account_id, kind, status, owner_id, attempts, progress, order_json,
    answer_json, characters, credits, error_code, error_message, fault, created_at, finished_at)
  SELECT id, account_id, 'speech',
    CASE status WHEN 'success' THEN 'done' WHEN 'partial_fail' THEN 'partial'
      WHEN 'fail' THEN 'failed' ELSE status END,
    owner_id, attempts, iif(status = 'success', 100, 0),
    json_object('voiceId', voice_id, 'modelId', model_id, 'format', format,
      'speed', json(printf('%!.17g', speed)), 'pitch', json(printf('%!.17g', pitch)),
      'gainDb', json(printf('%!.17g', gain_db)),
      'ignored', json(iif(ignored = '', '[]', '["' || replace(ignored, ',', '","') || '"]')),
      'textPreview', text_preview, 'textFingerprint', text_fingerprint),
    '{}', characters, credits, error_code,
    (SELECT failure FROM operation WHERE operation.id = speech_job.id), fault, created_at,
    finished_at
  FROM speech_job ORDER BY number;

  INSERT INTO job (id, account_id, kind, status, owner_id, attempts, progress, order_json,
    answer_json, result_json, characters, credits, error_code, error_message, fault, created_at,
    finished_at)
  SELECT id, account_id, kind, iif(status = 'completed', 'done', status), owner_id, attempts,
    progress, work, answer, result, 0, credits, error_code, error_message,
    iif(is_to_fail = 1, 'fail', NULL), created_at, finished_at
  FROM media_job ORDER BY number;

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
  INSERT INTO job_segment SELECT * FROM speech_job_segment;

  CREATE TABLE dubbing (
    operation_id TEXT PRIMARY KEY REFERENCES operation (id),
    speech_file_id TEXT NOT NULL REFERENCES media_file (id),
    speech_credits INTEGER NOT NULL,
    job_id TEXT UNIQUE REFERENCES job (id),
    refusal TEXT,
    CHECK ((job_id IS NULL) = (refusal IS NOT NULL))
  ) STRICT, WITHOUT ROWID;
  INSERT INTO dubbing SELECT * FROM dubbing_of_media_job;

  DROP TABLE dubbing_of_media_job;
  DROP TABLE speech_job_segment;
  DROP TABLE speech_job;
  DROP TABLE media_job;
  `,
  `
  ALTER TABLE cached_speech ADD COLUMN unspoken TEXT;
  `,
  // The voices of the engine flite became voices of the engine hibari; the pitch stays as it was.
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
];
