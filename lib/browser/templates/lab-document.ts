/**
 * The template lab's document in this browser: one value in IndexedDB, written after every step, so that a reload loses nothing. While one
 * write is under way, the next waits, and only the newest is written.
 *
 * Windows share this value. Each write increases its edition, and succeeds only if the window knows the latest edition: an outdated window
 * stores its own document among the earlier ones until the user has chosen one of both.
 */
import * as z from 'zod/mini'
import {
  applyLabAction,
  historyOf,
  type LabAction,
  type LabDocument,
  type LabHistory,
} from '#lib/templates/document/document.ts'
import type { LabSource } from '#lib/templates/document/source.ts'

/** The storage of lab documents. */
export interface DocumentStorage {
  /** Returns the last written value; undefined if there is none that can be read. */
  read(): Promise<unknown>
  /** Replaces the edition `after`. Resolves with the stored value instead if that has another edition. */
  write(document: LabDocument, after: number): Promise<WriteResult>
  /** Returns the earlier documents by key, unordered. */
  readEarlier(): Promise<readonly (readonly [key: string, value: unknown])[]>
  /** Adds or replaces an earlier document, and removes the oldest ones if there are too many. */
  keep(key: string, document: LabDocument, at: string): Promise<void>
  /** Calls the listener when another window has written, until the returned function is called. */
  watch(listener: () => void): () => void
}

type WriteResult =
  | { readonly kind: 'written'; readonly edition: number }
  | { readonly kind: 'conflict'; readonly value: unknown }

/** State of the lab in this window. */
export type LabState =
  | { readonly kind: 'reading' }
  /** `first`: no document is stored, and none has been loaded yet. */
  | { readonly kind: 'first' }
  | {
      readonly kind: 'open'
      readonly history: LabHistory
      readonly saved: 'saved' | 'saving' | 'failed'
      /** Document that another window stored over the common one; undefined if there is none. */
      readonly other: LabDocument | undefined
    }

/** Access to the lab's document. */
export interface LabStore {
  subscribe(listener: () => void): () => void
  state(): LabState
  /** Sets the document of a lab that has none. */
  begin(document: LabDocument): void
  apply(action: LabAction): LabHistory | undefined
  /** Stores the current document among the earlier ones before something replaces it. Always resolves. */
  keepEarlier(): Promise<void>
  /** Ends a conflict of two windows. The document that is not chosen becomes an earlier one. */
  choose(taken: 'own' | 'other'): void
}

/** A document that something replaced. */
export interface EarlierDocument {
  readonly key: string
  /** ISO date of its last change. */
  readonly at: string
  readonly document: LabDocument
}

/** Returns the last stored document for a page that only reads it; undefined if there is none. */
export async function storedDocument(shelf: Pick<DocumentStorage, 'read'>): Promise<LabDocument | undefined> {
  const read = await shelf.read().catch(() => undefined)
  return documentSchema.safeParse(read).data
}

/** Returns documents that something replaced, newest first; empty if the browser stores nothing. */
export async function earlierDocuments(
  shelf: Pick<DocumentStorage, 'readEarlier'>,
): Promise<readonly EarlierDocument[]> {
  const entries = await shelf.readEarlier().catch(() => [])
  return entries
    .flatMap(([key, value]) => {
      const read = earlierSchema.safeParse(value)
      return read.success ? [{ key, ...read.data }] : []
    })
    .sort((a, b) => b.at.localeCompare(a.at))
}

