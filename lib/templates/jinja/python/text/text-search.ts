/** Finds, splits, replaces and pads text as the methods of Python's str do. Indices are code points. */

import { PyError, type Runtime } from '../values.ts'
import {
  codePointIndex,
  codePointLength,
  hasSurrogates,
  isSpace,
  lastCharacter,
  SPACE_RUN,
  strip,
  trimEnd,
  trimStart,
  unitOffset,
} from './code-points.ts'

/** A part of a text in UTF-16 units. Functions take undefined if Python's start lies after the end. */
export interface Window {
  readonly start: number
  readonly end: number
}

/** Returns text[start:end] as find, count and startswith read it: negative indices count from the end. */
export function windowOf(text: string, start: number | undefined, end: number | undefined): Window | undefined {
  if (start === undefined && end === undefined) return { start: 0, end: text.length }
  const size = codePointLength(text)
  const clip = (index: number): number => Math.max(0, index < 0 ? index + size : index)
  const to = end === undefined ? size : Math.min(size, clip(end))
  const from = start === undefined ? 0 : clip(start)
  if (from > to) return undefined
  if (!hasSurrogates(text)) return { start: from, end: to }
  return { start: unitOffset(text, from), end: unitOffset(text, to) }
}

/** Implements str.find: returns -1 if the part is missing. */
export function find(text: string, part: string, window: Window | undefined): number {
  if (window === undefined) return -1
  const unit = text.indexOf(part, window.start)
  return unit < 0 || unit + part.length > window.end ? -1 : codePointIndex(text, unit)
}

/** Implements str.rfind: returns -1 if the part is missing. */
export function findLast(text: string, part: string, window: Window | undefined): number {
  if (window === undefined || window.end - part.length < window.start) return -1
  const unit = text.lastIndexOf(part, window.end - part.length)
  return unit < window.start ? -1 : codePointIndex(text, unit)
}

/** Implements str.count: occurrences that do not overlap. */
export function countOccurrences(text: string, part: string, window: Window | undefined): number {
  if (window === undefined) return 0
  const within = text.slice(window.start, window.end)
  if (part === '') return codePointLength(within) + 1
  let found = 0
  for (let at = within.indexOf(part); at >= 0; at = within.indexOf(part, at + part.length)) found += 1
  return found
}

/** Implements str.replace; a negative `most` is no limit. The result is charged before it is made. */
export function replaceText(text: string, old: string, by: string, most: number, runtime: Runtime): string {
  runtime.step(1 + text.length / 1000)
  if (most === 0) return text
  if (old === '') return interleaveText(text, by, most, runtime)
  const found = countOccurrences(text, old, windowOf(text, undefined, undefined))
  if (found === 0) return text
  const times = most < 0 ? found : Math.min(found, most)
  runtime.step(times / 16)
  runtime.allocate(text.length + times * (by.length - old.length))
  const parts: string[] = []
  let at = 0
  for (let turn = 0; turn < times; turn += 1) {
    if (turn % MATCHES_BETWEEN_STEPS === 0) runtime.step()
    const next = text.indexOf(old, at)
    parts.push(text.slice(at, next), by)
    at = next + old.length
  }
  return parts.join('') + text.slice(at)
}

const MATCHES_BETWEEN_STEPS = 1024

/** Replaces '', which puts `by` between all characters and around them. */
function interleaveText(text: string, by: string, most: number, runtime: Runtime): string {
  const characters = [...text]
  const times = most < 0 ? characters.length + 1 : Math.min(characters.length + 1, most)
  runtime.step(characters.length)
  runtime.allocate(text.length + times * by.length)
  let result = ''
  for (const [index, character] of characters.entries()) result += index < times ? by + character : character
  return times > characters.length ? result + by : result
}

/** Implements str.split: without a separator it splits at runs of space; a negative `most` is no limit. */
export function split(text: string, separator: string | undefined, most: number): string[] {
  if (separator === undefined) return splitAtSpace(text, most)
  if (separator === '') throw new PyError('ValueError', 'empty separator')
  if (most < 0) return text.split(separator)
  const result: string[] = []
  let at = 0
  while (result.length < most) {
    const next = text.indexOf(separator, at)
    if (next < 0) break
    result.push(text.slice(at, next))
    at = next + separator.length
  }
  return [...result, text.slice(at)]
}

