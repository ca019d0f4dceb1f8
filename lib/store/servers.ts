/** Saved servers, in a file of their own that only the user can read: keys never reach the database or an export. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'

export interface SavedServer {
  readonly name: string
  readonly baseUrl: string
  /** Bound to the origin of the base URL. */
  readonly apiKey?: string
}

export interface ServerStore {
  list(): readonly SavedServer[]
  save(servers: readonly SavedServer[]): void
}

const fileSchema = z.strictObject({
  servers: z.array(z.strictObject({ name: z.string(), baseUrl: z.string(), apiKey: z.string().exactOptional() })),
})

export function openServerStore(folder: string): ServerStore {
  const file = path.join(folder, 'servers.json')
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
