/** Defines the tables by version, and upgrades a database to the current version in one transaction. */
import type { DatabaseSync } from 'node:sqlite'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import { labelsOf, withLabels } from '#lib/trajectory/format/labels.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { labelColumns, recordColumns } from './entry.ts'
import { createChoices } from './listing/choices.ts'
import { insertRow, type StoredRow } from './row.ts'
import { createSharedTexts, shareEqualSegments } from './segments/shared-texts.ts'
import { StoreError } from './store-error.ts'
import { transaction } from './transaction.ts'

/** Upgrades in order: the first one creates version 1, the second one upgrades 1 to 2, and so on. */
const upgrades: readonly ((database: DatabaseSync) => void)[] = [
  createTables,
  separateLabels,
  keepHealth,
  keepGroups,
  indexGenerated,
  keepPacked,
  splitLongLists,
  listMissing,
  keepGroupServers,
  linkForks,
  keepEstimates,
  describeForks,
  keepSessions,
  shareTexts,
  keepGroupStarts,
  keepBegunCalls,
  keepBeginnings,
  keepImportGroups,
  allowUnknownCalls,
  createChoices,
]

/**
 * Upgrades the schema, with foreign keys off. Throws StoreError for a newer version, and while an instance is running that knows only the
 * present one; the database stays unchanged then.
 */
export function migrate(database: DatabaseSync, isInUse: () => boolean): void {
  const versionFound = (): number => {
    const version = Number(database.prepare('PRAGMA user_version').get()?.user_version)
    if (version > upgrades.length)
      throw new StoreError(
        'NEWER_DATABASE',
        `the database was written by a newer Rollscope (schema ${version}, this version supports ${upgrades.length})`,
        'Update Rollscope, or set ROLLSCOPE_DATA to another folder.',
      )
    return version
  }
  if (versionFound() === upgrades.length) return
  transaction(database, () => {
    // The version is read again, because another process may have upgraded first.
    const version = versionFound()
    if (version > 0 && version < upgrades.length && isInUse())
      throw new StoreError(
        'FOLDER_IN_USE',
        'the database must be upgraded, and an older Rollscope is running that uses it',
        'Stop the older one, then start this one again; or set ROLLSCOPE_DATA to another folder.',
      )
    for (const upgrade of upgrades.slice(version)) upgrade(database)
    database.exec(`PRAGMA user_version = ${upgrades.length}`)
  })
}

function createTables(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE trajectories (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL UNIQUE,
      header TEXT NOT NULL,
      title TEXT NOT NULL,
      model TEXT,
      outcome TEXT NOT NULL,
      tokens INTEGER NOT NULL,
      trained INTEGER NOT NULL,
      running_in INTEGER
    ) STRICT;
    CREATE TABLE segments (
      key TEXT NOT NULL REFERENCES trajectories (key) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      segment TEXT NOT NULL,
      PRIMARY KEY (key, position)
    ) STRICT, WITHOUT ROWID;
  `)
}

/**
 * Moves headers, which contain whole vocabularies, to their own table, so that a list reads only small rows. Labels
 * move out of the headers, and the other list columns are added.
 */
function separateLabels(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE headers (
      key TEXT NOT NULL PRIMARY KEY REFERENCES trajectories (key) ON DELETE CASCADE,
      header TEXT NOT NULL
    ) STRICT;
    CREATE TABLE listed (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL UNIQUE,
      added_at TEXT NOT NULL,
      deleted_at INTEGER,
      running_in INTEGER,

      labels TEXT NOT NULL,
      title_sort TEXT,
      reward REAL,
      labels_search TEXT NOT NULL,

      id TEXT NOT NULL,
      created_at TEXT NOT NULL,
      question TEXT NOT NULL,
      question_sort TEXT,
      model TEXT,
      outcome_kind TEXT NOT NULL,
      outcome TEXT NOT NULL,
      source TEXT NOT NULL,
      import_format TEXT,
      segments INTEGER NOT NULL,
      turns INTEGER NOT NULL,
      tokens INTEGER NOT NULL,
      trained INTEGER NOT NULL,
      mean_logprob REAL,
      tool_calls INTEGER NOT NULL,
      failed_calls INTEGER NOT NULL,
      record_search TEXT NOT NULL
    ) STRICT;
  `)
  const old = database.prepare('SELECT * FROM trajectories WHERE sequence = ?')
  const segments = database.prepare('SELECT segment FROM segments WHERE key = ? ORDER BY position')
  const insertHeader = database.prepare('INSERT INTO headers (key, header) VALUES (?, ?)')
  for (const { sequence } of database.prepare('SELECT sequence FROM trajectories ORDER BY sequence').all()) {
    const row = old.get(Number(sequence)) as StoredRow
    const key = String(row.key)
    const columns = listedColumns(
      row,
      segments.all(key).map(({ segment }) => String(segment)),
    )
    insertRow(database, 'listed', {
      sequence: Number(sequence),
      key,
      running_in: row.running_in ?? null,
      ...columns.listed,
    })
    insertHeader.run(key, columns.header)
  }
  database.exec('DROP TABLE trajectories; ALTER TABLE listed RENAME TO trajectories')
}

