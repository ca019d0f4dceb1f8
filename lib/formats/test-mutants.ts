/** Damages good files by a seed: the same number gives the same file on every machine. */
import { isObject } from '#lib/json/json-object.ts'
import { parsePythonJson } from '#lib/json/python-json.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { documentedRecords } from '#testing/documented-records.ts'
import { joined } from './containers/container.ts'
import { type OpenResult, openText } from './reading/open.ts'
import { formats, writableFormats } from './registry.ts'

/** A good file. */
export interface GoodFile {
  readonly name: string
  /** JSON or JSON lines. */
  readonly text: string
}

/** A damaged file. */
export interface Mutant {
  /** The original file and the change, for a report. */
  readonly origin: string
  readonly bytes: Uint8Array
}

/** Returns the mutant with this number. Parts of `others` may be inserted. */
export function mutantOf(files: readonly GoodFile[], number: number, seed: number, others = files): Mutant {
  const random = seeded(seed * 1_000_003 + number)
  const file = random.one(files)
  const other = random.one(others)
  const applied: string[] = []
  let { text } = file
  for (let left = 1 + random.below(3); left > 0; left--) {
    const { name, change } = random.one(TEXT_CHANGES)
    text = change(text, random, other.text)
    applied.push(name)
  }
  let bytes: Uint8Array = new TextEncoder().encode(text)
  if (random.below(4) === 0) {
    const { name, change } = random.one(BYTE_CHANGES)
    bytes = change(bytes, random)
    applied.push(name)
  }
  return { origin: `${file.name}: ${applied.join(', ')}`, bytes }
}

/** A good container. */
export interface GoodContainer {
  readonly name: string
  readonly bytes: Uint8Array
}

/** Returns the mutant of a container with this number. Some bytes or numbers of it differ. */
export function containerMutantOf(containers: readonly GoodContainer[], number: number, seed: number): Mutant {
  const random = seeded(seed * 1_000_003 + number)
  const { name, bytes: good } = random.one(containers)
  const applied: string[] = []
  let bytes = good
  for (let left = 1 + random.below(3); left > 0; left--) {
    const { name, change } = random.one(CONTAINER_CHANGES)
    bytes = change(bytes, random)
    applied.push(name)
  }
  return { origin: `${name}: ${applied.join(', ')}`, bytes }
}

/** Returns these files, and their trajectories in every format. */
export const goodFiles = (files: readonly GoodFile[]): readonly GoodFile[] =>
  files.flatMap((file) => [file, ...written(file)])

/** Returns the files that hold the records that tools document. */
export const documentedFiles = (): readonly GoodFile[] =>
  Object.entries(documentedRecords).flatMap(([name, records]) => {
    const lines = records.map((record) => JSON.stringify(record))
    return formats.find((format) => format.name === name)?.joins
      ? [{ name, text: lines.join('\n') }]
      : lines.map((text, index) => ({ name: `${name} ${index}`, text }))
  })

/** Returns the files of each format, by its name. A file that does not open is not among them. */
export const filesByFormat = (files: readonly GoodFile[]): ReadonlyMap<string, readonly GoodFile[]> =>
  Map.groupBy(
    files.flatMap((file) => {
      const opened = open(file)
      return opened.ok ? [{ ...file, format: opened.format.name }] : []
    }),
    ({ format }) => format,
  )

const open = ({ name, text }: GoodFile): OpenResult =>
  openText(text, { file: name, now: '2026-01-01T00:00:00.000Z', newId: () => 'new' })

function written(file: GoodFile): readonly GoodFile[] {
  const opened = open(file)
  return opened.ok
    ? writableFormats.map((format) => ({
        name: `${file.name} as ${format.name}`,
        text: opened.trajectories.map((trajectory) => `${JSON.stringify(format.write(trajectory).value)}\n`).join(''),
      }))
    : []
}

interface RandomNumbers {
  /** Returns a whole number from 0, smaller than `limit`. */
  below(limit: number): number
  one<T>(list: readonly T[]): T
}

interface TextChange {
  readonly name: string
  readonly change: (text: string, random: RandomNumbers, other: string) => string
}

/** Texts that are inserted unchanged: JSON has no notation for some of them, and others are not JSON. */
const ODD_LITERALS = [
  ...['NaN', 'Infinity', '-Infinity', '1e999', '-1e999', '-0', '-1', '0.5', '1e-400', '9007199254740993', '1e21'],
  ...['0', '1', '2', '3.4e38', '-3.4028235e38', '4294967296', '1.0', 'null', 'true', 'false', '[]', '{}', '""'],
  ...['"\\ud800"', '"\\u0000"', '"__proto__"', '"¤1"', '"NaN"', '[null]', '[[]]', '[-1]', 'undefined', "'x'", ''],
] as const

