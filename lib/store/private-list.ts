/** A list in a file of its own that only the user can read: what holds keys never reaches the database or an export. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import * as z from 'zod'

export interface PrivateList<Entry> {
  list(): readonly Entry[]
  save(entries: readonly Entry[]): void
}

export function openPrivateList<Entry>(file: string, entry: z.ZodType<Entry>): PrivateList<Entry> {
  const fileSchema = z.strictObject({ servers: z.array(entry) })
  return {
    list() {
      let text: string
      try {
        text = readFileSync(file, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
        throw error
      }
      return fileSchema.parse(JSON.parse(text)).servers
    },
    save(servers) {
      const unfinished = `${file}.new`
      writeFileSync(unfinished, `${JSON.stringify({ servers }, null, 2)}\n`, { mode: 0o600 })
      renameSync(unfinished, file)
    },
  }
}
