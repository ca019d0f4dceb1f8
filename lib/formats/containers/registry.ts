/** All containers, in the order in which the beginning of a file is compared with them. Each is loaded when a file needs it. */
import type { OpenTable, ReadContainer } from './container.ts'

/** A container format. */
export interface Container {
  /** Name with its article, for a sentence. */
  readonly name: string
  /** Pattern of the first characters, as file-type.ts shows them. */
  readonly begins: RegExp
  /** False for compressed data and tables: their only entry has the name of the file. */
  readonly hasNames: boolean
  /** True if its records are events. Omitted: they are not. */
  readonly hasEvents?: true
  readonly load: () => Promise<ReadContainer>
  /** Omitted if its rows can only be read from the first to the last. */
  readonly loadTable?: () => Promise<OpenTable>
}

/** All containers. */
export const containers: readonly Container[] = [
  {
    name: 'a gzip file',
    begins: /^␟\uFFFD/,
    hasNames: false,
    load: async () => {
      const { gunzipped } = await import('./compressed.ts')
      return async function* ({ bytes, tools, budget }) {
        yield { kind: 'file', name: undefined, bytes: await tools.keep(gunzipped(bytes, budget)) }
      }
    },
  },
  {
    name: 'a Zstandard file',
    begins: /^\(\uFFFD\/\uFFFD/,
    hasNames: false,
    load: async () => {
      const { unzstd } = await import('./compressed.ts')
      return async function* ({ bytes, tools, budget }) {
        yield { kind: 'file', name: undefined, bytes: await tools.keep(unzstd(bytes, budget)) }
      }
    },
  },
  {
    name: 'a Parquet file',
    begins: /^PAR[1E]/,
    hasNames: false,
    load: async () => (await import('./parquet.ts')).readParquet,
    loadTable: async () => (await import('./parquet.ts')).openParquet,
  },
  {
    name: 'an Arrow file',
    begins: /^ARROW1/,
    hasNames: false,
    load: async () => (await import('./arrow.ts')).readArrow,
  },
  {
    name: 'an Arrow stream',
    begins: /^\uFFFD{4}[\s\S]{1,4}␀␀/,
    hasNames: false,
    load: async () => (await import('./arrow.ts')).readArrow,
  },
  {
    name: 'a zip archive',
    begins: /^PK(␃␄|␅␆)/,
    hasNames: true,
    load: async () => (await import('./zip.ts')).readZip,
  },
  {
    name: 'a tar archive',
    begins: /^[\s\S]{257}ustar/,
    hasNames: true,
    load: async () => (await import('./tar.ts')).readTar,
  },
  {
    name: 'an SQLite database',
    begins: /^SQLite format 3␀/,
    hasNames: true,
    load: async () => (await import('./sqlite.ts')).readSqlite,
  },
  {
    name: 'text in UTF-16',
    begins: /^(\uFFFD\uFFFD([\s\S]␀|␀)|[[{"]␀|␀[[{"])/,
    hasNames: false,
    load: async () => {
      const { utf8Of } = await import('./utf16.ts')
      return async function* ({ bytes, tools, budget }) {
        yield { kind: 'file', name: undefined, bytes: await tools.keep(utf8Of(bytes, budget)) }
      }
    },
  },
  {
    name: 'server-sent events',
    begins: /^(?:(?::|event:|id:|retry:)[^␊␍]*[␊␍]+)*data:/,
    hasNames: false,
    hasEvents: true,
    load: async () => (await import('./events.ts')).readEvents,
  },
]