/** Returns the store of a window, which reads the stored document. `now` is the clock; `windowName` differs between windows. */
export function createLabStore(
  shelf: DocumentStorage,
  { now, windowName }: { readonly now: () => Date; readonly windowName: string },
): LabStore {
  const listeners = new Set<() => void>()
  let current: LabState = { kind: 'reading' }
  let isWriting = false
  /** Edition of the stored value that this window's document continues. */
  let edition = 0
  /** Document on which the stored value and this window last agreed. */
  let agreed: LabDocument | undefined
  /** Initial document of a new lab, which need not be kept because it can be loaded again. */
  let begun: LabDocument | undefined
  let keptCount = 0
  const set = (state: LabState) => {
    current = state
    for (const listener of listeners) listener()
  }
  const earlierKey = () => `${EARLIER}${windowName}-${keptCount}`
  const keep = (document: LabDocument) => shelf.keep(earlierKey(), document, now().toISOString())
  /** Processes the value of another window: it becomes the other document, unless both are equal. */
  const meet = (value: unknown) => {
    if (current.kind !== 'open') return
    const stored = storedSchema.safeParse(value)
    if (!stored.success || stored.data.edition === edition) return
    const { edition: theirs, ...document } = stored.data
    edition = theirs
    const isSame = JSON.stringify(document) === JSON.stringify(documentFields.parse(current.history.now))
    if (isSame) agreed = current.history.now
    set({ ...current, other: isSame ? undefined : document })
  }
  const save = async (document: LabDocument): Promise<'saved' | 'failed'> => {
    try {
      if (current.kind === 'open' && current.other) {
        await keep(document)
        return 'saved'
      }
      const result = await shelf.write(document, edition)
      if (result.kind === 'written') {
        edition = result.edition
        agreed = document
        return 'saved'
      }
      meet(result.value)
      // A stored value that cannot be read leaves no choice, so it is replaced.
      if (current.kind === 'open' && !current.other && agreed !== document) {
        edition = editionOf(result.value)
        return await save(document)
      }
      if (current.kind === 'open' && current.other) await keep(document)
      return 'saved'
    } catch {
      return 'failed'
    }
  }
  let written: LabDocument | undefined
  const write = async () => {
    if (isWriting) return
    isWriting = true
    while (current.kind === 'open' && current.history.now !== written) {
      written = current.history.now
      const result = await save(written)
      if (current.history.now === written) set({ ...current, saved: result })
    }
    isWriting = false
  }
  const change = (history: LabHistory) => {
    set({ kind: 'open', history, saved: 'saving', other: current.kind === 'open' ? current.other : undefined })
    void write()
  }
  const lookAgain = async () => {
    if (isWriting) return
    const value = await shelf.read().catch(() => undefined)
    // A write that began in the meantime compares the editions itself.
    if (!isWriting) meet(value)
  }
  let stopWatching = () => {}
  shelf.read().then(
    (value) => {
      const stored = storedSchema.safeParse(value)
      // The lab began in the meantime: the document that the user opened with a link stays.
      if (current.kind !== 'reading') return
      if (!stored.success) return set({ kind: 'first' })
      const { edition: read, ...document } = stored.data
      edition = read
      agreed = document
      written = document
      set({ kind: 'open', history: historyOf(document), saved: 'saved', other: undefined })
    },
    () => set({ kind: 'first' }),
  )
  return {
    subscribe(listener) {
      if (listeners.size === 0) stopWatching = shelf.watch(lookAgain)
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stopWatching()
      }
    },
    state: () => current,
    begin: (document) => {
      begun = document
      change(historyOf(document))
    },
    apply(action) {
      if (current.kind !== 'open') return undefined
      const history = applyLabAction(current.history, action)
      if (history !== current.history) change(history)
      return history
    },
    async keepEarlier() {
      if (current.kind !== 'open' || current.history.now === begun) return
      await keep(current.history.now).catch(() => undefined)
      keptCount++
    },
    choose(taken) {
      if (current.kind !== 'open' || !current.other) return
      const { other, history } = current
      if (taken === 'other') {
        // A document without changes since the windows agreed is contained in the other one.
        if (history.now !== agreed) keep(history.now).catch(() => undefined)
        agreed = other
        written = other
        set({
          ...current,
          history: applyLabAction(history, { type: 'opened', document: other }),
          saved: 'saved',
          other: undefined,
        })
        keptCount++
        return
      }
      keptCount++
      const saving = keep(other).catch(() => undefined)
      keptCount++
      written = undefined
      set({ ...current, saved: 'saving', other: undefined })
      void saving.then(write)
    },
  }
}

const EARLIER = 'earlier:'

/** Returns the schema of a field that may be missing: structured clones keep undefined, JSON does not. */
const maybe = <T>(schema: z.ZodMiniType<T>) =>
  z.pipe(
    z.optional(schema),
    z.transform((value): T | undefined => value),
  )