/** `revision` counts how often a record was written; a health result belongs to one revision. */
function keepHealth(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE trajectories ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE health (
      key TEXT NOT NULL PRIMARY KEY REFERENCES trajectories (key) ON DELETE CASCADE,
      revision INTEGER NOT NULL,
      version INTEGER NOT NULL,
      severity TEXT NOT NULL,
      has_drift INTEGER NOT NULL,
      gist TEXT NOT NULL,
      report TEXT NOT NULL
    ) STRICT;
  `)
}

/** Runs store their group; imported files number their groups independently. */
function keepGroups(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE trajectories ADD COLUMN group_id TEXT;
    ALTER TABLE trajectories ADD COLUMN group_index INTEGER;
    ALTER TABLE trajectories ADD COLUMN reward_why TEXT;
    CREATE INDEX trajectories_by_group ON trajectories (group_id) WHERE group_id IS NOT NULL;
    CREATE TABLE groups (
      id TEXT NOT NULL PRIMARY KEY,
      rule TEXT NOT NULL
    ) STRICT;
    UPDATE trajectories SET (group_id, group_index) = (
      SELECT json_extract(header, '$.group.id'), json_extract(header, '$.group.index')
      FROM headers WHERE headers.key = trajectories.key AND json_valid(header)
    ) WHERE source <> 'import';
  `)
}

/**
 * Generated text is searched in an index without the texts. Existing records are not read here, which would take
 * minutes: they are indexed, and get `trained_spans`, when their health is checked.
 */
function indexGenerated(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE trajectories ADD COLUMN trained_spans TEXT;
    CREATE TABLE generated (
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL REFERENCES trajectories (key) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      UNIQUE (key, position)
    ) STRICT;
    CREATE VIRTUAL TABLE generated_search USING fts5 (
      text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
    );
    CREATE TRIGGER generated_deleted AFTER DELETE ON generated BEGIN
      DELETE FROM generated_search WHERE rowid = old.id;
    END;
  `)
}

/** Copies are written when records are read, so there are none for existing records yet. */
function keepPacked(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE packed (
      key TEXT NOT NULL PRIMARY KEY REFERENCES trajectories (key) ON DELETE CASCADE,
      revision INTEGER NOT NULL,
      version INTEGER NOT NULL,
      checksum INTEGER NOT NULL,
      bytes BLOB NOT NULL
    ) STRICT;
  `)
}