const ODD_NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'toJSON', 'then', 'hasOwnProperty', '', 'length', '0', '\ud800'],
  ...['format', 'token_ids', 'tokens', 'samples', 'segments', 'rollout_history', 'metadata', 'masks', 'log_probs'],
] as const

const ODD_TEXTS = [
  '\ufeff',
  '\u0000',
  '\r',
  '\r\n',
  '\u2028',
  '¤',
  '"',
  '\\',
  '{',
  ']',
  ',',
  ':',
  'PAR1',
  'data: ',
] as const

const TEXT_CHANGES: readonly TextChange[] = [
  {
    name: 'another literal',
    change: (text, random) =>
      replaceAt(text, random, /-?\d[\d.eE+-]*|"(?:[^"\\]|\\.){0,40}"|null|true|false/g, () => random.one(ODD_LITERALS)),
  },
  {
    name: 'another number',
    change: (text, random) => replaceAt(text, random, /-?\d[\d.eE+-]*/g, () => random.one(ODD_LITERALS)),
  },
  {
    name: 'nested deep',
    change: (text, random) => replaceAt(text, random, /-?\d+|"[^"\\]{0,20}"/g, () => nested(random)),
  },
  { name: 'a sign missing', change: (text, random) => replaceAt(text, random, /[[\]{}:,"]/g, () => '') },
  { name: 'a sign twice', change: (text, random) => replaceAt(text, random, /[[\]{}:,"]/g, (sign) => sign + sign) },
  {
    name: 'odd text put in',
    change(text, random) {
      const at = random.below(text.length + 1)
      return text.slice(0, at) + random.one(ODD_TEXTS) + text.slice(at)
    },
  },
  { name: 'cut off', change: (text, random) => text.slice(0, random.below(text.length + 1)) },
  { name: 'the beginning missing', change: (text, random) => text.slice(random.below(text.length + 1)) },
  {
    name: 'a part missing',
    change(text, random) {
      const start = random.below(text.length + 1)
      return text.slice(0, start) + text.slice(start + 1 + random.below(200))
    },
  },
  {
    name: 'a part twice',
    change(text, random) {
      const start = random.below(text.length + 1)
      const end = start + random.below(500)
      return text.slice(0, end) + text.slice(start)
    },
  },
  {
    name: 'another file behind it',
    change: (text, random, other) => `${text}${random.one(['\n', '', ',', '\r\n'])}${other}`,
  },
  { name: 'each space a new line', change: (text) => text.replaceAll(' ', '\n') },
  { name: 'on one line', change: (text) => text.replaceAll('\n', ' ') },
  { name: 'empty', change: () => '' },
  { name: 'in a list', change: (text) => `[${text}]` },
  { name: 'twice in a list', change: (text) => `[${text},${text}]` },
  { name: 'in a dump', change: (text) => `{"samples": [${text}]}` },
  { name: 'in a history', change: (text) => `{"rollout_history": [${text}]}` },
  { name: 'under a name', change: (text, random) => `{${JSON.stringify(random.one(ODD_NAMES))}: ${text}}` },
  // Listed twice, because a file that is still JSON is read further.
  ...valueChanges(),
  ...valueChanges(),
]

/** Changes of the parsed value; text that is no longer JSON stays unchanged. */
function valueChanges(): readonly TextChange[] {
  const changes: Readonly<Record<string, (holder: Holder, random: RandomNumbers, other: () => unknown) => void>> = {
    'a value missing': ({ parent, key }) => {
      if (Array.isArray(parent)) parent.splice(Number(key), 1)
      else Reflect.deleteProperty(parent, key)
    },
    'a value of another kind': ({ parent, key }, random) =>
      set(parent, key, random.one([null, true, 0, -1, 1.5, '', 'x', [], {}, [1], { a: 1 }])),
    'another name': ({ parent, key }, random) => {
      if (Array.isArray(parent)) return
      const value = Reflect.get(parent, key)
      Reflect.deleteProperty(parent, key)
      set(parent, random.one(ODD_NAMES), value)
    },
    'a list longer': ({ value }) => {
      if (Array.isArray(value)) value.push(...value.slice(0, 3))
    },
    'a list shorter': ({ value }, random) => {
      if (Array.isArray(value)) value.splice(random.below(value.length + 1))
    },
    'a list the other way round': ({ value }) => {
      if (Array.isArray(value)) value.reverse()
    },
    'a list of lists': ({ value }) => {
      if (Array.isArray(value)) value.splice(0, value.length, [...value])
    },
    'a value of another file': ({ parent, key }, _, other) => set(parent, key, other()),
  }
  return Object.entries(changes).map(([name, apply]) => ({
    name,
    change(text, random, other) {
      const root = { value: valueIn(text) }
      if (root.value === undefined) return text
      apply(holderIn(root, random), random, () => holderIn({ value: valueIn(other) ?? null }, random).value)
      return JSON.stringify(root.value) ?? ''
    },
  }))
}

interface Holder {
  readonly parent: object
  readonly key: string
  readonly value: unknown
}

/** Returns an object or array in the value; the walk may stop at each level. */
function holderIn(root: { readonly value: unknown }, random: RandomNumbers): Holder {
  let holder: Holder = { parent: root, key: 'value', value: root.value }
  for (;;) {
    const { value } = holder
    const keys = Array.isArray(value) || isObject(value) ? Object.keys(value) : []
    if (keys.length === 0 || random.below(6) === 0) return holder
    const key = random.one(keys)
    holder = { parent: value as object, key, value: Reflect.get(value as object, key) }
  }
}

/** Sets an own property of any name. */
const set = (parent: object, key: string, value: unknown): unknown =>
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true })

/** Returns undefined if the text is not JSON. */
function valueIn(text: string): unknown {
  try {
    return parsePythonJson(text)
  } catch {
    return undefined
  }
}

/** Deeper than any file, and sometimes than any stack. */
function nested(random: RandomNumbers): string {
  const levels = random.one([50, 99, 101, 1000, 100_000])
  const [open, close] = random.one([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const)
  return open.repeat(levels) + (random.below(2) === 0 ? `0${close.repeat(levels)}` : '')
}

/** Replaces one match of the pattern. */
function replaceAt(text: string, random: RandomNumbers, pattern: RegExp, by: (found: string) => string): string {
  pattern.lastIndex = random.below(text.length + 1)
  const found = pattern.exec(text)
  return found ? text.slice(0, found.index) + by(found[0]) + text.slice(found.index + found[0].length) : text
}

const BYTE_CHANGES: readonly {
  readonly name: string
  readonly change: (bytes: Uint8Array, random: RandomNumbers) => Uint8Array
}[] = [
  {
    name: 'bits flipped',
    change(bytes, random) {
      const changed = bytes.slice()
      for (let left = 1 + random.below(8); left > 0 && changed.length > 0; left--) {
        const at = random.below(changed.length)
        changed[at] = (changed[at] as number) ^ (1 << random.below(8))
      }
      return changed
    },
  },
  {
    name: 'random bytes put in',
    change(bytes, random) {
      const at = random.below(bytes.length + 1)
      const noise = Uint8Array.from({ length: 1 + random.below(64) }, () => random.below(256))
      return joined([bytes.subarray(0, at), noise, bytes.subarray(at)])
    },
  },
  { name: 'cut at a byte', change: (bytes, random) => bytes.slice(0, random.below(bytes.length + 1)) },
  { name: 'in UTF-16', change: (bytes) => utf16(new TextDecoder().decode(bytes)) },
  { name: 'zeros behind it', change: (bytes, random) => joined([bytes, new Uint8Array(1 + random.below(4096))]) },
  {
    name: 'the signature of another kind',
    change(bytes, random) {
      const signature = random.one(['PAR1', 'PK\u0003\u0004', 'SQLite format 3\0', '\u001f\u008b\b', '\u0080\u0002'])
      return joined([Uint8Array.from(signature, (sign) => sign.charCodeAt(0)), bytes])
    },
  },
]

/** Sizes, counts and positions that no good container has. */
const ODD_NUMBERS = [0, 1, 7, 0x7f, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff] as const

const CONTAINER_CHANGES: typeof BYTE_CHANGES = [
  ...BYTE_CHANGES.filter(({ name }) => name !== 'in UTF-16' && name !== 'the signature of another kind'),
  {
    name: 'another number',
    change(bytes, random) {
      const changed = bytes.slice()
      const size = random.one([1, 2, 4] as const)
      const at = random.below(Math.max(1, changed.length - 4))
      const number = random.one(ODD_NUMBERS)
      for (let index = 0; index < size && at + index < changed.length; index++)
        changed[at + index] = Math.floor(number / 256 ** index) % 256
      return changed
    },
  },
  {
    name: 'a part missing',
    change(bytes, random) {
      const at = random.below(bytes.length + 1)
      return joined([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(100))])
    },
  },
  {
    name: 'a part twice',
    change(bytes, random) {
      const at = random.below(bytes.length + 1)
      return joined([bytes.subarray(0, at + random.below(200)), bytes.subarray(at)])
    },
  },
]

const utf16 = (text: string): Uint8Array =>
  Uint8Array.from(Array.from(text).flatMap((sign) => [sign.charCodeAt(0) & 255, sign.charCodeAt(0) >> 8]))

function seeded(seed: number): RandomNumbers {
  const random = randomNumbers(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  return { below, one: (list) => list[below(list.length)] as (typeof list)[number] }
}
