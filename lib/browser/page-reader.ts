import type { ReaderWorker } from './workers/reader.ts'

const load = async () => (await import('./workers/reader.ts')).readerWorker

interface PageReader extends ReaderWorker {
  /** Loads the code, for a trajectory that is about to be read. */
  load(): void
}

/** The reader of all pages. Its code is loaded with the first trajectory, because the first page of a user shows none. */
export const pageReader: PageReader = {
  file: async (...parameters) => (await load()).file(...parameters),
  call: async (...parameters) => (await load()).call(...parameters),
  // A failed load is tried again with the first trajectory, and reported there.
  load: () => void load().catch(() => {}),
  prepare() {
    load().then(
      (reader) => reader.prepare(),
      () => {},
    )
  },
}
