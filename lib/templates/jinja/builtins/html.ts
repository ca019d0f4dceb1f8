/** HTML functions of jinja2's filters: they remove tags, resolve references and make links. */

import { escapedHtml } from '../python/markup.ts'
import { codePointLength, codePointSlice, SPACE_RUN } from '../python/text/code-points.ts'
import { countOccurrences, split, windowOf } from '../python/text/text-search.ts'

/** Returns the text without tags and comments, with each run of space as one and references resolved (Markup.striptags). */
export function strippedOfTags(html: string): string {
  let text = ''
  let at = 0
  for (let start = html.indexOf('<'); start >= 0; start = html.indexOf('<', at)) {
    const isComment = html.startsWith('<!--', start)
    const end = isComment ? html.indexOf('-->', start + 4) : html.indexOf('>', start)
    if (end < 0) break
    text += html.slice(at, start)
    at = end + (isComment ? 3 : 1)
  }
  return unescapedHtml(split(text + html.slice(at), undefined, -1).join(' '))
}

/** Resolves numeric references and the common names of HTML; Python knows 2,231 names. */
export const unescapedHtml = (html: string): string =>
  html.replace(/&(?:#(\d+)|#[xX]([\da-fA-F]+)|(\w{1,32}));?/g, (reference, decimal, hex, name) => {
    if (name !== undefined) return namedCharacter(reference, name)
    return numberedCharacter(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
  })

/** Returns the character of a named reference. Some names need no semicolon, as in old HTML. */
function namedCharacter(reference: string, name: string): string {
  const text = NAMES.get(name)
  return text === undefined || !(reference.endsWith(';') || BARE.has(name)) ? reference : text
}

const NAMES = new Map([
  ['nbsp', '\u00a0'],
  ...'amp & lt < gt > quot " AMP & LT < GT > QUOT " apos \' copy \u00a9 reg \u00ae deg \u00b0 plusmn \u00b1 times \u00d7 divide \u00f7 laquo \u00ab raquo \u00bb middot \u00b7 para \u00b6 sect \u00a7 cent \u00a2 pound \u00a3 yen \u00a5 euro \u20ac hellip \u2026 mdash \u2014 ndash \u2013 lsquo \u2018 rsquo \u2019 ldquo \u201c rdquo \u201d bull \u2022 trade \u2122 larr \u2190 uarr \u2191 rarr \u2192 darr \u2193 auml \u00e4 ouml \u00f6 uuml \u00fc Auml \u00c4 Ouml \u00d6 Uuml \u00dc szlig \u00df eacute \u00e9 egrave \u00e8 agrave \u00e0 ccedil \u00e7 ntilde \u00f1'
    .matchAll(/(\w+) (\S)/gu)
    .map(([, name = '', text = '']) => [name, text] as const),
])

const BARE = new Set(
  'amp lt gt quot AMP LT GT QUOT nbsp copy reg deg plusmn times divide laquo raquo middot para sect cent pound yen auml ouml uuml Auml Ouml Uuml szlig eacute egrave agrave ccedil ntilde'.split(
    ' ',
  ),
)

/**
 * Returns the character of a numeric reference. Codes of windows-1252 mean its characters; other codes that HTML forbids are dropped or
 * become U+FFFD.
 */
function numberedCharacter(code: number): string {
  const character = WINDOWS_1252[code - 0x80]
  if (code >= 0x80 && character !== undefined) return character
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return '\ufffd'
  const forbidden =
    code < 9 || code === 11 || (code >= 14 && code < 32) || (code >= 127 && code < 160) || (code & 0xfffe) === 0xfffe
  return forbidden || (code >= 0xfdd0 && code <= 0xfdef) ? '' : String.fromCodePoint(code)
}

const WINDOWS_1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178'

/** Options of jinja2's urlize. */
export interface LinkStyle {
  /** Longest text of a link that is shown whole, in code points. */
  readonly limit: number | undefined
  readonly rel: string | undefined
  readonly target: string | undefined
  readonly schemes: readonly string[]
}

/** Returns text that is already escaped with its addresses as links (jinja2's urlize). */
export function withLinks(escaped: string, style: LinkStyle): string {
  const attributes = `${attribute('rel', style.rel)}${attribute('target', style.target)}`
  let result = ''
  let at = 0
  for (const space of escaped.matchAll(SPACE_RUN)) {
    result += linkWord(escaped.slice(at, space.index), attributes, style) + space[0]
    at = space.index + space[0].length
  }
  return result + linkWord(escaped.slice(at), attributes, style)
}

const attribute = (name: string, value: string | undefined): string =>
  value === undefined || value === '' ? '' : ` ${name}="${escapedHtml(value)}"`

const WORD = '\\p{L}\\p{N}_'
const HTTP = new RegExp(
  `^((https?://|www\\.)(([${WORD}%-]+\\.)+)?([a-z]{2,63}|xn--[${WORD}%]{2,59})|([${WORD}%-]{2,63}\\.)+(com|net|int|edu|gov|org|info|mil)|(https?://)((([\\p{Nd}]{1,3})(\\.[\\p{Nd}]{1,3}){3})|(\\[([\\p{Nd}a-f]{0,4}:){2}([\\p{Nd}a-f]{0,4}:?){1,6}\\])))(?::[\\p{Nd}]{1,5})?(?:[/?#]\\S*)?$`,
  'iu',
)
const EMAIL = new RegExp(`^\\S+@[${WORD}][${WORD}.-]*\\.[${WORD}]+$`, 'u')

function linkWord(word: string, attributes: string, style: LinkStyle): string {
  const head = /^(?:[(<]|&lt;)+/.exec(word)?.[0] ?? ''
  const inner = word.slice(head.length)
  const tailStart = trailingStart(inner)
  const { middle, tail } = balanceBrackets(inner.slice(0, tailStart), inner.slice(tailStart))
  return head + link(middle, attributes, style) + tail
}

/** Returns the index at which the punctuation after an address begins. A pattern for it would be quadratic in punctuation. */
function trailingStart(word: string): number {
  let end = word.length
  for (;;) {
    if (')>.,\n'.includes(word.charAt(end - 1) || ' ')) end -= 1
    else if (word.endsWith('&gt;', end)) end -= 4
    else return end
  }
}

/** Moves closing brackets that belong to the address from the rest back to it. */
function balanceBrackets(address: string, rest: string): { readonly middle: string; readonly tail: string } {
  let [middle, tail] = [address, rest]
  for (const [open, close] of [
    ['(', ')'],
    ['<', '>'],
    ['&lt;', '&gt;'],
  ] as const) {
    const opened = occurrences(middle, open)
    if (opened <= occurrences(middle, close)) continue
    const moved = Math.min(opened, occurrences(tail, close))
    for (let turn = 0; turn < moved; turn += 1) {
      const end = tail.indexOf(close) + close.length
      middle += tail.slice(0, end)
      tail = tail.slice(end)
    }
  }
  return { middle, tail }
}

const occurrences = (text: string, part: string): number =>
  countOccurrences(text, part, windowOf(text, undefined, undefined))

function link(address: string, attributes: string, { limit, schemes }: LinkStyle): string {
  if (HTTP.test(address)) {
    const cutAddress =
      limit !== undefined && codePointLength(address) > limit ? `${codePointSlice(address, 0, limit)}...` : address
    const isFull = address.startsWith('https://') || address.startsWith('http://')
    return `<a href="${isFull ? '' : 'https://'}${address}"${attributes}>${cutAddress}</a>`
  }
  if (address.startsWith('mailto:') && EMAIL.test(address.slice(7))) {
    return `<a href="${address}">${address.slice(7)}</a>`
  }
  const isMail = address.includes('@') && !/^(?:www\.|@)/.test(address) && !address.includes(':')
  if (isMail && EMAIL.test(address)) return `<a href="mailto:${address}">${address}</a>`
  // Python's loop tries every scheme, but after the first match the text begins with `<a`, so that no other scheme matches.
  const scheme = schemes.find((candidate) => address !== candidate && address.startsWith(candidate))
  return scheme === undefined ? address : `<a href="${address}"${attributes}>${address}</a>`
}