/** Long lists of numbers of a segment are stored in parts. Existing segments stay one text. */
function splitLongLists(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE segment_lists (
      key TEXT NOT NULL,
      position INTEGER NOT NULL,
      path TEXT NOT NULL,
      part INTEGER NOT NULL,
      entries TEXT NOT NULL,
      PRIMARY KEY (key, position, path, part),
      FOREIGN KEY (key, position) REFERENCES segments (key, position) ON DELETE CASCADE
    ) STRICT;
  `)
}

/** Lists show what imported files lack. A header that cannot be read lists nothing. */
function listMissing(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE trajectories ADD COLUMN missing TEXT;
    ALTER TABLE trajectories ADD COLUMN is_encoded_again INTEGER NOT NULL DEFAULT 0;
    UPDATE trajectories SET (missing, is_encoded_again) = (
      SELECT json_extract(header, '$.provenance.missing'), json_type(header, '$.provenance.encodedAgain') IS NOT NULL
      FROM headers WHERE headers.key = trajectories.key
    ) WHERE source = 'import' AND EXISTS (
      SELECT 1 FROM headers WHERE headers.key = trajectories.key AND json_valid(header)
    );
  `)
}

/** A group may have samples of several servers. Groups of older versions have one server. */
function keepGroupServers(database: DatabaseSync): void {
  database.exec('ALTER TABLE trajectories ADD COLUMN group_server TEXT')
}

/** Trees are found by the trajectory from which each one was forked. A header that cannot be read has none. */
function linkForks(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE trajectories ADD COLUMN forked_from TEXT;
    UPDATE trajectories SET forked_from = (
      SELECT json_extract(header, '$.forkedFrom.trajectory') FROM headers
      WHERE headers.key = trajectories.key AND json_valid(header)
    );
    CREATE INDEX trajectories_by_fork ON trajectories (forked_from) WHERE forked_from IS NOT NULL;
    CREATE INDEX trajectories_by_id ON trajectories (id);
  `)
}

/** Value estimates are continued by another instance if theirs has ended. Their samples are trajectories in groups. */
function keepEstimates(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE estimates (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      key TEXT NOT NULL REFERENCES trajectories (key) ON DELETE CASCADE,
      created_at TEXT NOT NULL,
      plan TEXT NOT NULL,
      state TEXT NOT NULL,
      failure TEXT,
      running_in INTEGER
    ) STRICT;
    CREATE INDEX estimates_by_trajectory ON estimates (key);
    CREATE INDEX estimates_running ON estimates (running_in) WHERE running_in IS NOT NULL;
  `)
}

/** Rows say where and how a trajectory was forked, so that a tree needs no records. */
function describeForks(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE trajectories ADD COLUMN fork_token INTEGER;
    ALTER TABLE trajectories ADD COLUMN fork_kind TEXT;
    UPDATE trajectories SET (fork_token, fork_kind) = (
      SELECT json_extract(header, '$.forkedFrom.token'), json_extract(header, '$.forkedFrom.kind') FROM headers
      WHERE headers.key = trajectories.key AND json_valid(header)
        AND json_type(header, '$.forkedFrom.token') = 'integer' AND json_type(header, '$.forkedFrom.kind') = 'text'
    ) WHERE forked_from IS NOT NULL;
  `)
}

/** Sessions of clients and their calls. The trajectories of their leaves are stored like all others. */
function keepSessions(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE sessions (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      created_at TEXT NOT NULL,
      settings TEXT NOT NULL,
      reward REAL
    ) STRICT;
    CREATE TABLE session_calls (
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      sequence INTEGER NOT NULL,
      facts TEXT NOT NULL,
      content TEXT NOT NULL,
      PRIMARY KEY (session, sequence)
    ) STRICT;
  `)
}

/** Segments that several trajectories begin with are stored once. */
function shareTexts(database: DatabaseSync): void {
  createSharedTexts(database)
  shareEqualSegments(database)
}

/** Groups know with how many samples they began, and which servers were refused. Groups of older versions do not. */
function keepGroupStarts(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE group_starts (
      id TEXT NOT NULL PRIMARY KEY,
      samples INTEGER NOT NULL,
      refused TEXT NOT NULL
    ) STRICT;
  `)
}

/** Calls of sessions that are being answered, each by the instance that answers it. A row that outlives its instance is an interrupted call. */
function keepBegunCalls(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE session_calls_begun (
      id INTEGER PRIMARY KEY,
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      running_in INTEGER NOT NULL,
      call TEXT NOT NULL
    ) STRICT;
    CREATE INDEX session_calls_begun_by_session ON session_calls_begun (session);
  `)
}