const sourceSchema: z.ZodMiniType<LabSource> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sample'), name: z.string() }),
  z.object({ kind: z.literal('tokenizer'), name: z.string(), template: maybe(z.string()) }),
  z.object({ kind: z.literal('server'), name: z.string() }),
  z.object({ kind: z.literal('trajectory'), key: z.string() }),
  z.object({ kind: z.literal('file'), name: z.string() }),
])

const documentFields = z.object({
  revisions: z
    .array(
      z.object({
        number: z.int().check(z.minimum(1)),
        name: z.string(),
        kind: z.enum(['draft', 'kept']),
        parent: maybe(z.int()),
        template: z.string(),
      }),
    )
    .check(z.minLength(1)),
  shown: z.int(),
  messages: z.string(),
  tools: z.string(),
  options: z.string(),
  tokenizer: z.string(),
  source: maybe(sourceSchema),
  trajectory: maybe(z.string()),
})

const documentSchema: z.ZodMiniType<LabDocument> = z.readonly(documentFields)
/** Documents from before editions existed have none. */
const storedSchema = z.extend(documentFields, { edition: z._default(z.int(), 0) })
const earlierSchema = z.object({ at: z.string(), document: documentSchema })

const editionOf = (value: unknown): number => z.object({ edition: z.int() }).safeParse(value).data?.edition ?? 0

const DATABASE = 'rollscope'
const STORE = 'template-lab'
const KEY = 'document'
/** Number of earlier documents that are kept. */
const MOST_EARLIER = 20

/**
 * Returns the storage of this browser. It is IndexedDB instead of localStorage, because long conversations and many revisions exceed its
 * five megabytes.
 */
export function openDocumentStorage(): DocumentStorage {
  let database: Promise<IDBDatabase> | undefined
  let channel: BroadcastChannel | undefined
  /** Resolves with the result of the last request of `act` when all of its requests are done. */
  const transaction = async <T>(
    mode: IDBTransactionMode,
    act: (store: IDBObjectStore, done: (result: T) => void) => void,
  ): Promise<T> => {
    database ??= openDatabase()
    const running = (await database).transaction(STORE, mode)
    return new Promise((resolve, reject) => {
      let result: T
      running.oncomplete = () => resolve(result)
      running.onabort = () => reject(running.error)
      act(running.objectStore(STORE), (value) => {
        result = value
      })
    })
  }
  const get = <T>(request: IDBRequest<T>, then: (result: T) => void) => {
    request.onsuccess = () => then(request.result)
  }
  return {
    read: () => transaction<unknown>('readonly', (store, done) => get(store.get(KEY), done)),
    // One transaction reads and writes, so that no other window can write in between.
    write: async (document, after) => {
      const result = await transaction<WriteResult>('readwrite', (store, done) =>
        get<unknown>(store.get(KEY), (value) => {
          if (value !== undefined && editionOf(value) !== after) return done({ kind: 'conflict', value })
          store.put({ ...document, edition: after + 1 }, KEY)
          done({ kind: 'written', edition: after + 1 })
        }),
      )
      if (result.kind === 'written') channel?.postMessage(result.edition)
      return result
    },
    readEarlier: () =>
      transaction('readonly', (store, done) =>
        get(store.getAllKeys(earlierKeys()), (keys) =>
          get(store.getAll(earlierKeys()), (values) => done(keys.map((key, index) => [String(key), values[index]]))),
        ),
      ),
    keep: (key, document, at) =>
      transaction('readwrite', (store, done) => {
        store.put({ at, document }, key)
        done(undefined)
        get(store.getAllKeys(earlierKeys()), (keys) =>
          get(store.getAll(earlierKeys()), (values: { readonly at?: unknown }[]) => {
            const oldest = keys
              .map((each, index) => ({ key: each, at: String(values[index]?.at) }))
              .sort((a, b) => a.at.localeCompare(b.at))
            for (const each of oldest.slice(0, Math.max(0, oldest.length - MOST_EARLIER))) store.delete(each.key)
          }),
        )
      }),
    watch: (listener) => {
      const watched = new BroadcastChannel(`${DATABASE}-${STORE}`)
      watched.onmessage = listener
      channel = watched
      return () => watched.close()
    },
  }
}

const earlierKeys = () => IDBKeyRange.bound(EARLIER, `${EARLIER}\uffff`)

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = window.indexedDB.open(DATABASE, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
