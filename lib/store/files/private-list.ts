/** Stores a list in a file that only the user can read, because keys must not reach the database or an export. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { StoreError, storeErrorsOf } from '../store-error.ts'

/** A list in a file. Both functions throw StoreError if the file is damaged or the disk fails. */
export interface PrivateList<Entry> {
  list(): readonly Entry[]
  /** Saves atomically: the file has either the new list or the old one. */
  save(entries: readonly Entry[]): void
}

/** Returns the list in a file, which need not exist yet. `entry` is the schema of its entries. */
export function openPrivateList<Entry>(file: string, entry: z.ZodType<Entry>): PrivateList<Entry> {
  const fileSchema = z.strictObject({ servers: z.array(entry) })
  const damaged = (why: string, cause?: unknown) =>
    new StoreError(
      'SETTINGS_DAMAGED',
      `the settings file ${file} is damaged: ${why}`,
      'Correct it in an editor, or move it away and add its servers again.',
      { cause },
    )
  const entries: PrivateList<Entry> = {
    list() {
      let text: string
      try {
        text = readFileSync(file, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
        throw error
      }
      const value = jsonValue(text, damaged)
      const parsed = fileSchema.safeParse(value)
      if (parsed.success) return parsed.data.servers
      throw damaged(violationText(schemaViolation(parsed.error, value)), parsed.error)
    },
    save(servers) {
      const unfinished = `${file}.${crypto.randomUUID()}`
      try {
        // The file is flushed, because a renamed file could be empty after a power cut.
        writeFileSync(unfinished, `${JSON.stringify({ servers }, null, 2)}\n`, { mode: 0o600, flush: true })
        renameSync(unfinished, file)
      } catch (error) {
        rmSync(unfinished, { force: true })
        throw error
      }
    },
  }
  return storeErrorsOf(entries, file)
}

function jsonValue(text: string, damaged: (why: string) => StoreError): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message may quote the file, which contains keys.
    throw damaged(text.trim() === '' ? 'the file is empty' : 'the file is not JSON, or is truncated')
  }
}