/**
 * Beginnings of the histories of sessions that clients do not name, so that the session of a call is found without reading others. Sessions
 * of older versions are found only by their ids.
 */
function keepBeginnings(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE session_beginnings (
      id INTEGER PRIMARY KEY,
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      beginning TEXT NOT NULL,
      UNIQUE (session, beginning)
    ) STRICT;
    CREATE INDEX session_beginnings_newest ON session_beginnings (beginning, id);
  `)
}

/**
 * Samples of imported files are compared with those of their group in the same file. The bytes of the files are unknown for
 * existing records: their groups are those of files with the same name. A header that cannot be read has none.
 */
function keepImportGroups(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE trajectories ADD COLUMN import_group TEXT;
    UPDATE trajectories SET (import_group, group_index) = (
      SELECT json_array(NULL, json_extract(header, '$.provenance.file'), json_extract(header, '$.group.id')),
        json_extract(header, '$.group.index')
      FROM headers WHERE headers.key = trajectories.key
    ) WHERE source = 'import' AND EXISTS (
      SELECT 1 FROM headers WHERE headers.key = trajectories.key AND json_valid(header)
        AND json_extract(header, '$.provenance.kind') = 'import' AND json_type(header, '$.group.id') = 'text'
    );
    CREATE INDEX trajectories_by_import_group ON trajectories (import_group) WHERE import_group IS NOT NULL;
  `)
}

/** Calls that no parser could find are unknown, so no search for a number finds them. Older versions counted 0. */
function allowUnknownCalls(database: DatabaseSync): void {
  for (const column of ['tool_calls', 'failed_calls'])
    database.exec(`
      ALTER TABLE trajectories RENAME COLUMN ${column} TO counted;
      ALTER TABLE trajectories ADD COLUMN ${column} INTEGER;
      UPDATE trajectories SET ${column} = counted;
      ALTER TABLE trajectories DROP COLUMN counted;
    `)
  database.exec(`
    UPDATE trajectories SET tool_calls = NULL, failed_calls = NULL
    WHERE tool_calls = 0 AND EXISTS (SELECT 1 FROM json_each(missing) WHERE value IN ('ids', 'texts'));
  `)
}

function listedColumns(row: StoredRow, segments: readonly string[]) {
  const trajectory = decodedRow(String(row.header), segments)
  if (trajectory) {
    const { segments: _, ...header } = withLabels(trajectory, {})
    const {
      group_id: _id,
      group_index: _index,
      group_server: _server,
      forked_from: _from,
      fork_token: _token,
      fork_kind: _kind,
      trained_spans: _spans,
      missing: _missing,
      is_encoded_again: _encoded,
      ...columns
    } = recordColumns(trajectory)
    return {
      header: JSON.stringify(header),
      listed: {
        added_at: trajectory.createdAt,
        ...columns,
        tool_calls: columns.tool_calls ?? 0,
        failed_calls: columns.failed_calls ?? 0,
        ...labelColumns(labelsOf(trajectory)),
      },
    }
  }
  // A record that cannot be read stays unchanged; opening it reports the error.
  const createdAt = new Date(0).toISOString()
  return {
    header: String(row.header),
    listed: {
      ...labelColumns({}),
      added_at: createdAt,
      id: String(row.key),
      created_at: createdAt,
      question: String(row.title),
      model: row.model ?? null,
      outcome_kind: row.outcome === 'running' ? 'running' : 'ended',
      outcome: String(row.outcome),
      source: 'rollout',
      segments: segments.length,
      turns: 0,
      tokens: Number(row.tokens),
      trained: Number(row.trained),
      tool_calls: 0,
      failed_calls: 0,
      record_search: '',
    },
  }
}

function decodedRow(header: string, segments: readonly string[]): Trajectory | undefined {
  try {
    const decoded = decodeValue({ ...JSON.parse(header), segments: segments.map((segment) => JSON.parse(segment)) })
    return decoded.ok ? decoded.trajectory : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
