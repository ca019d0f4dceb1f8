/** Implements str.encode and bytes.decode for the encodings that templates use: UTF-8, ASCII, Latin-1. */

import { Bytes } from '../objects.ts'
import { PyError, type Runtime } from '../values.ts'
import { ascii, quoteText } from './code-points.ts'

/** Encodings by the names that Python normalizes; `limit` is the first code point that does not fit. */
const ENCODINGS: ReadonlyMap<string, { readonly codec: string; readonly limit: number }> = new Map(
  [
    { names: ['utf8', 'u8', 'utf'], codec: 'utf-8', limit: 0x110000 },
    { names: ['ascii', 'usascii', '646'], codec: 'ascii', limit: 0x80 },
    { names: ['latin1', 'latin', 'iso88591', 'l1', '88591'], codec: 'latin-1', limit: 0x100 },
  ].flatMap(({ names, codec, limit }) => names.map((name) => [name, { codec, limit }] as const)),
)

function encodingOf(name: string): { readonly codec: string; readonly limit: number } {
  const found = ENCODINGS.get(name.toLowerCase().replace(/[-_ ]/g, ''))
  if (!found) throw new PyError('LookupError', `unknown encoding: ${name}`)
  return found
}

/** Returns str.encode(encoding, errors). Throws PyError: LookupError, UnicodeEncodeError. */
export function encodeText(text: string, encoding: string, errors: string, runtime: Runtime): Bytes {
  const { codec, limit } = encodingOf(encoding)
  runtime.allocate(text.length * 4)
  runtime.step(1 + text.length / 64)
  if (codec === 'utf-8' && text.isWellFormed()) return new Bytes(UTF8.encode(text))
  const bytes: number[] = []
  let position = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    const surrogate = code >= 0xd800 && code <= 0xdfff
    if (code >= limit || (surrogate && codec === 'utf-8')) {
      for (const byte of UTF8.encode(unencodable(character, position, codec, errors))) bytes.push(byte)
    } else if (codec === 'utf-8') {
      for (const byte of UTF8.encode(character)) bytes.push(byte)
    } else {
      bytes.push(code)
    }
    position += 1
  }
  return new Bytes(Uint8Array.from(bytes))
}

const UTF8 = new TextEncoder()

/** Returns the ASCII text that replaces a character that does not fit. */
function unencodable(character: string, position: number, codec: string, errors: string): string {
  if (errors === 'ignore') return ''
  if (errors === 'replace') return '?'
  if (errors === 'xmlcharrefreplace') return `&#${character.codePointAt(0)};`
  if (errors === 'backslashreplace') return ascii(character)
  const why = codec === 'utf-8' ? 'surrogates not allowed' : `ordinal not in range(${codec === 'ascii' ? 128 : 256})`
  const escaped = ascii(quoteText(character))
  throw new PyError(
    'UnicodeEncodeError',
    `'${codec}' codec can't encode character ${escaped} in position ${position}: ${why}`,
  )
}

/** Returns bytes.decode(encoding). Throws PyError: LookupError, UnicodeDecodeError. */
export function decodeBytes(bytes: Bytes, encoding: string, runtime: Runtime): string {
  const { codec } = encodingOf(encoding)
  runtime.allocate(bytes.bytes.length)
  if (codec === 'latin-1') return bytes.latin1()
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.bytes)
  } catch {
    throw new PyError('UnicodeDecodeError', `'${codec}' codec can't decode the bytes`)
  }
}