function splitAtSpace(text: string, most: number): string[] {
  if (most < 0) {
    const inner = strip(text)
    return inner === '' ? [] : inner.split(SPACE_RUN)
  }
  const result: string[] = []
  let rest = trimStart(text)
  while (rest !== '' && result.length < most) {
    let end = 0
    while (end < rest.length && !isSpace(rest.charAt(end))) end += 1
    result.push(rest.slice(0, end))
    rest = trimStart(rest.slice(end))
  }
  return rest === '' ? result : [...result, rest]
}

/** Implements str.rsplit; a negative `most` is no limit. */
export function splitFromEnd(text: string, separator: string | undefined, most: number): string[] {
  if (most < 0) return split(text, separator, most)
  if (separator === undefined) return splitAtSpaceFromEnd(text, most)
  if (separator === '') throw new PyError('ValueError', 'empty separator')
  const result: string[] = []
  let end = text.length
  while (result.length < most) {
    const next = end < separator.length ? -1 : text.lastIndexOf(separator, end - separator.length)
    if (next < 0) break
    result.push(text.slice(next + separator.length, end))
    end = next
  }
  result.push(text.slice(0, end))
  return result.reverse()
}

function splitAtSpaceFromEnd(text: string, most: number): string[] {
  const result: string[] = []
  let rest = trimEnd(text)
  while (rest !== '' && result.length < most) {
    let start = rest.length
    while (start > 0 && !isSpace(rest.charAt(start - 1))) start -= 1
    result.push(rest.slice(start))
    rest = trimEnd(rest.slice(0, start))
  }
  if (rest !== '') result.push(rest)
  return result.reverse()
}

/** Implements strip, lstrip and rstrip: removes each of `characters` (undefined: space) from the sides. */
export function stripText(text: string, characters: string | undefined, side: 'left' | 'right' | 'both'): string {
  if (characters === undefined) {
    return side === 'left' ? trimStart(text) : side === 'right' ? trimEnd(text) : strip(text)
  }
  const unwanted = new Set(characters)
  let start = 0
  let end = text.length
  if (side !== 'right') {
    for (const character of text) {
      if (!unwanted.has(character)) break
      start += character.length
    }
  }
  while (side !== 'left' && end > start) {
    const last = lastCharacter(text, end)
    if (!unwanted.has(last)) break
    end -= last.length
  }
  return text.slice(start, end)
}

/**
 * Implements ljust, rjust and center with one character `fill`. If the padding of a centered text is odd, Python puts the extra character
 * on the left for an odd width.
 */
export function justifyText(
  text: string,
  width: number,
  fill: string,
  align: 'left' | 'right' | 'center',
  runtime: Runtime,
): string {
  const padding = width - codePointLength(text)
  if (padding <= 0) return text
  runtime.allocate(text.length + padding * fill.length)
  if (align === 'left') return text + fill.repeat(padding)
  if (align === 'right') return fill.repeat(padding) + text
  const left = Math.floor(padding / 2) + (padding & width & 1)
  return fill.repeat(left) + text + fill.repeat(padding - left)
}

/** Implements str.zfill. */
export function zeroFilled(text: string, width: number, runtime: Runtime): string {
  const padding = width - codePointLength(text)
  if (padding <= 0) return text
  runtime.allocate(text.length + padding)
  const sign = text.startsWith('+') || text.startsWith('-') ? text.charAt(0) : ''
  return sign + '0'.repeat(padding) + text.slice(sign.length)
}

/** Implements str.expandtabs. */
export function tabsExpanded(text: string, size: number, runtime: Runtime): string {
  let result = ''
  let column = 0
  for (const character of text) {
    if (character === '\t') {
      const spaces = size > 0 ? size - (column % size) : 0
      runtime.allocate(spaces)
      result += ' '.repeat(spaces)
      column += spaces
    } else {
      result += character
      column = character === '\n' || character === '\r' ? 0 : column + 1
    }
  }
  return result
}
