/** Finds why two spellings of one call differ. */

/**
 * tokens: the same text in other tokens. ignored: members that the parser ignored are not written again. content: no other cause is found.
 */
export type RerenderCause =
  | 'tokens'
  | 'spacing'
  | 'key-order'
  | 'escapes'
  | 'numbers'
  | 'words'
  | 'quotes'
  | 'ignored'
  | 'content'

/**
 * Returns the causes that together make the two texts equal. Each cause is a way to read both texts; those that are needed to make them
 * equal are causes.
 */
export function causesOf(written: string, rendered: string, hasIgnored: boolean): readonly RerenderCause[] {
  if (written === rendered) return ['tokens']
  const pair = [lexemes(written), lexemes(rendered)] as const
  const areAlike = (readings: readonly Reading[]): boolean => {
    const [a, b] = pair.map((list) => readings.reduce((read, { apply }) => apply(read), list).join('\0'))
    return a === b
  }
  const needed = (readings: readonly Reading[]): RerenderCause[] =>
    readings.filter((one) => !areAlike(readings.filter((other) => other !== one))).map(({ cause }) => cause)
  for (const readings of [READINGS, [...READINGS, KEY_ORDER]])
    if (areAlike(readings)) {
      const causes = needed(readings)
      // If either of two readings suffices alone, neither is needed.
      return causes.length > 0 ? causes : [(readings.find((one) => areAlike([one])) ?? KEY_ORDER).cause]
    }
  return [hasIgnored ? 'ignored' : 'content']
}

interface Reading {
  readonly cause: RerenderCause
  readonly apply: (lexemes: readonly string[]) => readonly string[]
}

const LEXEME = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\s+|\w+|./gsu

const lexemes = (text: string): readonly string[] => Array.from(text.matchAll(LEXEME), ([lexeme]) => lexeme)

const each =
  (change: (lexeme: string) => string): Reading['apply'] =>
  (list) =>
    list.map(change)

const PYTHON: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
])

const READINGS: readonly Reading[] = [
  {
    cause: 'quotes',
    apply: each((lexeme) =>
      /^'.*'$/s.test(lexeme)
        ? `"${lexeme
            .slice(1, -1)
            .replaceAll("\\'", "'")
            .replace(/(?<!\\)"/g, '\\"')}"`
        : lexeme,
    ),
  },
  { cause: 'escapes', apply: each((lexeme) => (lexeme.startsWith('"') ? plainString(lexeme) : lexeme)) },
  { cause: 'numbers', apply: each((lexeme) => (/^-?\d/.test(lexeme) ? plainNumber(lexeme) : lexeme)) },
  { cause: 'words', apply: each((lexeme) => PYTHON.get(lexeme) ?? lexeme) },
  { cause: 'spacing', apply: (list) => list.filter((lexeme) => lexeme.trim() !== '') },
]

/** The reading that ignores order. Values cannot change places unnoticed, because both texts spell the same call. */
const KEY_ORDER: Reading = { cause: 'key-order', apply: (list) => list.toSorted() }

function plainString(lexeme: string): string {
  try {
    return JSON.stringify(JSON.parse(lexeme))
  } catch {
    return lexeme
  }
}

const plainNumber = (lexeme: string): string =>
  /^-?\d+$/.test(lexeme) ? BigInt(lexeme).toString() : String(Number(lexeme))
