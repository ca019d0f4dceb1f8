/**
 * The template lab's document in this browser: one value in IndexedDB, written after every step, so that a reload loses
 * nothing. While one write is under way, the next waits, and only the newest is written.
 */
import * as z from 'zod'
import { applyLabAction, historyOf, type LabAction, type LabDocument, type LabHistory } from '#lib/lab/document.ts'
import type { LabSource } from '#lib/lab/source.ts'

export interface DocumentShelf {
  /** What was written last; undefined where there is nothing that can be read. */
  read(): Promise<unknown>
  write(document: LabDocument): Promise<void>
}

export type LabState =
  | { readonly kind: 'reading' }
  /** `first`: nothing was kept, and nothing has been loaded yet. */
  | { readonly kind: 'first' }
  | { readonly kind: 'open'; readonly history: LabHistory; readonly saved: 'saved' | 'saving' | 'failed' }

export interface LabStore {
  subscribe(listener: () => void): () => void
  state(): LabState
  /** The document of a lab that has none. */
  begin(document: LabDocument): void
  apply(action: LabAction): LabHistory | undefined
}

/** The document that was written last, for a page that only reads it; undefined where there is none. */
export async function keptDocument(shelf: Pick<DocumentShelf, 'read'>): Promise<LabDocument | undefined> {
  const read = await shelf.read().catch(() => undefined)
  return documentSchema.safeParse(read).data
}

export function createLabStore(shelf: DocumentShelf): LabStore {
  const listeners = new Set<() => void>()
  let current: LabState = { kind: 'reading' }
  let isWriting = false
  const set = (state: LabState) => {
    current = state
    for (const listener of listeners) listener()
  }
  const write = async () => {
    if (isWriting) return
    isWriting = true
    for (let written: LabDocument | undefined; current.kind === 'open' && current.history.now !== written; ) {
      written = current.history.now
      const result = await shelf.write(written).then(
        () => 'saved' as const,
        () => 'failed' as const,
      )
      if (current.history.now === written) set({ ...current, saved: result })
    }
    isWriting = false
  }
  const change = (history: LabHistory) => {
    set({ kind: 'open', history, saved: 'saving' })
    write()
  }
  shelf.read().then(
    (value) => {
      const document = documentSchema.safeParse(value)
      // Begun in the meantime: what the reader asked for by a link stays.
      if (current.kind !== 'reading') return
      if (document.success) set({ kind: 'open', history: historyOf(document.data), saved: 'saved' })
      else set({ kind: 'first' })
    },
    () => set({ kind: 'first' }),
  )
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    state: () => current,
    begin: (document) => change(historyOf(document)),
    apply(action) {
      if (current.kind !== 'open') return undefined
      const history = applyLabAction(current.history, action)
      if (history !== current.history) change(history)
      return history
    },
  }
}

/** A key that is not there reads as undefined: structured clones keep it, JSON does not. */
const maybe = <T>(schema: z.ZodType<T>) => schema.optional().transform((value): T | undefined => value)

const sourceSchema: z.ZodType<LabSource> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sample'), name: z.string() }),
  z.object({ kind: z.literal('tokenizer'), name: z.string(), template: maybe(z.string()) }),
  z.object({ kind: z.literal('server'), name: z.string() }),
  z.object({ kind: z.literal('trajectory'), key: z.string() }),
  z.object({ kind: z.literal('file'), name: z.string() }),
])

const documentSchema: z.ZodType<LabDocument> = z
  .object({
    revisions: z
      .array(
        z.object({
          number: z.int().min(1),
          name: z.string(),
          kind: z.enum(['draft', 'kept']),
          parent: maybe(z.int()),
          template: z.string(),
        }),
      )
      .min(1),
    shown: z.int(),
    messages: z.string(),
    tools: z.string(),
    options: z.string(),
    tokenizer: z.string(),
    source: maybe(sourceSchema),
    trajectory: maybe(z.string()),
  })
  .readonly()

const DATABASE = 'rollscope'
const STORE = 'template-lab'
const KEY = 'document'

/** IndexedDB and not localStorage: long conversations and many revisions go beyond its five megabytes. */
export function browserShelf(): DocumentShelf {
  let database: Promise<IDBDatabase> | undefined
  const transaction = async <T>(
    mode: IDBTransactionMode,
    act: (store: IDBObjectStore) => IDBRequest<T>,
  ): Promise<T> => {
    database ??= opened()
    const running = (await database).transaction(STORE, mode)
    const request = act(running.objectStore(STORE))
    return new Promise((resolve, reject) => {
      running.oncomplete = () => resolve(request.result)
      running.onabort = () => reject(running.error)
    })
  }
  return {
    read: () => transaction<unknown>('readonly', (store) => store.get(KEY)),
    write: async (document) => {
      await transaction('readwrite', (store) => store.put(document, KEY))
    },
  }
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = window.indexedDB.open(DATABASE, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
